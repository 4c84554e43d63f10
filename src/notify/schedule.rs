//! When a message is delivered again.

use super::{Outcome, done};
use crate::store::LEAST_CACHE_SECONDS;
use crate::time::DAY_MS;

/// Seconds until a message is delivered first: until then Workers KV usually shows the record everywhere.
pub const DELAY_SECONDS: u32 = 60;
/// Seconds until a message is tried again that found no record, by attempt. Workers KV may not show a
/// record for a minute.
const ABSENT_AFTER: [u32; 2] = [120, 600];
/// How long after its create a record that is still absent was never written, in milliseconds. Attempts
/// alone do not tell: those that broke off were soon repeated, without a look at the record.
const NEVER_WRITTEN_MS: u64 = 600_000;
/// Seconds until a failed message is tried again, by attempt. After the last of these waits it is given up.
pub(super) const FAILED_AFTER: [u32; 5] = [LEAST_WAIT, 300, 1_800, 7_200, 43_200];
/// Least seconds until a message is tried again that failed.
pub(super) const LEAST_WAIT: u32 = 60;
/// How long after the first attempt the last of these waits ends, in seconds.
pub const TRIED_SECONDS: u32 = {
    let [one, two, three, four, five] = FAILED_AFTER;
    one + two + three + four + five
};
/// How often the queue delivers a message again, `max_retries` of `wrangler.toml`: as often as there are waits
/// above, and for days on which the quota of the mail service is used up. Queues keeps a message for 4
/// days unless it is told otherwise, and for 14 at most.
pub const MAX_RETRIES: u32 = 15;
/// Longest wait that a mail service may ask for, in seconds: all attempts are to end within a day or so.
const MAX_WAIT: u32 = 43_200;
/// Longest wait for a quota, in seconds: the queue's own limit.
const MAX_QUOTA_WAIT: u32 = 24 * 60 * 60;
/// How long after the beginning of a day (UTC) a message is tried again that had to wait for it, in
/// milliseconds: clocks differ.
const INTO_THE_DAY_MS: u64 = 5 * 60_000;
/// How long after that a quota that is still used up is one of another day, in milliseconds: that of another
/// time zone, or what waited has used it up.
const OF_ANOTHER_DAY_MS: u64 = 60 * 60_000;
/// Seconds until it is tried again then.
const HALF_A_DAY: u32 = 43_200;
/// The least `Retry-After` that says when a quota begins anew, in seconds. A shorter one is about the rate.
const LEAST_OF_A_QUOTA: u32 = 60 * 60;
/// How long another delivery's marker may not be shown after its claim has ended, in seconds: this delivery
/// has just read that there is none, and Workers KV answers so from its cache.
const UNSEEN: u64 = LEAST_CACHE_SECONDS as u64;

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

/// What becomes of a message that failed, `after` so many seconds at the earliest. Never sooner than after
/// any other failure: the attempts would be used up in seconds.
pub(super) fn again(attempt: u32, after: Option<u32>, cause: String) -> Outcome {
    let [.., last] = FAILED_AFTER;
    let wait = nth(&FAILED_AFTER, attempt).unwrap_or(last);
    let seconds = wait.max(after.unwrap_or_default()).min(MAX_WAIT);
    Outcome::Later { seconds, cause }
}

/// Whether a message that fails at this attempt is given up.
pub(super) fn is_last(attempt: u32) -> bool {
    nth(&FAILED_AFTER, attempt).is_none()
}

/// Seconds until a message is tried again for which the quota of the mail service is used up: until the next
/// day (UTC) has begun, or for as many hours as it says.
pub(super) fn next_quota(attempt: u32, now_ms: u64, after: Option<u32>) -> u32 {
    let since_begin_ms = (now_ms + DAY_MS - INTO_THE_DAY_MS) % DAY_MS;
    let rest = u32::try_from((DAY_MS - since_begin_ms).div_ceil(1_000)).unwrap_or(MAX_QUOTA_WAIT);
    match after {
        Some(after) if after >= LEAST_OF_A_QUOTA => after.min(MAX_QUOTA_WAIT),
        _ if attempt > 1 && since_begin_ms < OF_ANOTHER_DAY_MS => HALF_A_DAY,
        _ => rest.clamp(LEAST_WAIT, MAX_QUOTA_WAIT),
    }
}

/// What becomes of a message whose round another delivery has claimed for so long.
pub(super) fn held(holds_ms: u64) -> Outcome {
    let seconds = u32::try_from(holds_ms.div_ceil(1_000) + UNSEEN).unwrap_or(MAX_WAIT);
    Outcome::Later { seconds, cause: "another delivery may be sending it".to_owned() }
}

/// The wait after an attempt, counted from 1.
fn nth(waits: &[u32], attempt: u32) -> Option<u32> {
    waits.get(attempt.saturating_sub(1) as usize).copied()
}
