//! What the dashboard shows on a developer's machine: three months of a few shops. It must not be written to
//! a deployed namespace.
//!
//! The records are those of the service, of its notifier and of the operator's functions, on a clock that
//! is set back.

use super::audit::Author;
use super::payments::{self, Payment, ShopMonth, Stated};
use super::transactions::{self, By, Report, UsageQuery, Wanted};
use super::units::{self, ProfileMembers};
use super::{OperatorError, Result, prices, seed, teams};
use crate::api::header;
use crate::charge::Catalogue;
use crate::handle::{
    Caches, Clock, Entropy, Journal, Message, Outbox, Putting, Service, Settings, Variables,
};
use crate::http::{Body, BodyError, Request, Reservation};
use crate::notify::{Letter, MailError, MailSettings, Mailer, Notifier};
use crate::scope::Mode;
use crate::settlement::{Month, PaidAt};
use crate::store::{OperatorStore, StoredValue as _};
use crate::time::date_time;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::future::ready;

const BY: &str = "operator@small-hours.example";
const DAY_MS: u64 = 24 * 60 * 60_000;
/// How many orders there are.
const ORDERS: u64 = 60;
/// Milliseconds between two of them: 60 are placed in 92 days.
const APART_MS: u64 = 92 * DAY_MS / ORDERS;
/// How many days ago the prices became those of today.
const RAISED_DAYS: u64 = 40;
/// The order whose personal data is erased, counted from 0.
const ERASED: u64 = 18;
/// The order whose e-mail is refused.
const REFUSED: u64 = 58;

#[derive(Deserialize)]
struct Demo {
    teams: BTreeMap<String, Vec<String>>,
    profiles: BTreeMap<String, ProfileMembers>,
    /// The first prices.
    before: Catalogue,
    shops: Vec<Shop>,
    people: Vec<Value>,
    /// The pledges of an order.
    baskets: Vec<Value>,
}

/// Who places orders by which key.
#[derive(Clone, Deserialize)]
struct Shop {
    key: String,
    unit: String,
    /// The beginning of its references.
    order: String,
}

/// Writes the demo, unless its first order is there. Returns whether it wrote. `origin` is the service's.
///
/// # Errors
/// If the development data is missing or was changed, or the store fails.
pub async fn seed(
    store: &impl OperatorStore,
    now: &impl Clock,
    entropy: &impl Entropy,
    origin: &str,
) -> Result<bool> {
    let demo: Demo = serde_json::from_str(include_str!("demo.json"))?;
    if is_there(store, &demo).await? {
        return Ok(false);
    }
    let clock = PastClock { now_ms: now.now_ms(), ago_ms: Cell::new(95 * DAY_MS) };
    let past = Past { store, clock: &clock, entropy, origin };
    past.set_up(&demo).await?;
    past.place_orders(&demo).await?;
    past.mark_paid(60).await?;
    Ok(true)
}
