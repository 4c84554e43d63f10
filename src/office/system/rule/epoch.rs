//! Detects a database that has lost people, credits, fulfilments or updates. No record in Workers KV has these rows, so
//! without this check a new database would answer as if there had never been any.
//!
//! Before the first such row is written, the database gets an epoch, which is a random text. The record `epoch` in
//! Workers KV has the same text. A database with another epoch, or with none, is not the one that has the rows. It
//! refuses each answer that they change, until a backup is restored or a person accepts the loss.
//!
//! The record also names a recent entry of the audit log. A database without this entry was set back to an earlier time, so
//! it has lost rows, too. The cron [looks](watch) for this. If the database was set back by less, a copy of one of its rows
//! may be newer than the row, which is noticed when it is [compared](republish).
//!
//! Workers KV may show a record about a minute late. Until then, a database that was just restored is refused. If a
//! database is lost within that minute after its first row, its successor is not refused.

use super::adopt::adopt as adopt_records;
use super::publish;
use super::publish::Republished;
use crate::office::audit::rows as audit;
use crate::office::audit::rule::Author;
use crate::office::shared::rows::port::{Ledger, if_bound};
use crate::office::shared::rows::published;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::once::{Done, once};
use crate::office::shared::rule::records::{load, put_record};
use crate::office::system::rows::epoch;
use crate::office::system::rows::health;
use crate::office::system::rows::health::Health;
use crate::office::system::rows::upkeep::holder;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{EpochKey, OperatorStore};
use serde::{Deserialize, Serialize};

const ACCEPT: &str = "ledger accept-loss";
const LOST: &str = "the database has lost people, credits, fulfilments or updates, so nothing that depends on them is shown or \
     changed. Run `transactions restore` with a backup; with `--only ledger`, it leaves the records as they are. If \
     there is no backup, run `ledger accept-loss`";

/// The record `epoch`.
#[derive(Serialize, Deserialize)]
struct Named {
    epoch: String,
    /// The name of the newest entry in the audit log when the cron last looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    newest: Option<String>,
}

/// Returns the epoch that Workers KV names; `None` if it names none. KV cost: 1 read.
async fn named(store: &impl OperatorStore) -> Result<Option<String>> {
    Ok(load::<_, Named>(store, EpochKey).await?.map(|named| named.epoch))
}

async fn name(store: &impl OperatorStore, epoch: &str) -> Result<()> {
    put_record(store, &EpochKey, &Named { epoch: epoch.to_owned(), newest: None }).await
}

/// Returns whether the database has lost rows. If it was set back to an earlier time, marks it as one that has. Otherwise
/// names the newest entry of its audit log. KV cost: 1 read, and 1 write after changes. Ledger cost: 3 queries.
///
/// # Errors
/// If the ledger or the store fails.
pub async fn watch(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    entropy: &impl Entropy,
) -> Result<bool> {
    let Some(named) = load::<_, Named>(store, EpochKey).await? else { return Ok(false) };
    if epoch::get(ledger).await?.as_ref() != Some(&named.epoch) {
        return Ok(true);
    }
    if let Some(entry) = &named.newest
        && audit::get(ledger, entry).await?.is_none()
    {
        name(store, &holder(entropy)).await?;
        return Ok(true);
    }
    let newest = audit::page(ledger, "", 1).await?.pop().map(|entry| entry.name);
    if newest != named.newest {
        put_record(store, &EpochKey, &Named { newest, ..named }).await?;
    }
    Ok(false)
}

/// Compares copies as [`publish::republish`] does. If Workers KV has a newer change than the database knows, marks the
/// database as one that has lost rows: it was set back. KV cost: as there, and at most 1 write.
///
/// # Errors
/// If the ledger or the store fails.
pub async fn republish(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    (clock, entropy): (&impl Clock, &impl Entropy),
    most: usize,
) -> Result<Republished> {
    let done = publish::republish(store, ledger, clock, most).await?;
    if done.unknown > 0 {
        name(store, &holder(entropy)).await?;
    }
    Ok(done)
}

/// Returns the epoch of the database; `None` if it has none, or no database is bound.
async fn own(ledger: &dyn Ledger) -> Result<Option<String>> {
    Ok(if_bound(epoch::get(ledger).await)?.flatten())
}

/// Returns whether a database with this epoch has lost rows. KV cost: 1 read.
async fn is_lost(store: &impl OperatorStore, own: Option<&str>) -> Result<bool> {
    Ok(names_another(named(store).await?.as_deref(), own))
}

