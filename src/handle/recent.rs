//! The answers to the last repeatable creates of an isolate. Workers KV may not show a write for a
//! minute, but a repeat after a second has to be answered as one.

use crate::idempotency::{Replay, ReplayHash};
use std::cell::RefCell;
use std::collections::VecDeque;

/// How long an answer is kept, in milliseconds: twice what a write usually takes to be seen.
const LIFETIME_MS: u64 = 120_000;
/// Most answers that are kept.
const MAX_ANSWERS: usize = 512;
/// Most bytes of all answers: 4 MiB, more than the largest one has.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// The last answers, the oldest first.
#[derive(Debug, Default)]
pub struct RecentAnswers(RefCell<VecDeque<RecentAnswer>>);

#[derive(Debug)]
struct RecentAnswer {
    hash: ReplayHash,
    replay: Replay,
    body: Vec<u8>,
    expires_ms: u64,
}

impl RecentAnswers {
    /// Keeps the answer to a create that was recorded.
    pub fn keep(&self, hash: ReplayHash, replay: Replay, body: Vec<u8>, now_ms: u64) {
        let expires_ms = now_ms.saturating_add(LIFETIME_MS);
        let mut answers = self.0.borrow_mut();
        answers.push_back(RecentAnswer { hash, replay, body, expires_ms });
        while answers.len() > MAX_ANSWERS || bytes_of(&answers) > MAX_BYTES {
            answers.pop_front(); // the oldest
        }
    }

    /// The number of answers.
    pub fn count(&self) -> usize {
        self.0.borrow().len()
    }

    /// The bytes of all answers.
    pub fn bytes(&self) -> usize {
        bytes_of(&self.0.borrow())
    }

    /// The answer that this transaction was created with.
    pub fn body(&self, id: &str, now_ms: u64) -> Option<Vec<u8>> {
        self.find(now_ms, |answer| (answer.replay.id == id).then(|| answer.body.clone()))
    }

    /// The replay record that was written last under this idempotency key.
    pub fn replay(&self, hash: ReplayHash, now_ms: u64) -> Option<Replay> {
        self.find(now_ms, |answer| (answer.hash == hash).then(|| answer.replay.clone()))
    }

    fn find<T>(&self, now_ms: u64, pick: impl Fn(&RecentAnswer) -> Option<T>) -> Option<T> {
        let answers = self.0.borrow();
        answers.iter().rev().filter(|answer| now_ms < answer.expires_ms).find_map(pick)
    }
}

fn bytes_of(answers: &VecDeque<RecentAnswer>) -> usize {
    answers.iter().map(|answer| answer.body.len()).sum()
}
