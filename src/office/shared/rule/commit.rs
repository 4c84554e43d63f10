//! Makes each change of the ledger only once, in one database transaction. The transaction has the operation with its
//! outcome, the preconditions, the changed rows, and the audit log entry. Either all of them are written, or nothing.
//!
//! If a person sends a form or a command twice, the second request finds the operation and gets its outcome. If both
//! arrive at the same time, the database accepts only the first operation with this ID. If an answer is lost, a repeated
//! request gets the outcome in the same way.
//!
//! Changes of records in Workers KV, such as keys, are made by [`once`](super::once) instead.

use super::error::{OperatorError, Result};
use super::once::{Done, Outcome, Request};
use crate::office::audit::rows;
use crate::office::audit::rule::{Author, Entry};
use crate::office::shared::rows::operations;
use crate::office::shared::rows::operations::UNDER_WAY_MS;
use crate::office::shared::rows::port::{Ledger, LedgerError, Statement};
use crate::pledges::service::{Clock, Entropy};
use serde::Serialize;
use std::cell::Cell;

/// A change of the ledger that is being made.
pub(crate) struct Commit<'c, C, E> {
    pub author: Author<'c, C, E>,
    pub ledger: &'c dyn Ledger,
    request: Request,
    is_made: Cell<bool>,
}

/// Makes a change of the ledger only once. `command` and `what`, its arguments, identify the change. `work` checks the
/// change, calls [`Commit::make`] at most once, and returns the outcome. If nothing has to be changed, it returns the outcome
/// without a call. Ledger cost besides `work`: 1 query, and 1 more if nothing was changed.
///
/// # Errors
/// - If the ID was used for another change, or is too old.
/// - If the ledger does not answer. The change may have been made then: another request with the ID finds out.
/// - If `work` refuses the change. Then nothing was changed.
pub(crate) async fn commit<C: Clock, E: Entropy, T: Outcome>(
    ledger: &dyn Ledger,
    author: &Author<'_, C, E>,
    (command, what): (&str, &impl Serialize),
    work: impl AsyncFnOnce(&Commit<'_, C, E>) -> Result<T>,
) -> Result<Done<T>> {
    let (id, request) = Request::new(author, command, what)?;
    if let Some(made) = operations::get(ledger, &request.id).await? {
        return request.replay(&made);
    }
    request.check_age()?;
    let author = author.of_attempt(id, None);
    let commit = Commit { author, ledger, request, is_made: Cell::default() };
    let outcome = work(&commit).await;
    if !commit.is_made.get()
        && let Some(made) = operations::get(ledger, &commit.request.id).await?
    {
        return commit.request.replay(&made); // by another request with the ID, or by this one, whose answer was lost
    }
    outcome.map(|outcome| Done { outcome, before: None })
}

impl<C: Clock, E: Entropy> Commit<'_, C, E> {
    /// Writes the statements, the entry and the operation with its outcome in one database transaction. Returns `false` if
    /// a precondition or a constraint refuses it. Then nothing was changed, or another request with the operation's ID has
    /// made the change. Ledger cost: 1 call.
    ///
    /// # Errors
    /// If the request began too long ago, for example because the computer slept, or the ledger does not answer.
    pub async fn make<T: Outcome>(
        &self,
        entry: &Entry,
        outcome: &T,
        statements: impl IntoIterator<Item = Statement>,
    ) -> Result<bool> {
        self.check_age()?;
        let kept = serde_json::to_string(&outcome.to_stored())?;
        let first =
            [operations::recording(&self.request.asked(), &kept)?, rows::adding(&[entry.row()?])?];
        let all: Vec<_> = first.into_iter().chain(statements).collect();
        match self.ledger.run(&all).await {
            Ok(_) => self.is_made.set(true),
            Err(LedgerError::Refused(_)) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(self.is_made.get())
    }

    /// Refuses to go on with a request that began too long ago. By now, the person may have given up and made another
    /// change.
    fn check_age(&self) -> Result<()> {
        if self.author.clock.now_ms().saturating_sub(self.request.at) < UNDER_WAY_MS {
            return Ok(());
        }
        Err(OperatorError::try_again(format!(
            "nothing was done: the ledger took more than {} s to answer. Try again later",
            UNDER_WAY_MS / 1_000
        )))
    }
}
