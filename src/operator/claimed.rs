//! Changes of facts under claims of the ledger: a month is paid, a unit is in a team.
//!
//! A change takes four steps: its entry in the audit log, which names it; its claim in the ledger, which of two people only
//! one gets; the record in KV, which the API reads; the end of the claim. The next person, or the reconciliation, goes by
//! the record where a claim was not ended, once KV must show the record. So the fact is in the end what the person heard:
//!
//! | ends after | the person heard | the record is | the fact is in the end |
//! |---|---|---|---|
//! | the entry | nothing, or not done | as before | as before |
//! | the claim, or while the ledger fails | nothing, or not done | as before | as before |
//! | a write of the record that failed | not done | as before | as before |
//! | a write that was not answered | may be done | as before, or changed | as the record |
//! | the record | nothing, or done | changed | changed |
//! | the end of the claim | done | changed | changed |
//!
//! Without a ledger a change is its entry and its record.

use super::audit::{Author, Entry};
use super::once::refuse_repeat;
use super::{OperatorError, Result};
use crate::handle::{Clock, Entropy};
use crate::ledger::Ledger;
use crate::ledger::claims::{self, Change, Claim, Fact, Seen, State, Turn, Wanted};
use crate::store::{Key as _, OperatorStore, StoreError};
use crate::time::date_time;

/// How long after its entry the write of a record may begin, in milliseconds. [`claims::RECENT_MS`] relies on it.
const MAX_AGE_MS: u64 = 30_000;

/// A change whose entry is in the audit log.
pub(super) struct Changing<'c, S, C, E> {
    store: &'c S,
    ledger: Option<&'c dyn Ledger>,
    author: &'c Author<'c, C, E>,
    entry: Entry,
    by: Change,
}

impl<'c, S: OperatorStore, C: Clock, E: Entropy> Changing<'c, S, C, E> {
    /// Writes the entry of a change, on what `on` returns for its time.
    ///
    /// # Errors
    /// If the entry may not have been kept.
    pub async fn begin(
        store: &'c S,
        ledger: Option<&'c dyn Ledger>,
        author: &'c Author<'c, C, E>,
        command: &str,
        on: impl FnOnce(&str) -> Vec<String>,
    ) -> Result<Self> {
        let entry = author.announce(store, command, on).await?;
        let (change, author_name) = (entry.key.name(), author.by.to_owned());
        let by = Change { change, author: author_name, at: entry.key.time_ms() };
        Ok(Changing { store, ledger, author, entry, by })
    }

    /// The entry of the change.
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// Claims facts: all or none. `refused` is the error for the first one that is not to be had, and whose it is, where a
    /// claim says so.
    ///
    /// # Errors
    /// If the ledger does not answer, or a fact is not to be had. Then the change is given up.
    pub async fn claim_all(
        &self,
        wanted: Wanted,
        seen: &[Seen],
        refused: impl FnOnce(&Fact, Option<&Claim>) -> OperatorError,
    ) -> Result<()> {
        let turns = self.claim(wanted, seen).await?;
        let error = match seen.iter().zip(&turns).find(|(_, turn)| **turn != Turn::Ours) {
            None => return Ok(()),
            Some((seen, Turn::Theirs(claim))) => refused(&seen.fact, Some(claim)),
            Some((seen, _)) => refused(&seen.fact, None),
        };
        Err(self.give_up(&facts(seen), error).await)
    }

    /// Claims facts. Returns what became of each, in their sequence.
    ///
    /// # Errors
    /// If the ledger does not answer. Then the change is given up.
    pub async fn claim(&self, wanted: Wanted, seen: &[Seen]) -> Result<Vec<Turn>> {
        let Some(ledger) = self.ledger else { return Ok(vec![Turn::Ours; seen.len()]) };
        match claims::claim(ledger, wanted, seen, &self.by).await {
            Ok(turns) => Ok(turns),
            Err(error) => Err(self.give_up(&facts(seen), error.into()).await),
        }
    }

    /// Gives up the change of facts that were claimed, before a record was written.
    pub async fn give_up(&self, facts: &[Fact], error: OperatorError) -> OperatorError {
        self.release(facts).await;
        self.withdraw().await;
        error
    }

    /// Says in the audit log that nothing was changed.
    pub async fn withdraw(&self) {
        self.author.withdraw(self.store, &self.entry).await;
    }

    /// Forgets claims. What stays, if the ledger fails, stops nobody for long.
    async fn release(&self, facts: &[Fact]) {
        if let Some(ledger) = self.ledger {
            let _for_a_while = claims::give_up(ledger, facts, &self.by).await;
        }
    }

