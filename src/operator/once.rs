//! Every change is an operation, which is done once: whoever sends a form or a command twice hears the second time what it
//! came to the first time.
//!
//! The ledger has a row for each operation, by a hash of its author and its ID:
//!
//! | the row is | who asks for it |
//! |---|---|
//! | not there | does it |
//! | of another command, or has other arguments | is refused |
//! | done | hears its outcome |
//! | begun less than 30 s ago | has to wait |
//! | begun before, or has failed | does it again |
//!
//! So what is done under one ID has to be safe to do again: either it is the same once more, such as a key that is derived
//! from the ID, or it finds out what was done since, such as that the key was revoked.
//!
//! Without a ledger the ID is looked for in the audit log. That is best effort, as Workers KV may show an entry late.

use super::audit::{self, Author, Earlier};
use super::operation_id::OperationId;
use super::{OperatorError, Result};
use crate::handle::{Clock, Entropy};
use crate::ledger::operations::{self, After, Asked, Operation, UNDER_WAY_MS, Unended};
use crate::ledger::{Ledger, LedgerError, holder};
use crate::store::{ChangeNote, OperatorStore};
use crate::time::date_time;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

/// Most bytes of an outcome that is kept. A larger one is found out again by a repeat.
const MAX_OUTCOME_BYTES: usize = 16 * 1024;

/// What an operation has come to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Done<T> {
    /// Its outcome.
    pub outcome: T,
    /// When it was done before by the same ID, an RFC 3339 date-time; `None` if it was done now.
    pub before: Option<String>,
}

impl<T> Done<T> {
    /// The same with another outcome.
    pub fn map<U>(self, map: impl FnOnce(T) -> U) -> Done<U> {
        Done { outcome: map(self.outcome), before: self.before }
    }
}

/// The outcome of an operation. What is kept of it has no secret and no personal data.
pub(super) trait Outcome: Sized {
    /// What is kept.
    type Kept: Serialize + DeserializeOwned;

    /// What is kept; `None` if the operation was not done, or not all of it, and is to be done once more.
    fn to_keep(&self) -> Option<Self::Kept>;

    /// The outcome, as one hears of it who asks again.
    fn again(kept: Self::Kept) -> Self;
}

/// An outcome that is kept as it is.
pub(super) trait Plain: Clone + Serialize + DeserializeOwned {}

impl Plain for () {}
impl Plain for bool {}
impl Plain for String {}

impl<T: Plain> Outcome for T {
    type Kept = T;

    fn to_keep(&self) -> Option<T> {
        Some(self.clone())
    }

    fn again(kept: T) -> T {
        kept
    }
}

