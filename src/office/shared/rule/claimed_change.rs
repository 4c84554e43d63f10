//! Changes facts that several people may change at the same time: whether a month is paid, or whether a
//! unit is in a team. Meanwhile, a claim (a row in the ledger) locks the fact.
//!
//! A change takes four steps:
//! 1. Write its entry to the audit log. The entry identifies the change.
//! 2. Claim the fact in the ledger. Only one person can have the claim.
//! 3. Write the fact's record to KV. The API reads this record.
//! 4. End the claim.
//!
//! A change may stop before it has ended its claim. Then the KV record decides, once KV is sure to show it.
//! The next person's change or a reconciliation pass reads the record. So the fact always agrees with what
//! the person was shown:
//!
//! | stops after | the person was shown | the record | the fact |
//! |---|---|---|---|
//! | the entry | nothing, or not done | unchanged | unchanged |
//! | the claim, or while the ledger fails | nothing, or not done | unchanged | unchanged |
//! | a write of the record that failed | not done | unchanged | unchanged |
//! | a write without an answer | may be done | unchanged or changed | as the record |
//! | the record | nothing, or done | changed | changed |
//! | the end of the claim | done | changed | changed |

use super::error::{OperatorError, Result};
use crate::office::audit::rule::{Author, Entry};
use crate::office::shared::rows::claims;
use crate::office::shared::rows::claims::{
    Change, Claim, ClaimOutcome, Fact, ObservedFact, State, TargetState,
};
use crate::office::shared::rows::port::Ledger;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{Key as _, OperatorStore, StoreError};
use crate::pledges::time::date_time;

/// Longest time between writing a change's audit log entry and beginning to write its record, in
/// milliseconds. [`claims::RECENT_MS`] relies on this limit.
const MAX_AGE_MS: u64 = 30_000;
/// Maximum number of times that a claim is retried while another person's change is under way.
/// `PAUSE_MS` is the pause before each retry, in milliseconds. The other change may fail. If this
/// change were refused at once, nobody would have made the change.
const TRIES: usize = 3;
const PAUSE_MS: u32 = 1_000;

/// A change that has begun: its entry is in the audit log.
pub(crate) struct ClaimedChange<'c, S, C, E> {
    store: &'c S,
    ledger: &'c dyn Ledger,
    author: &'c Author<'c, C, E>,
    entry: Entry,
    by: Change,
}

impl<'c, S: OperatorStore, C: Clock, E: Entropy> ClaimedChange<'c, S, C, E> {
    /// Begins a change by writing its entry to the audit log. `on` receives the time of the change, and
    /// returns the IDs of the things that the change concerns.
    ///
    /// # Errors
    /// If it is not certain that the entry was written.
    pub async fn begin(
        store: &'c S,
        ledger: &'c dyn Ledger,
        author: &'c Author<'c, C, E>,
        command: &str,
        on: impl FnOnce(&str) -> Vec<String>,
    ) -> Result<Self> {
        let entry = author.begin_entry(store, command, on).await?;
        let (change, author_name) = (entry.key.name(), author.by.to_owned());
        let by = Change { change, author: author_name, at: entry.key.time_ms() };
        Ok(ClaimedChange { store, ledger, author, entry, by })
    }

    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// Claims all facts, so that nobody else can change them. Waits up to 3 s for other changes of the facts that
    /// are under way. If any fact cannot be claimed, claims none, and returns the error that `refused` creates.
    /// `refused` receives the first fact that could not be claimed, and another person's claim on this fact, if
    /// any.
    ///
    /// # Errors
    /// If the ledger does not answer, or a fact cannot be claimed. The change is then given up.
    pub async fn claim_all(
        &self,
        wanted: TargetState,
        seen: &[ObservedFact],
        refused: impl FnOnce(&Fact, Option<&Claim>) -> OperatorError,
    ) -> Result<()> {
        let mut turns = self.claim(wanted, seen).await?;
        for _ in 0..TRIES {
            if !turns.iter().any(is_under_way) {
                break;
            }
            self.store.pause(PAUSE_MS).await;
            turns = self.claim(wanted, seen).await?;
        }
        let error = match seen.iter().zip(&turns).find(|(_, turn)| **turn != ClaimOutcome::Ours) {
            None => return Ok(()),
            Some((seen, ClaimOutcome::Theirs(claim))) => refused(&seen.fact, Some(claim)),
            Some((seen, _)) => refused(&seen.fact, None),
        };
        Err(self.give_up(&facts(seen), error).await)
    }

    /// Claims facts. Returns the results in the order of the facts.
    ///
    /// # Errors
    /// If the ledger does not answer. The change is then given up.
    pub async fn claim(
        &self,
        wanted: TargetState,
        seen: &[ObservedFact],
    ) -> Result<Vec<ClaimOutcome>> {
        match claims::claim(self.ledger, wanted, seen, &self.by).await {
            Ok(turns) => Ok(turns),
            Err(error) => Err(self.give_up(&facts(seen), error.into()).await),
        }
    }

