//! Adds, edits, publishes and withdraws updates.

use super::checked::{NewUpdate, check_pledges, check_publishable, checked};
use super::compile;
use super::compile::compile;
use super::list::get;
use super::refusal::{already, full, overtaken, refused, refused_at};
use super::words::{changed, in_words};
use crate::buyer::updates::{Update, UpdateId};
use crate::office::audit::rule::{Author, Subject};
use crate::office::shared::rows::port::{Ledger, LedgerError};
use crate::office::shared::rule::commit::{Commit, commit};
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::once::{Done, StoredAsIs};
use crate::office::shared::rule::refused::RefusalCode;
use crate::office::system::rule::epoch;
use crate::office::updates::rows::changes as rows;
use crate::office::updates::rows::changes::MAX_KEPT;
use crate::office::updates::rows::updates;
use crate::office::updates::rows::updates::{Pledges, UpdateRow, UpdateState};
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use serde::{Deserialize, Serialize};

const ADD: &str = "updates add";
const EDIT: &str = "updates edit";
const PUBLISH: &str = "updates publish";
const WITHDRAW: &str = "updates withdraw";
/// Number of hexadecimal digits in an update's ID.
const ID_DIGITS: usize = 20;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UpdateChange {
    pub row: UpdateRow,
    /// Whether the record that timelines read is up to date. If not, a later comparison of the ledger with
    /// Workers KV writes that record.
    pub is_compiled: bool,
}

impl StoredAsIs for UpdateChange {}

// ---- Add -----------------------------------------------------------------------------------------

/// Adds an update as a draft. If the update is made from a fulfilment (a report of what was done),
/// `fulfilment` is the fulfilment's ID. Ledger cost: 3 calls. KV cost: 1 write.
///
/// # Errors
/// - If a member of the update or the offering is invalid, or the month has not begun.
/// - If the offering already has [`MAX_KEPT`] updates for the month, or the fulfilment already has an
///   update.
/// - If the ledger or the store fails.
pub async fn add(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    (pledges, fulfilment): (&Pledges, Option<&str>),
    new: &NewUpdate,
) -> Result<Done<UpdateChange>> {
    check_pledges(pledges, author.clock)?;
    checked(id_of("0")?, new, author.clock)?;
    let work = async |at: &Commit<'_, _, _>| {
        let id = id_of(&at.author.operation_hash().unwrap_or_default())?;
        let update = checked(id, new, author.clock)?;
        insert(store, at, (pledges, fulfilment), update).await
    };
    commit(ledger, author, (ADD, &(pledges, fulfilment, new)), work).await
}

/// Derives an update's ID from the hash of the operation's ID. A repeated request has the same operation
/// ID, so it does not add a second update.
fn id_of(hash: &str) -> Result<UpdateId> {
    let digits: String = hash.chars().take(ID_DIGITS).collect();
    UpdateId::parse(["upd_", &digits].concat()).ok_or_else(|| refused("the update has no ID"))
}

async fn insert(
    store: &impl OperatorStore,
    commit: &Commit<'_, impl Clock, impl Entropy>,
    (pledges, fulfilment): (&Pledges, Option<&str>),
    update: Update,
) -> Result<UpdateChange> {
    let Commit { author, ledger, .. } = commit;
    epoch::begin(store, *ledger, author.entropy).await?;
    let on = vec![update.id.to_string(), in_words(pledges, &update)];
    let entry = author.entry(ADD, |_| on).await?;
    let (by, at) = (author.by.to_owned(), entry.at().to_owned());
    let row = UpdateRow {
        id: update.id.to_string(),
        pledges: pledges.clone(),
        state: UpdateState::Draft,
        update,
        fulfilment: fulfilment.map(str::to_owned),
        revision: 1,
        operation: author.operation_hash().unwrap_or_default(),
        changed_by: by.clone(),
        changed_at: at.clone(),
        by,
        at,
    };
    let add = rows::adding(&row)?;
    let added = UpdateChange { row, is_compiled: true };
    match commit.make(&entry, &added, add).await? {
        true => Ok(added),
        false => Err(is_not_added(*ledger, pledges, fulfilment).await?),
    }
}

/// Returns the error that says why the ledger did not add an update.
async fn is_not_added(
    ledger: &dyn Ledger,
    Pledges { offering, month, .. }: &Pledges,
    fulfilment: Option<&str>,
) -> Result<OperatorError> {
    let not_allowed = RefusalCode::NotAllowed;
    if let Some(fulfilment) = fulfilment
        && let Some(UpdateRow { id, .. }) = updates::of_fulfilment(ledger, fulfilment).await?
    {
        let problem = format_args!("the fulfilment already has an update: `{id}`");
        return Ok(refused_at("fulfilment", not_allowed, problem));
    }
    let problem = format_args!("{offering} already has {MAX_KEPT} updates for {month}");
    Ok(refused_at("offering", not_allowed, problem))
}

// ---- Change --------------------------------------------------------------------------------------

