//! Facts about a request for the operator's log: nothing secret or personal.

use super::Clock;
use crate::auth::KeyHash;
use crate::scope::Mode;
use crate::store::MailState;
use crate::validate::{Code, Issue};
use std::cell::{Cell, OnceCell};

/// The facts about one request, collected while it is served.
#[derive(Debug, Default)]
pub struct Journal {
    /// The API key of the request, accepted or not.
    pub(super) key: Cell<Option<KeyHash>>,
    /// The mode of the API key, once it is accepted: also if the unit is then refused (§5.3).
    pub(super) mode: Cell<Option<Mode>>,
    /// The unit, once it is accepted.
    pub(super) unit: OnceCell<String>,
    /// The first issue of an invalid request.
    pub(super) issue: OnceCell<LoggedIssue>,
    /// The ID of the transaction that a create records or repeats.
    pub(super) transaction: OnceCell<String>,
    /// Whether a create is answered as an earlier one.
    pub(super) is_repeat: Cell<bool>,
    waits: Cell<Waits>,
    /// Number of pledges that were recorded without a price, though there is a catalogue.
    pub(super) unpriced: Cell<Option<usize>>,
    /// What became of the e-mail that was asked for, if it never reached the queue.
    pub(super) mail: Cell<Option<MailState>>,
}

/// An issue without the caller's own text.
#[derive(Debug)]
pub struct LoggedIssue {
    pub code: Code,
    /// The JSON Pointer of the value; of a member that is not in the contract, its object's.
    pub pointer: String,
}

impl From<&Issue<'_>> for LoggedIssue {
    fn from(issue: &Issue<'_>) -> Self {
        LoggedIssue { code: issue.code(), pointer: issue.path().known().to_string() }
    }
}

/// The waits for the store; those that overlap count once.
#[derive(Clone, Copy, Debug, Default)]
struct Waits {
    running: usize,
    since_ms: u64,
    total_ms: u64,
}

/// A wait for the store, which ends when this is dropped.
struct Wait<'j, C: Clock> {
    journal: &'j Journal,
    clock: &'j C,
}

impl Journal {
    /// Waits for the store, and adds up the time.
    pub(super) async fn wait<T>(&self, clock: &impl Clock, work: impl Future<Output = T>) -> T {
        let _wait = self.begin_wait(clock);
        work.await
    }

    fn begin_wait<'j, C: Clock>(&'j self, clock: &'j C) -> Wait<'j, C> {
        let mut waits = self.waits.get();
        if waits.running == 0 {
            waits.since_ms = clock.now_ms();
        }
        waits.running += 1;
        self.waits.set(waits);
        Wait { journal: self, clock }
    }

    /// How many milliseconds the store was waited for.
    pub(super) fn waited_ms(&self) -> u64 {
        self.waits.get().total_ms
    }
}

impl<C: Clock> Drop for Wait<'_, C> {
    fn drop(&mut self) {
        let mut waits = self.journal.waits.get();
        waits.running -= 1;
        if waits.running == 0 {
            waits.total_ms += self.clock.now_ms().saturating_sub(waits.since_ms);
        }
        self.journal.waits.set(waits);
    }
}