    /// Gives up the change before a record is written: releases the claims and withdraws the entry. Returns `error`.
    pub async fn give_up(&self, facts: &[Fact], error: OperatorError) -> OperatorError {
        self.release(facts).await;
        self.withdraw().await;
        error
    }

    pub async fn withdraw(&self) {
        self.author.withdraw(self.store, &self.entry).await;
    }

    /// Releases claims. If the ledger fails, they block other changes only until they expire.
    async fn release(&self, facts: &[Fact]) {
        let _for_a_while = claims::give_up(self.ledger, facts, &self.by).await;
    }

    /// Writes or removes the record of each claimed fact, and ends the claims.
    ///
    /// # Errors
    /// If it is not certain that a record was written. The records after it are then unchanged. If the record
    /// may have been written, the error contains the text that `unsure` returns.
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

    /// Refuses to continue if the change is older than [`MAX_AGE_MS`]. `done` is the number of records that
    /// were already written.
    fn check_age(&self, done: usize) -> Result<()> {
        if self.author.clock.now_ms().saturating_sub(self.by.at) < MAX_AGE_MS {
            return Ok(());
        }
        let changed = match done {
            0 => "nothing was changed".to_owned(),
            done => format!("only the first {done} changes were made"),
        };
        Err(OperatorError::invalid(format!(
            "{changed}: Workers KV and the ledger took more than {} s to answer. Try again later",
            MAX_AGE_MS / 1_000
        )))
    }

    /// Ends claims. If the ledger fails, the claims expire. After that, the records in KV decide which
    /// facts are true.
    async fn end(&self, facts: &[Fact]) {
        let _for_a_while = claims::confirm(self.ledger, facts, &self.by).await;
    }

    fn is_unsure(&self, words: &str) -> OperatorError {
        let until = date_time(self.by.at.saturating_add(claims::RECENT_MS));
        OperatorError::invalid(format!(
            "it is not certain {words}, because Workers KV did not answer. Check again in a few \
             minutes. Another change is possible after {until}"
        ))
    }
}

fn is_under_way(turn: &ClaimOutcome) -> bool {
    let is_pending = |claim: &Claim| matches!(claim.state, State::Adding | State::Removing);
    matches!(turn, ClaimOutcome::Theirs(claim) if is_pending(claim))
}

fn facts(seen: &[ObservedFact]) -> Vec<Fact> {
    seen.iter().map(|seen| seen.fact.clone()).collect()
}

// ---- Claims of others ----------------------------------------------------------------------------

/// Returns the recent claims on these facts. KV may show a changed record late, so a recent claim takes
/// precedence over the record.
pub(crate) async fn recent(
    ledger: &dyn Ledger,
    facts: &[Fact],
    clock: &impl Clock,
) -> Result<Vec<Claim>> {
    let mut claims = claims::get(ledger, facts).await?;
    claims.retain(|claim| claim.is_recent(clock.now_ms()));
    Ok(claims)
}

/// Refuses an outdated change. A change is outdated if another change set one of its facts to the opposite
/// after the person opened the form, or after the first attempt. `refused` creates the error from the other
/// change's claim.
pub(crate) async fn refuse_overtaken<C: Clock, E: Entropy>(
    ledger: &dyn Ledger,
    author: &Author<'_, C, E>,
    (wanted, facts): (TargetState, &[Fact]),
    refused: impl FnOnce(&Claim) -> OperatorError,
) -> Result<()> {
    let Some(since_ms) = author.wanted_ms() else { return Ok(()) };
    let reverse = match wanted {
        TargetState::Added => State::Gone,
        TargetState::Removed => State::Kept,
    };
    let claims = claims::get(ledger, facts).await?;
    let is_reverse = |claim: &&Claim| claim.by.at > since_ms && claim.state == reverse;
    claims.iter().find(is_reverse).map_or(Ok(()), |claim| Err(refused(claim)))
}

/// Describes a claim to the person whose change it blocks. `done` and `undone` are words for what the claimed
/// change did, such as `added it`.
pub(crate) fn in_words(claim: &Claim, done: &str, undone: &str) -> String {
    let Change { author, at, .. } = &claim.by;
    let who = if author.is_empty() { "somebody" } else { author };
    let at = date_time(*at);
    match claim.state {
        State::Kept => format!("{who} {done} at {at}"),
        State::Gone => format!("{who} {undone} at {at}"),
        State::Adding | State::Removing => format!(
            "{who} began another change at {at}. Check again in a few minutes. If your change is still \
             refused then, try again after {}",
            date_time(claim.ends_ms())
        ),
    }
}
