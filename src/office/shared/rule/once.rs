//! Makes each change of records in Workers KV only once, even if a person sends a form or a command twice. The second
//! request gets the outcome of the first (idempotent replay). Changes of the ledger are made by [`commit`](super::commit).
//!
//! The ledger has a row for each operation, that is each requested change. Its key is a hash of the author
//! and the operation's ID:
//!
//! | the operation's row | what another request with its ID does |
//! |---|---|
//! | does not exist | makes the change |
//! | has another command or other arguments | is refused |
//! | is done | returns the stored outcome |
//! | was begun less than 30 s ago | is refused, because the operation is still running |
//! | was begun before that, or has failed | makes the change again |
//!
//! So a change must be safe to repeat. Either the repetition has the same result: for example, it derives the
//! same key from the operation's ID. Or the change detects what has happened since: for example, that the key
//! was revoked.

use super::error::{OperatorError, Result};
use super::operation_id::OperationId;
use crate::office::audit::rule::{Author, EarlierAttempt};
use crate::office::shared::rows::operations;
use crate::office::shared::rows::operations::{
    AttemptEnd, Operation, OperationRequest, PriorOutcome, UNDER_WAY_MS,
};
use crate::office::shared::rows::port::{Ledger, LedgerError};
use crate::office::system::rows::upkeep::holder;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::time::date_time;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

/// Largest outcome that is stored, in bytes. If an outcome is larger, a repeated request does the work again.
const MAX_OUTCOME_BYTES: usize = 16 * 1024;

/// An operation that was done, either now or before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Done<T> {
    pub outcome: T,
    /// When an earlier request with the same ID did the operation, an RFC 3339 date-time; `None` if it was
    /// done now.
    pub before: Option<String>,
}

impl<T> Done<T> {
    pub fn map<U>(self, map: impl FnOnce(T) -> U) -> Done<U> {
        Done { outcome: map(self.outcome), before: self.before }
    }
}

/// The outcome of an operation, which is stored to answer a repeated request. The stored part contains no
/// secret and no personal data.
pub(crate) trait Outcome: Sized {
    /// The part of the outcome that is stored, to answer a repeated request.
    type Stored: Serialize + DeserializeOwned;

    /// Returns the part to store. Returns `None` if the operation is not completely done, so that a repeated
    /// request does it again.
    fn to_stored(&self) -> Option<Self::Stored>;

    /// Makes the outcome again from its stored part, to answer a repeated request.
    fn from_stored(kept: Self::Stored) -> Self;
}

/// An outcome that is stored unchanged.
pub(crate) trait StoredAsIs: Clone + Serialize + DeserializeOwned {}

impl StoredAsIs for () {}
impl StoredAsIs for bool {}
impl StoredAsIs for String {}

impl<T: StoredAsIs> Outcome for T {
    type Stored = T;

    fn to_stored(&self) -> Option<T> {
        Some(self.clone())
    }

    fn from_stored(kept: T) -> T {
        kept
    }
}

/// Makes a change only once: calls `work`, unless an earlier request with the same operation ID has made
/// the change. `command` and `what`, its arguments, identify the change. `work` gets the author in whose
/// name it makes the change. Ledger cost: 2 calls.
///
/// # Errors
/// - If the ID was used for another change, or is too old.
/// - If another request with the ID is still making the change.
/// - If the ledger does not answer, or `work` fails.
pub(crate) async fn once<C: Clock, E: Entropy, T: Outcome>(
    ledger: &dyn Ledger,
    author: &Author<'_, C, E>,
    (command, what): (&str, &impl Serialize),
    work: impl AsyncFnOnce(&Author<'_, C, E>) -> Result<T>,
) -> Result<Done<T>> {
    let (id, request) = Request::new(author, command, what)?;
    let asked = request.asked();
    let earlier = match begin(ledger, &request).await? {
        Begun::Done(done) => return Ok(done),
        Begun::Ours(earlier) => earlier,
    };
    let author = author.of_attempt(id, earlier);
    let outcome = work(&author).await;
    let _or_it_is_done_again = end(ledger, &asked, &author, &outcome).await;
    outcome.map(|outcome| Done { outcome, before: None })
}

/// A request to make a change.
pub(super) struct Request {
    operation: OperationId,
    /// As [`OperationRequest::id`].
    pub id: String,
    command: String,
    arguments: String,
    pub attempt: String,
    /// When the request began, in milliseconds since 1970.
    pub at: u64,
}

impl Request {
    /// Creates a request with the author's operation ID, or with a new one.
    pub fn new<C: Clock, E: Entropy>(
        author: &Author<'_, C, E>,
        command: &str,
        what: &impl Serialize,
    ) -> Result<(OperationId, Self)> {
        let new = || OperationId::new(author.clock, author.entropy);
        let operation = author.operation.clone().unwrap_or_else(new);
        let request = Request {
            id: operation.hash(author.by),
            operation: operation.clone(),
            command: command.to_owned(),
            arguments: hash(command, what)?,
            attempt: holder(author.entropy),
            at: author.clock.now_ms(),
        };
        Ok((operation, request))
    }

    pub fn asked(&self) -> OperationRequest<'_> {
        let Request { id, command, arguments, attempt, at, .. } = self;
        OperationRequest { id, command, arguments, attempt, at: *at }
    }

    pub fn check_age(&self) -> Result<()> {
        self.operation.check_age(self.at)
    }

    /// Returns the outcome of an earlier request with the same ID, or of this request.
    ///
    /// # Errors
    /// If the ID was used for another change, or is not done.
    pub fn replay<T: Outcome>(&self, found: &Operation) -> Result<Done<T>> {
        if found.command != self.command || found.arguments != self.arguments {
            return Err(stands_for_another(&self.operation, &found.command, found.began));
        }
        match (&found.outcome, found.done) {
            (Some(outcome), Some(done)) => {
                let made: Done<T> = read(outcome, done)?;
                let before = made.before.filter(|_| found.attempt != self.attempt);
                Ok(Done { before, ..made })
            }
            _ => Err(under_way(found)),
        }
    }
}

