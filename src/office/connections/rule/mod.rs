//! Connections to shop systems. A connection says what the orders of a shop pledge. It has an API key of its own, and makes
//! ordinary create requests with it.
//!
//! What a shop system sends is kept in Workers KV before it is answered, so nothing depends on a queue. A message of the
//! queue lets it be read at once. If the message is lost, the cron [finds](Intake::catch_up) it.
//!
//! Webhooks get lost. With a token for its API, a shop system is asked hourly for what changed, see [`fetch`].
//!
//! The pledge of an order is computed once and written to the ledger before it is sent to the service, because two events of
//! one order may arrive together with different content.

mod api;
mod catch_up;
mod change;
mod create;
mod fetch;
mod intake;
mod order;
mod person;
mod record;
mod refund;
mod secrets;

pub use api::{ApiAnswer, PledgeApi};
pub use catch_up::CaughtUp;
pub use change::{ChangedConnection, ConnectionChange, end, set, try_again};
pub use create::{Created, NewConnection, add, address};
pub use fetch::{
    FetchedOrders, MAX_ANSWER_BYTES, MOST_DAYS, ShopAnswer, ShopApi, ShopProblem, ShopRequest,
    fetch_since, public_host,
};
pub use intake::Intake;
pub use order::{Preview, preview};
pub use person::{Received, ReceivedStep, connected_scopes};
pub use record::{Connection, ConnectionRecord, get, list};

use super::rows::fetches;
use super::rows::fetches::FetchRow;
use super::rows::received as rows;
use super::rows::received::ReceivedRow;
use super::rows::troubles as trouble_rows;
use super::rows::troubles::Trouble;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::Result;
use crate::pledges::service::Clock;

/// Returns the last deliveries of a connection before a time (milliseconds since 1970), newest first: at most 100. Ledger
/// cost: 1 query.
///
/// # Errors
/// If the ledger fails.
pub async fn deliveries(
    ledger: &dyn Ledger,
    connection: &str,
    before: u64,
) -> Result<Vec<ReceivedRow>> {
    Ok(rows::of_connection(ledger, connection, before).await?)
}

/// Returns how far the orders of a connection were fetched; `None` if it has no token. Ledger cost: 1 query.
///
/// # Errors
/// If the ledger fails.
pub async fn fetched(ledger: &dyn Ledger, connection: &Connection) -> Result<Option<FetchRow>> {
    Ok(fetches::get(ledger, &connection.id).await?)
}

/// Returns the connections of a unit, or of all units, that somebody has to look at: at most 100. Ledger cost: 1 query.
///
/// # Errors
/// If the ledger fails.
pub async fn troubles(
    ledger: &dyn Ledger,
    unit: Option<&str>,
    clock: &impl Clock,
) -> Result<Vec<Trouble>> {
    Ok(trouble_rows::troubles(ledger, unit, clock.now_ms()).await?)
}
