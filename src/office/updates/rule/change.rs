//! Adds, edits, publishes and withdraws updates.

use super::checked::{NewUpdate, check_pledges, check_publishable, checked};
use super::compile;
use super::compile::compile;
use super::list::get;
use super::refusal::{already, full, overtaken, refused, refused_at, unknown};
use super::words::{changed, in_words};
use crate::buyer::updates::{Update, UpdateId};
use crate::office::audit::rule::{Author, Subject};
use crate::office::shared::rows::port::{Ledger, LedgerError};
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::once::{Done, Outcome, once};
use crate::office::shared::rule::refused::RefusalCode;
use crate::office::system::rule::epoch;
use crate::office::updates::rows::changes as update_changes;
use crate::office::updates::rows::changes::{MAX_KEPT, RowChange};
use crate::office::updates::rows::updates;
use crate::office::updates::rows::updates::{Pledges, UpdateRow, UpdateState};
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use crate::pledges::time::date_time;

const ADD: &str = "updates add";
const EDIT: &str = "updates edit";
const PUBLISH: &str = "updates publish";
const WITHDRAW: &str = "updates withdraw";
/// Number of hexadecimal digits in an update's ID.
const ID_DIGITS: usize = 20;

#[derive(Clone, Debug, PartialEq)]
pub struct UpdateChange {
    pub row: UpdateRow,
    /// Whether the record that timelines read is up to date. If not, a later comparison of the ledger with
    /// Workers KV writes that record.
    pub is_compiled: bool,
}

/// Stores no outcome if the record that timelines read was not written. A repeated request then writes that
/// record.
impl Outcome for UpdateChange {
    type Stored = UpdateRow;

    fn to_stored(&self) -> Option<UpdateRow> {
        self.is_compiled.then(|| self.row.clone())
    }

    fn from_stored(row: UpdateRow) -> Self {
        UpdateChange { row, is_compiled: true }
    }
}

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
    let work = async |author: &Author<'_, _, _>| {
        let id = id_of(&author.operation_hash().unwrap_or_default())?;
        let update = checked(id, new, author.clock)?;
        let row = insert(store, ledger, author, (pledges, fulfilment), update).await?;
        Ok(UpdateChange { row, is_compiled: true })
    };
    once(ledger, author, (ADD, &(pledges, fulfilment, new)), work).await
}

/// Derives an update's ID from the hash of the operation's ID. A repeated request has the same operation
/// ID, so it does not add a second update.
fn id_of(hash: &str) -> Result<UpdateId> {
    let digits: String = hash.chars().take(ID_DIGITS).collect();
    UpdateId::parse(["upd_", &digits].concat()).ok_or_else(|| refused("the update has no ID"))
}

async fn insert(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    (pledges, fulfilment): (&Pledges, Option<&str>),
    update: Update,
) -> Result<UpdateRow> {
    if author.earlier.is_some()
        && let Some(added) = updates::get(ledger, &update.id).await?
    {
        return Ok(added);
    }
    epoch::begin(store, ledger, author.entropy).await?;
    let (by, at) = (author.by.to_owned(), date_time(author.clock.now_ms()));
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
    let subject = subject(None, &row)?;
    let entry = author.begin_entry(store, ADD, |_| subject).await?;
    let content = serde_json::to_string(&row.update)?;
    let change = row_change(&row, &content, author.clock.now_ms());
    let add = async |ledger: &dyn Ledger| {
        let added = update_changes::add(ledger, pledges, fulfilment, change).await?;
        match added {
            Some(row) => Ok(row),
            None => Err(is_not_added(ledger, pledges, fulfilment).await?),
        }
    };
    author.change((store, ledger), &entry, add).await
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

fn row_change<'r>(row: &'r UpdateRow, content: &'r str, at: u64) -> RowChange<'r> {
    RowChange {
        id: &row.id,
        revision: row.revision,
        state: row.state,
        content,
        day: &row.update.date,
        operation: &row.operation,
        by: &row.changed_by,
        at,
    }
}

/// Describes a change for the audit log. Includes the whole update, because the only other copy of a draft is
/// in the ledger.
fn subject(before: Option<&UpdateRow>, after: &UpdateRow) -> Result<Subject> {
    Ok(Subject {
        on: vec![after.id.clone(), in_words(&after.pledges, &after.update)],
        changed: before.map(|row| changed(&row.update, &after.update)).unwrap_or_default(),
        record: Some(serde_json::to_value(after)?),
        ..Subject::default()
    })
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
    let work = async |author: &Author<'_, _, _>| {
        change(store, ledger, author, (EDIT, id, revision), |row| edited(row, author.clock)).await
    };
    once(ledger, author, (EDIT, &(id, new)), work).await
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
    let work = async |author: &Author<'_, _, _>| {
        change(store, ledger, author, (command, id, revision), changed).await
    };
    once(ledger, author, (command, &id), work).await
}

/// Changes an update in the ledger. If the update was published before or is published now, also writes the
/// record that timelines read.
async fn change(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    (command, id, revision): (&str, &str, u64),
    wanted: impl FnOnce(&UpdateRow) -> Result<(UpdateState, Update)>,
) -> Result<UpdateChange> {
    epoch::check(store, ledger).await?;
    let found = get(ledger, id).await?;
    let operation = author.operation_hash().unwrap_or_default();
    if author.earlier.is_some() && found.operation == operation {
        return compiled(store, ledger, author, found).await; // an earlier attempt has made the change
    }
    if found.revision != revision {
        return Err(overtaken(&found));
    }
    let (state, update) = wanted(&found)?;
    if state == UpdateState::Published {
        check_publishable(&update)?;
    }
    if [found.state, state].contains(&UpdateState::Published) {
        let checked = compile::check(store, ledger, &found.pledges).await;
        // A record that cannot be read now is checked again before it is written.
        if let Err(refused @ OperatorError::Invalid(_)) = checked {
            return Err(refused);
        }
    }
    let (by, at_ms) = (author.by.to_owned(), author.clock.now_ms());
    let (changed_by, changed_at) = (by, date_time(at_ms));
    let after = UpdateRow { state, update, operation, changed_by, changed_at, ..found.clone() };
    let audited = UpdateRow { revision: revision + 1, ..after.clone() };
    let subject = subject(Some(&found), &audited)?;
    let entry = author.begin_entry(store, command, |_| subject).await?;
    let content = serde_json::to_string(&after.update)?;
    let change = async |ledger: &dyn Ledger| match update_changes::change(
        ledger,
        row_change(&after, &content, at_ms),
    )
    .await?
    {
        Some(row) if row.operation == after.operation => Ok(row),
        Some(row) if row.revision == revision => Err(full(&row.pledges)),
        Some(row) => Err(overtaken(&row)),
        None => Err(unknown(id)),
    };
    let row = author.change((store, ledger), &entry, change).await?;
    if UpdateState::Published == found.state || UpdateState::Published == row.state {
        return compiled(store, ledger, author, row).await;
    }
    Ok(UpdateChange { row, is_compiled: true })
}

/// Writes the record that timelines read, after a change of an update. If the write fails, the change still
/// counts, and `is_compiled` is false.
async fn compiled(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    row: UpdateRow,
) -> Result<UpdateChange> {
    match compile(store, ledger, author.clock, &row.pledges).await {
        Ok(()) => Ok(UpdateChange { row, is_compiled: true }),
        Err(OperatorError::Store(_) | OperatorError::Ledger(LedgerError::Unavailable)) => {
            Ok(UpdateChange { row, is_compiled: false })
        }
        Err(error) => Err(error),
    }
}