/// Stores the outcome of an attempt, or that the attempt failed.
async fn end<C: Clock, E: Entropy, T: Outcome>(
    ledger: &dyn Ledger,
    asked: &OperationRequest<'_>,
    author: &Author<'_, C, E>,
    outcome: &Result<T>,
) -> Result<(), LedgerError> {
    let how = match outcome {
        Err(_) if author.has_entry() => AttemptEnd::Failed,
        Err(_) => AttemptEnd::Untouched,
        Ok(_) => AttemptEnd::Told,
    };
    let kept = outcome.as_ref().ok().and_then(T::to_stored);
    let text = kept.and_then(|kept| serde_json::to_string(&kept).ok());
    match text.filter(|text| text.len() <= MAX_OUTCOME_BYTES) {
        Some(text) => operations::finish(ledger, asked, author.clock.now_ms(), &text).await,
        None => operations::give_up(ledger, asked, how).await,
    }
}

fn hash(command: &str, what: &impl Serialize) -> Result<String> {
    let text = serde_json::to_vec(&(command, what))?;
    Ok(base16ct::lower::encode_string(&Sha256::digest(text)))
}

/// Returns when the operation was done, an RFC 3339 date-time; `None` if it was not done, or has no ID.
pub async fn was_done<C: Clock, E: Entropy>(
    ledger: &dyn Ledger,
    author: &Author<'_, C, E>,
) -> Result<Option<String>> {
    let Some(id) = &author.operation else { return Ok(None) };
    Ok(operations::get(ledger, &id.hash(author.by)).await?.and_then(|it| it.done).map(date_time))
}

enum Begun<T> {
    /// This attempt must make the change. Contains an earlier attempt that did not finish, if there was one.
    Ours(Option<EarlierAttempt>),
    Done(Done<T>),
}

async fn begin<T: Outcome>(ledger: &dyn Ledger, request: &Request) -> Result<Begun<T>> {
    let asked = request.asked();
    if let Err(too_old) = request.check_age() {
        operations::get(ledger, asked.id).await?.ok_or(too_old)?;
    }
    let found = operations::begin(ledger, &asked).await?;
    let is_ours = found.attempt == asked.attempt && found.done.is_none();
    match is_ours {
        true => Ok(Begun::Ours(earlier(&found))),
        false => request.replay(&found).map(Begun::Done),
    }
}

fn read<T: Outcome>(outcome: &str, done: u64) -> Result<Done<T>> {
    let before = date_time(done);
    let kept = serde_json::from_str(outcome).map_err(|_| {
        OperatorError::invalid(format!(
            "nothing was done now, because another release of this software already did this at \
             {before}. Check what was changed"
        ))
    })?;
    Ok(Done { outcome: T::from_stored(kept), before: Some(before) })
}

fn earlier(found: &Operation) -> Option<EarlierAttempt> {
    let after = found.after?;
    Some(EarlierAttempt { since_ms: found.began, has_failed: after == PriorOutcome::Failure })
}

fn stands_for_another(id: &OperationId, command: &str, began: u64) -> OperatorError {
    OperatorError::invalid(format!(
        "nothing was done: the operation ID `{id}` was used for another change, `{command}` at {}. Open the page \
         again, or begin with a new ID",
        date_time(began)
    ))
}

fn under_way(found: &Operation) -> OperatorError {
    OperatorError::Repeated(format!(
        "this change has been running since {}, so it was not started again. Check again in {} s",
        date_time(found.began),
        UNDER_WAY_MS / 1_000
    ))
}
