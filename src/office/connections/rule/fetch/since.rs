//! Lets the orders of a connection be fetched again from a time on.

use crate::office::audit::rule::Author;
use crate::office::connections::rows::fetches as rows;
use crate::office::connections::rule::change::ChangedConnection;
use crate::office::connections::rule::record;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::commit::{Commit, commit};
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::once::Done;
use crate::office::shared::rule::refused::RefusalCode;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::time::{DAY_MS, date_time};

const FETCH: &str = "connections fetch";
/// How far back orders can be fetched, in days. Shopify shows the orders of 60 days, and Stripe the events of 30.
pub const MOST_DAYS: u64 = 60;

/// Lets the orders that were changed since a time (milliseconds since 1970) be fetched again. The cron fetches them. Ledger
/// cost: 2 queries.
///
/// # Errors
/// - If there is no such connection, it has no token, or the time is in the future or too long ago.
/// - If the ledger fails.
pub async fn fetch_since(
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    which: (&str, u64),
) -> Result<Done<ChangedConnection>> {
    let work = async |at: &Commit<'_, _, _>| fetch_now(at, which).await;
    commit(ledger, author, (FETCH, &which), work).await
}

async fn fetch_now(
    commit: &Commit<'_, impl Clock, impl Entropy>,
    (connection, since): (&str, u64),
) -> Result<ChangedConnection> {
    let Commit { author, ledger, .. } = commit;
    let connection = record::get(*ledger, connection).await?;
    if connection.record.token.is_none() {
        let problem =
            "nothing was changed: the connection has no token, so no orders can be fetched";
        return Err(OperatorError::at("connection", RefusalCode::Invalid, problem));
    }
    let now_ms = author.clock.now_ms();
    if !(now_ms.saturating_sub(MOST_DAYS * DAY_MS)..=now_ms).contains(&since) {
        let problem =
            format!("nothing was changed: choose a time within the last {MOST_DAYS} days");
        return Err(OperatorError::at("since", RefusalCode::Invalid, problem));
    }
    let outcome = connection.outcome(connection.record.endpoint.secrets.len());
    let words = format!("since {}", date_time(since));
    let entry = author.entry(FETCH, |_| connection.subject(words)).await?;
    if commit.make(&entry, &outcome, [rows::restarting(&connection.id, since)?]).await? {
        return Ok(outcome);
    }
    Err(OperatorError::invalid("nothing was changed: try again"))
}