/// Does a change once: `work` makes it, as the author that it gets. `what` are its arguments.
///
/// # Errors
/// If the ID stands for another change, is too old, or its change is being made right now; if the ledger does not answer;
/// or as `work`.
pub(super) async fn once<C: Clock, E: Entropy, T: Outcome>(
    store: &impl OperatorStore,
    ledger: Option<&dyn Ledger>,
    author: &Author<'_, C, E>,
    (command, what): (&str, &impl Serialize),
    work: impl AsyncFnOnce(&Author<'_, C, E>) -> Result<T>,
) -> Result<Done<T>> {
    let new = || OperationId::new(author.clock, author.entropy);
    let id = author.operation.clone().unwrap_or_else(new);
    let Some(ledger) = ledger else {
        let earlier = look_back(store, author, &id, command).await?;
        let outcome = work(&author.attempt(id, earlier)).await?;
        return Ok(Done { outcome, before: None });
    };
    let (arguments, attempt) = (hash(command, what)?, holder(author.entropy));
    let at = author.clock.now_ms();
    let own = id.hash(author.by);
    let asked = Asked { id: &own, command, arguments: &arguments, attempt: &attempt, at };
    let earlier = match begin(ledger, &id, &asked).await? {
        Begun::Done(done) => return Ok(done),
        Begun::Ours(earlier) => earlier,
    };
    let author = author.attempt(id.clone(), earlier);
    let outcome = match check_begun(author.clock, at) {
        Ok(()) => work(&author).await,
        Err(late) => Err(late),
    };
    let _or_it_is_done_again = end(ledger, &asked, &author, &outcome).await;
    outcome.map(|outcome| Done { outcome, before: None })
}

/// Refuses to begin after another may have taken the place of this attempt.
fn check_begun(clock: &impl Clock, at: u64) -> Result<()> {
    if clock.now_ms().saturating_sub(at) < UNDER_WAY_MS {
        return Ok(());
    }
    Err(OperatorError::Invalid(format!(
        "nothing was done: the ledger took more than {} s to answer. Try again later",
        UNDER_WAY_MS / 1_000
    )))
}

/// Keeps what an attempt came to.
async fn end<C: Clock, E: Entropy, T: Outcome>(
    ledger: &dyn Ledger,
    asked: &Asked<'_>,
    author: &Author<'_, C, E>,
    outcome: &Result<T>,
) -> Result<(), LedgerError> {
    let how = match outcome {
        Err(_) if author.has_entry() => Unended::Failed,
        Err(_) => Unended::Untouched,
        Ok(_) => Unended::Told,
    };
    let kept = outcome.as_ref().ok().and_then(T::to_keep);
    let text = kept.and_then(|kept| serde_json::to_string(&kept).ok());
    match text.filter(|text| text.len() <= MAX_OUTCOME_BYTES) {
        Some(text) => operations::finish(ledger, asked, author.clock.now_ms(), &text).await,
        None => operations::give_up(ledger, asked, how).await,
    }
}

/// SHA-256 of a command with its arguments.
fn hash(command: &str, what: &impl Serialize) -> Result<String> {
    let text = serde_json::to_vec(&(command, what))?;
    Ok(base16ct::lower::encode_string(&Sha256::digest(text)))
}

/// When an operation was done before, an RFC 3339 date-time, where a ledger is bound.
///
/// # Errors
/// If the ledger does not answer.
pub async fn was_done<C: Clock, E: Entropy>(
    ledger: Option<&dyn Ledger>,
    author: &Author<'_, C, E>,
) -> Result<Option<String>> {
    let (Some(ledger), Some(id)) = (ledger, &author.operation) else { return Ok(None) };
    Ok(operations::get(ledger, &id.hash(author.by)).await?.and_then(|it| it.done).map(date_time))
}

// ---- By the ledger -------------------------------------------------------------------------------

/// What comes of the wish to begin an operation.
enum Begun<T> {
    /// It is to be done.
    Ours(Option<Earlier>),
    /// It was done before.
    Done(Done<T>),
}

async fn begin<T: Outcome>(
    ledger: &dyn Ledger,
    id: &OperationId,
    asked: &Asked<'_>,
) -> Result<Begun<T>> {
    if let Err(too_old) = id.check_age(asked.at) {
        operations::get(ledger, asked.id).await?.ok_or(too_old)?;
    }
    let found = operations::begin(ledger, asked).await?;
    if found.command != asked.command || found.arguments != asked.arguments {
        return Err(stands_for_another(id, &found.command, found.began));
    }
    match (&found.outcome, found.done) {
        (Some(outcome), Some(done)) => Ok(Begun::Done(read(outcome, done)?)),
        _ if found.attempt == asked.attempt => Ok(Begun::Ours(earlier(&found))),
        _ => Err(under_way(&found)),
    }
}

fn read<T: Outcome>(outcome: &str, done: u64) -> Result<Done<T>> {
    let before = date_time(done);
    let kept = serde_json::from_str(outcome).map_err(|_| {
        OperatorError::Invalid(format!(
            "this was done already, at {before}, by another release, and nothing was done now: look at what it changed"
        ))
    })?;
    Ok(Done { outcome: T::again(kept), before: Some(before) })
}

fn earlier(found: &Operation) -> Option<Earlier> {
    let after = found.after?;
    Some(Earlier { since_ms: found.began, has_failed: after == After::Failure })
}

fn stands_for_another(id: &OperationId, command: &str, began: u64) -> OperatorError {
    OperatorError::Invalid(format!(
        "nothing was done: the operation ID `{id}` stands for another change, `{command}` of {}. Open the page again, or \
         begin with a new ID",
        date_time(began)
    ))
}

fn under_way(found: &Operation) -> OperatorError {
    OperatorError::Repeated(format!(
        "this is being done right now, since {}, and was not begun twice: look again in {} s",
        date_time(found.began),
        UNDER_WAY_MS / 1_000
    ))
}

// ---- Without a ledger ----------------------------------------------------------------------------

/// Looks in the audit log for the operation. KV cost: 1 list per 1,000 changes since its ID was made, none where nobody
/// can have used that.
async fn look_back<C: Clock, E: Entropy>(
    store: &impl OperatorStore,
    author: &Author<'_, C, E>,
    id: &OperationId,
    command: &str,
) -> Result<Option<Earlier>> {
    let now_ms = author.clock.now_ms();
    id.check_age(now_ms)?;
    if !id.may_be_used() {
        return Ok(None);
    }
    let since_ms = id.since_ms(now_ms);
    let own = Some(id.hash(author.by));
    let is_own = |note: &ChangeNote| note.operation == own;
    let mut notes = audit::notes(store, since_ms).await?;
    notes.retain(|(_, note)| is_own(note));
    let Some((key, note)) = notes.last() else { return Ok(None) };
    match note.command == command {
        true => Ok(Some(Earlier { since_ms: key.time_ms(), has_failed: false })),
        false => Err(stands_for_another(id, &note.command, key.time_ms())),
    }
}

/// Refuses to make a change once more that cannot find out whether it was made.
pub(super) fn refuse_repeat<C: Clock, E: Entropy>(
    ledger: Option<&dyn Ledger>,
    author: &Author<'_, C, E>,
) -> Result<()> {
    match (ledger, author.earlier) {
        (None, Some(Earlier { since_ms, .. })) => Err(OperatorError::Repeated(format!(
            "nothing was done now: this was done already, or begun, at {}. Look at what it changes, and begin again if it \
             was not done",
            date_time(since_ms)
        ))),
        _ => Ok(()),
    }
}