/// Replaces the contents of an update. `revision` is the revision that the person saw. If the update is
/// published, timelines show the new contents at once. Ledger cost: 4 calls, 2 more if it is published. KV
/// cost: 1 write, 1 more if it is published.
///
/// # Errors
/// - If a member of the update is invalid, nothing differs, or a published update would have no sentence.
/// - If somebody else has changed the update since, or no update has this ID.
/// - If the ledger or the store fails.
pub async fn edit(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    (id, revision): (&str, u64),
    new: &NewUpdate,
) -> Result<Done<UpdateChange>> {
    let edited = |row: &UpdateRow, clock: &_| {
        let update = checked(row.update.id.clone(), new, clock)?;
        match update == row.update {
            true => Err(refused("these values are saved already")),
            false => Ok((row.state, update)),
        }
    };
    let work = async |at: &Commit<'_, _, _>| {
        change(store, at, (EDIT, id, revision), |row| edited(row, author.clock)).await
    };
    let done = commit(ledger, author, (EDIT, &(id, new)), work).await?;
    compiled(store, ledger, author, done).await
}

/// Publishes an update: timelines of its offering and month show it. Ledger cost: 6 calls. KV cost: 2 writes.
///
/// # Errors
/// - If the update has no sentence, or is published already.
/// - If the offering already has [`MAX_UPDATES`] published updates for the month.
/// - If the published updates together would be too large for their record.
/// - As [`edit`].
pub async fn publish(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    of: (&str, u64),
) -> Result<Done<UpdateChange>> {
    change_state(store, ledger, author, of, (PUBLISH, UpdateState::Published)).await
}

/// Withdraws a published update, or discards a draft. Timelines no longer show a withdrawn update. A
/// withdrawn or discarded update can be published later. Ledger cost: 4 calls, 2 more if the update was
/// published. KV cost: 1 write, 1 more if the update was published.
///
/// # Errors
/// - If the update is withdrawn already.
/// - As [`edit`].
pub async fn withdraw(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    of: (&str, u64),
) -> Result<Done<UpdateChange>> {
    change_state(store, ledger, author, of, (WITHDRAW, UpdateState::Withdrawn)).await
}

async fn change_state(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    (id, revision): (&str, u64),
    (command, state): (&str, UpdateState),
) -> Result<Done<UpdateChange>> {
    let changed = |row: &UpdateRow| match row.state == state {
        true => Err(already(state.into(), row)),
        false => Ok((state, row.update.clone())),
    };
    let work =
        async |at: &Commit<'_, _, _>| change(store, at, (command, id, revision), changed).await;
    let done = commit(ledger, author, (command, &id), work).await?;
    compiled(store, ledger, author, done).await
}

/// Refuses to change an update that has another revision than the one that the person saw.
pub fn check_seen(found: &UpdateRow, revision: u64) -> Result<()> {
    if found.revision == revision { Ok(()) } else { Err(overtaken(found)) }
}

/// Changes an update in the ledger.
async fn change(
    store: &impl OperatorStore,
    commit: &Commit<'_, impl Clock, impl Entropy>,
    (command, id, revision): (&str, &str, u64),
    wanted: impl FnOnce(&UpdateRow) -> Result<(UpdateState, Update)>,
) -> Result<UpdateChange> {
    let Commit { author, ledger, .. } = commit;
    epoch::check(store, *ledger).await?;
    let found = get(*ledger, id).await?;
    check_seen(&found, revision)?;
    let (state, update) = wanted(&found)?;
    let is_shown = [found.state, state].contains(&UpdateState::Published);
    if state == UpdateState::Published {
        check_publishable(&update)?;
    }
    if is_shown {
        let checked = compile::check(store, *ledger, &found.pledges).await;
        // A record that cannot be read now is checked again before it is written.
        if let Err(refused @ OperatorError::Invalid(_)) = checked {
            return Err(refused);
        }
    }
    let subject = subject(&found, &update);
    let entry = author.entry(command, |_| subject).await?;
    let row = UpdateRow {
        state,
        update,
        revision: revision + 1,
        operation: author.operation_hash().unwrap_or_default(),
        changed_by: author.by.to_owned(),
        changed_at: entry.at().to_owned(),
        ..found
    };
    let change = rows::changing(&row)?;
    let changed = UpdateChange { row, is_compiled: !is_shown };
    if commit.make(&entry, &changed, change).await? {
        return Ok(changed);
    }
    let now = get(*ledger, id).await?;
    Err(if now.revision == revision { full(&now.pledges) } else { overtaken(&now) })
}

fn subject(before: &UpdateRow, after: &Update) -> Subject {
    Subject {
        on: vec![before.id.clone(), in_words(&before.pledges, after)],
        changed: changed(&before.update, after),
        ..Subject::default()
    }
}

/// Writes the record that timelines read, after a change of an update that was or is published. If the write fails, the
/// change still counts, and `is_compiled` is false.
async fn compiled(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    mut done: Done<UpdateChange>,
) -> Result<Done<UpdateChange>> {
    if !done.outcome.is_compiled {
        done.outcome.is_compiled =
            match compile(store, ledger, author.clock, &done.outcome.row.pledges).await {
                Ok(()) => true,
                Err(OperatorError::Store(_) | OperatorError::Ledger(LedgerError::Unavailable)) => {
                    false
                }
                Err(error) => return Err(error),
            };
    }
    Ok(done)
}