    /// Writes or removes the record of each fact that was claimed, and ends the claims.
    ///
    /// # Errors
    /// If a record could not be written: then it is as it was, and so are those behind it. `unsure` says what it is about
    /// if that is not certain.
    pub async fn write(
        &self,
        facts: &[Fact],
        write: impl AsyncFn(&Fact) -> Result<()>,
        unsure: impl Fn(&Fact) -> String,
    ) -> Result<()> {
        for (index, fact) in facts.iter().enumerate() {
            let written = match self.check_age(index) {
                Ok(()) => write(fact).await,
                late => late,
            };
            let Err(error) = written else { continue };
            let (done, rest) = facts.split_at(index);
            self.end(done).await;
            return Err(match (error, rest) {
                (OperatorError::Store(StoreError::Unavailable), [_, rest @ ..]) => {
                    self.release(rest).await;
                    self.is_unsure(&unsure(fact))
                }
                (error, rest) if done.is_empty() => self.give_up(rest, error).await,
                (error, rest) => {
                    self.release(rest).await;
                    error
                }
            });
        }
        self.end(facts).await;
        Ok(())
    }

    /// Refuses to go on after a while; `done`: how many records were written.
    fn check_age(&self, done: usize) -> Result<()> {
        if self.author.clock.now_ms().saturating_sub(self.by.at) < MAX_AGE_MS {
            return Ok(());
        }
        let changed = match done {
            0 => "nothing was changed".to_owned(),
            done => format!("only the first {done} were changed"),
        };
        Err(OperatorError::Invalid(format!(
            "{changed}: Workers KV and the ledger took more than {} s to answer. Try again later",
            MAX_AGE_MS / 1_000
        )))
    }

    /// Ends claims. If the ledger fails, the records count after a while.
    async fn end(&self, facts: &[Fact]) {
        if let Some(ledger) = self.ledger {
            let _for_a_while = claims::confirm(ledger, facts, &self.by).await;
        }
    }

    fn is_unsure(&self, words: &str) -> OperatorError {
        if self.ledger.is_none() {
            return StoreError::Unavailable.into();
        }
        let until = date_time(self.by.at.saturating_add(claims::RECENT_MS));
        OperatorError::Invalid(format!(
            "it is not certain {words}: Workers KV did not answer. Look again in a few minutes. Until {until} nobody can \
             change it"
        ))
    }
}

fn facts(seen: &[Seen]) -> Vec<Fact> {
    seen.iter().map(|seen| seen.fact.clone()).collect()
}

// ---- What others do ------------------------------------------------------------------------------

/// The claims of facts that count more than their records.
///
/// # Errors
/// If the ledger does not answer.
pub(super) async fn recent(
    ledger: Option<&dyn Ledger>,
    facts: &[Fact],
    clock: &impl Clock,
) -> Result<Vec<Claim>> {
    let Some(ledger) = ledger else { return Ok(Vec::new()) };
    let mut claims = claims::get(ledger, facts).await?;
    claims.retain(|claim| claim.is_recent(clock.now_ms()));
    Ok(claims)
}

/// Refuses to change facts where another change has done the reverse since the form for it was made, or since its first
/// attempt. `refused` is the error for such a fact, and whose change it is.
pub(super) async fn refuse_overtaken<C: Clock, E: Entropy>(
    ledger: Option<&dyn Ledger>,
    author: &Author<'_, C, E>,
    (wanted, facts): (Wanted, &[Fact]),
    refused: impl FnOnce(&Claim) -> OperatorError,
) -> Result<()> {
    refuse_repeat(ledger, author)?;
    let (Some(ledger), Some(since_ms)) = (ledger, author.wanted_ms()) else { return Ok(()) };
    let reverse = match wanted {
        Wanted::Added => State::Gone,
        Wanted::Removed => State::Kept,
    };
    let claims = claims::get(ledger, facts).await?;
    let is_reverse = |claim: &&Claim| claim.by.at > since_ms && claim.state == reverse;
    claims.iter().find(is_reverse).map_or(Ok(()), |claim| Err(refused(claim)))
}

/// What a claim says, to one who is refused. `done` and `undone`: what was done by it, such as `added it`.
pub(super) fn in_words(claim: &Claim, done: &str, undone: &str) -> String {
    let Change { author, at, .. } = &claim.by;
    let who = if author.is_empty() { "somebody" } else { author };
    let at = date_time(*at);
    match claim.state {
        State::Kept => format!("{who} {done} at {at}"),
        State::Gone => format!("{who} {undone} at {at}"),
        State::Adding | State::Removing => format!(
            "{who} began to change it at {at}. Look again in a few minutes: if it is still locked, it can be changed after {}",
            date_time(claim.ends_ms())
        ),
    }
}
