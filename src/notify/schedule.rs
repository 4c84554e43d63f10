//! When a message is delivered again.

use super::{Outcome, done};

/// Seconds until a message is delivered first: until then Workers KV usually shows the record everywhere.
pub const DELAY_SECONDS: u32 = 60;
/// Seconds until a message is tried again that found no record, by attempt. Workers KV may not show a
/// record for a minute.
const ABSENT_AFTER: [u32; 2] = [120, 600];
/// How long after its create a record that is still absent was never written, in milliseconds. Attempts
/// alone do not tell: those that broke off were soon repeated, without a look at the record.
const NEVER_WRITTEN_MS: u64 = 600_000;
/// Seconds until a failed message is tried again, by attempt.
const FAILED_AFTER: [u32; 5] = [60, 300, 1_800, 7_200, 43_200];
/// How long after the first attempt the last one is, in seconds.
pub const TRIED_SECONDS: u32 = {
    let [one, two, three, four, five] = FAILED_AFTER;
    one + two + three + four + five
};
/// Longest wait that a mail service may ask for, in seconds: the queue's own limit.
const MAX_WAIT: u32 = 43_200;

/// What becomes of a message whose record is not shown so long after its create: it may be shown later.
pub(super) fn absent(attempt: u32, age_ms: u64) -> Outcome {
    let [.., last] = ABSENT_AFTER;
    let seconds = match nth(&ABSENT_AFTER, attempt) {
        Some(seconds) => seconds,
        None if age_ms < NEVER_WRITTEN_MS => last,
        None => return done("no such record"),
    };
    Outcome::Later { seconds, cause: "no such record yet".to_owned() }
}

/// What becomes of a message that failed. After the last attempt the queue takes it away.
pub(super) fn again(attempt: u32, cause: String) -> Outcome {
    Outcome::Later { seconds: wait(attempt), cause }
}

/// The same, `after` so many seconds at the earliest. Never sooner than after any other failure: the
/// attempts would be used up in seconds.
pub(super) fn again_after(attempt: u32, after: Option<u32>, cause: String) -> Outcome {
    let seconds = wait(attempt).max(after.unwrap_or_default()).min(MAX_WAIT);
    Outcome::Later { seconds, cause }
}

/// The seconds until a failed message is tried again.
fn wait(attempt: u32) -> u32 {
    let [.., last] = FAILED_AFTER;
    nth(&FAILED_AFTER, attempt).unwrap_or(last)
}

/// The wait after an attempt, counted from 1.
fn nth(waits: &[u32], attempt: u32) -> Option<u32> {
    waits.get(attempt.saturating_sub(1) as usize).copied()
}