/// Refuses a database that has lost rows. KV cost: 1 read. Ledger cost: 1 query.
pub(crate) async fn check(store: &impl OperatorStore, ledger: &dyn Ledger) -> Result<()> {
    let named = named(store).await?; // first, as in `begin`
    check_named(named.as_deref(), epoch::get(ledger).await?.as_deref())
}

/// As [`check`], for a caller that has read the database's epoch.
pub(crate) async fn check_own(store: &impl OperatorStore, own: Option<&str>) -> Result<()> {
    check_named(named(store).await?.as_deref(), own)
}

fn check_named(named: Option<&str>, own: Option<&str>) -> Result<()> {
    match names_another(named, own) {
        true => Err(OperatorError::invalid(LOST)),
        false => Ok(()),
    }
}

/// Returns whether Workers KV names another epoch than that of the database.
fn names_another(named: Option<&str>, own: Option<&str>) -> bool {
    named.is_some_and(|named| Some(named) != own)
}

/// Refuses a database that has lost rows, before a row is written. If the database has no epoch yet, gives it one.
/// KV cost: 1 read, and 1 write before the first row. Ledger cost: 1 query, and 1 call before the first row.
pub(crate) async fn begin(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    entropy: &impl Entropy,
) -> Result<()> {
    // In this order: another request may give a new database its epoch, and then name it.
    let (named, own) = (named(store).await?, epoch::get(ledger).await?);
    match named {
        Some(_) if own == named => Ok(()),
        Some(_) => Err(OperatorError::invalid(LOST)),
        None => adopt(store, ledger, entropy).await,
    }
}

/// Names the epoch of this database in the record in Workers KV. If the database has no epoch,
/// gives it one. KV cost: 1 write. Ledger cost: 1 call.
pub async fn adopt(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    entropy: &impl Entropy,
) -> Result<()> {
    name(store, &epoch::begin(ledger, &holder(entropy)).await?).await
}

/// Names another epoch in the record in Workers KV, unless the database has this epoch. Until
/// [`adopt`] is called, only a database with that epoch is accepted. KV cost: at most 1 write.
/// Ledger cost: 1 query.
pub async fn expect(store: &impl OperatorStore, ledger: &dyn Ledger, expected: &str) -> Result<()> {
    let own = own(ledger).await?;
    if own.as_deref() == Some(expected) {
        return Ok(());
    }
    name(store, expected).await
}

/// Marks the database as one that has lost rows, unless it has an epoch. A database without the rows of a backup counts as
/// one that lost them. Returns whether the database has lost rows; `false` if none is bound. KV cost: 1 read, and at most
/// 1 write. Ledger cost: 1 query.
pub(super) async fn expect_rows(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    entropy: &impl Entropy,
) -> Result<bool> {
    let Some(own) = if_bound(epoch::get(ledger).await)? else { return Ok(false) };
    if own.is_none() && named(store).await?.is_none() {
        name(store, &holder(entropy)).await?;
        return Ok(true); // Workers KV may show the record a minute later
    }
    is_lost(store, own.as_deref()).await
}

/// Accepts that the database has lost rows: from now on, its rows count as complete. Price lists, profiles, and newer
/// payments and memberships of teams are taken from Workers KV, also that they were removed.
///
/// # Errors
/// If the database has lost no rows, or the ledger or the store fails.
pub async fn accept(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
) -> Result<Done<()>> {
    let now_ms = author.clock.now_ms();
    let work = async |author: &Author<'_, _, _>| {
        if !is_lost(store, epoch::get(ledger).await?.as_deref()).await? {
            return Err(OperatorError::invalid(
                "nothing was changed: the database has all people, credits, fulfilments and updates"
                    .to_owned(),
            ));
        }
        author.record(store, ACCEPT, [""; 0]).await?;
        published::forget(ledger).await?;
        adopt_records(store, ledger, now_ms).await?;
        adopt(store, ledger, author.entropy).await
    };
    once(ledger, author, (ACCEPT, &()), work).await
}

/// Returns the health of the ledger. Reports a problem if the database has lost rows, or else if the cron's backups fail,
/// which they do after a loss. KV cost: 1 read. Ledger cost: 1 call.
pub async fn health(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    now_ms: u64,
) -> Result<Health> {
    let health = health::health(ledger, now_ms).await?;
    let lost = is_lost(store, health.epoch.as_deref()).await?.then(|| LOST.to_owned());
    let of_backups = || health.backups.as_ref()?.problem.clone();
    let problems: Vec<_> =
        lost.or_else(of_backups).into_iter().chain(health.problem.clone()).collect();
    let problem = (!problems.is_empty()).then(|| problems.join("; "));
    Ok(Health { problem, ..health })
}
