//! Facts about a request for the operator's log. None is secret or personal.

use super::Clock;
use crate::pledges::auth::KeyHash;
use crate::pledges::scope::Mode;
use crate::pledges::types::NotificationService;
use crate::pledges::validate::{Code, Issue};
use std::cell::{Cell, OnceCell, RefCell};

/// The facts about one request, collected while it is served.
#[derive(Debug, Default)]
pub struct RequestLog {
    /// The API key of the request, whether accepted or refused.
    pub(super) key: Cell<Option<KeyHash>>,
    /// The mode of the API key, once the key is accepted. The mode stays set even if the unit is refused
    /// afterwards (§5.3).
    pub(super) mode: Cell<Option<Mode>>,
    /// The unit that the request acts for, once the unit is accepted.
    pub(super) unit: OnceCell<String>,
    pub(super) issue: OnceCell<LoggedIssue>,
    /// The ID of the transaction that a create request records or replays.
    pub(super) transaction: OnceCell<String>,
    /// Whether the answer is an idempotent replay.
    pub(super) is_repeat: Cell<bool>,
    waits: Cell<Waits>,
    /// Number of pledges that were recorded without a price although there is a price list.
    pub(super) unpriced: Cell<Option<usize>>,
    /// The requested notification services whose message never reached the queue.
    pub(super) unsent: RefCell<Vec<NotificationService>>,
}

/// An issue of an invalid request, in the form in which it is logged: without any text that the caller wrote.
#[derive(Debug)]
pub struct LoggedIssue {
    pub code: Code,
    /// The JSON Pointer to the value. For a member that is not in the contract, it points to the object
    /// around the member, because the caller made up the member's name.
    pub pointer: String,
}

impl From<&Issue<'_>> for LoggedIssue {
    fn from(issue: &Issue<'_>) -> Self {
        LoggedIssue { code: issue.code(), pointer: issue.path().known().to_string() }
    }
}

/// The time spent waiting for the store. Waits that overlap count once.
#[derive(Clone, Copy, Debug, Default)]
struct Waits {
    running: usize,
    since_ms: u64,
    total_ms: u64,
}

/// A wait for the store. It ends when this value is dropped.
struct Wait<'j, C: Clock> {
    request_log: &'j RequestLog,
    clock: &'j C,
}

impl RequestLog {
    /// Awaits a call of the store, and adds its duration to the request's waiting time.
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
        Wait { request_log: self, clock }
    }

    /// Returns how long the request waited for the store, in milliseconds.
    pub(super) fn waited_ms(&self) -> u64 {
        self.waits.get().total_ms
    }
}

impl<C: Clock> Drop for Wait<'_, C> {
    fn drop(&mut self) {
        let mut waits = self.request_log.waits.get();
        waits.running -= 1;
        if waits.running == 0 {
            waits.total_ms += self.clock.now_ms().saturating_sub(waits.since_ms);
        }
        self.request_log.waits.set(waits);
    }
}
