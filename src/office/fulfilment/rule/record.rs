//! Records what was done for the pledges of a month, and removes what was recorded by mistake.

use super::checked::{checked, refused};
use crate::office::audit::rule::Author;
use crate::office::fulfilment::rows::fulfilments;
use crate::office::fulfilment::rows::fulfilments::{
    Fulfilment, FulfilmentRow, MAX_FULFILMENTS, NewFulfilment, Removal,
};
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::commit::{Commit, commit};
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::once::Done;
use crate::office::shared::rule::refused::RefusalCode;
use crate::office::system::rule::epoch;
use crate::pledges::scope::Mode;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::settlement::Month;
use crate::pledges::store::OperatorStore;

const ADD: &str = "fulfilments add";
const REMOVE: &str = "fulfilments remove";
/// Number of hexadecimal digits in a fulfilment's ID.
const ID_DIGITS: usize = 20;

/// Records what was done for the pledges of a month. Ledger cost: 4 calls. KV cost: 1 read and 1 write.
///
/// # Errors
/// - If the offering, the partner or the place is not one line of text, or is too long.
/// - If the quantity is not above 0.
/// - If the month has not begun, or the day is in the future.
/// - If the report is not a web address with https.
/// - If the offering already has [`MAX_FULFILMENTS`] fulfilments in the month.
/// - If the ledger or the store fails.
pub async fn add(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    new: &NewFulfilment,
) -> Result<Done<Fulfilment>> {
    let new = checked(new, author.clock)?;
    let work = async |at: &Commit<'_, _, _>| record(store, at, &new).await;
    commit(ledger, author, (ADD, &new), work).await
}

async fn record(
    store: &impl OperatorStore,
    commit: &Commit<'_, impl Clock, impl Entropy>,
    new: &NewFulfilment,
) -> Result<Fulfilment> {
    let Commit { author, ledger, .. } = commit;
    epoch::begin(store, *ledger, author.entropy).await?;
    let id = id_of(author);
    let entry = author.entry(ADD, |_| vec![id.clone(), in_words(new)]).await?;
    let row = FulfilmentRow::new(id, new.clone(), author.by.to_owned(), entry.key.time_ms());
    let recorded = row.clone().into_fulfilment();
    match commit.make(&entry, &recorded, fulfilments::adding(&row)?).await? {
        true => Ok(recorded),
        false => Err(full(new)),
    }
}

fn full(new: &NewFulfilment) -> OperatorError {
    refused(
        "offering",
        RefusalCode::NotAllowed,
        format_args!(
            "{} already has {MAX_FULFILMENTS} fulfilments for {}: remove some, and record their sum as one \
             fulfilment",
            new.offering, new.month
        ),
    )
}

/// Derives a fulfilment's ID from the operation's ID. So a repeated request does not record the fulfilment twice.
fn id_of(author: &Author<'_, impl Clock, impl Entropy>) -> String {
    let hash = author.operation.as_ref().map(|operation| operation.hash(author.by));
    let digits: String = hash.unwrap_or_default().chars().take(ID_DIGITS).collect();
    ["ful_", &digits].concat()
}

/// Removes a fulfilment. It stays in the database, but counts in no sum. Ledger cost: 5 calls. KV cost: 1 read and 1 write.
///
/// # Errors
/// - If there is no fulfilment with this ID, or it is already removed.
/// - If the ledger or the store fails.
pub async fn remove(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    id: &str,
) -> Result<Done<Fulfilment>> {
    let work = async |at: &Commit<'_, _, _>| remove_now(store, at, id).await;
    commit(ledger, author, (REMOVE, &id), work).await
}

async fn remove_now(
    store: &impl OperatorStore,
    commit: &Commit<'_, impl Clock, impl Entropy>,
    id: &str,
) -> Result<Fulfilment> {
    let Commit { author, ledger, .. } = commit;
    epoch::check(store, *ledger).await?;
    let found = get(*ledger, id).await?;
    check_removable(&found)?;
    let on = vec![found.id.clone(), in_words(&found.done)];
    let entry = author.entry(REMOVE, |_| on).await?;
    let removal = Removal { at: entry.at().to_owned(), by: author.by.to_owned() };
    let removed = Fulfilment { removed: Some(removal), ..found };
    let statements = fulfilments::removing(id, author.by, entry.key.time_ms())?;
    if commit.make(&entry, &removed, statements).await? {
        return Ok(removed);
    }
    let removed = get(*ledger, id).await?.removed;
    Err(removed.map_or_else(|| unknown(id), |removal| is_removed(id, &removal)))
}

/// Refuses the removal of a fulfilment that is already removed.
pub fn check_removable(found: &Fulfilment) -> Result<()> {
    found.removed.as_ref().map_or(Ok(()), |removal| Err(is_removed(&found.id, removal)))
}

fn is_removed(id: &str, Removal { by, at }: &Removal) -> OperatorError {
    OperatorError::invalid(format!("nothing was removed: {by} already removed `{id}` at {at}"))
}

/// Returns a fulfilment, even if it is removed. One query.
///
/// # Errors
/// If there is no fulfilment with this ID, or the ledger fails.
pub async fn get(ledger: &dyn Ledger, id: &str) -> Result<Fulfilment> {
    fulfilments::get(ledger, id).await?.ok_or_else(|| unknown(id))
}

/// Returns at most `most` fulfilments of these months, without removed ones. They are sorted by month (newest first),
/// mode, offering, and the day on which they were done (newest first). One query.
pub async fn list(
    ledger: &dyn Ledger,
    mode: Option<Mode>,
    months: &[Month],
    most: usize,
) -> Result<Vec<Fulfilment>> {
    Ok(fulfilments::list(ledger, mode, months, most).await?)
}

fn unknown(id: &str) -> OperatorError {
    let problem = format!("there is no fulfilment `{id}`");
    OperatorError::at("fulfilment", RefusalCode::NotFound, problem)
}

/// Describes a fulfilment in words, such as `12 tree of 2026-10 (live), done on 2026-11-20, by Reforest in
/// Kenya`.
fn in_words(done: &NewFulfilment) -> String {
    let NewFulfilment { mode, month, offering, quantity, done_on, partner, place, report } = done;
    let mut words =
        format!("{quantity} {offering} of {month} ({}), done on {done_on}", mode.name());
    for (before, text) in [(", by ", partner), (", place: ", place), (", report: ", report)] {
        if let Some(text) = text {
            words.push_str(before);
            words.push_str(text);
        }
    }
    words
}
