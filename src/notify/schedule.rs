//! Decides when a message is delivered again.

use super::{Outcome, done};
use crate::store::LEAST_CACHE_SECONDS;
use crate::time::DAY_MS;

/// Seconds until a message's first delivery. By then Workers KV usually shows the record everywhere.
pub const DELAY_SECONDS: u32 = 60;
/// Seconds until the next attempt if the first or the second one does not find the transaction's record. Workers KV may
/// take a minute to show a new record.
const ABSENT_AFTER: [u32; 2] = [120, 600];
/// A record that is still missing this many milliseconds after the create request counts as never written. The number
/// of attempts does not prove that, because an attempt that breaks off is soon retried without having read the record.
const NEVER_WRITTEN_MS: u64 = 600_000;
/// Seconds until the next attempt after attempts 1 to 5 failed. If the attempt after the last wait fails too, the
/// message is given up.
pub(super) const FAILED_AFTER: [u32; 5] = [LEAST_WAIT, 300, 1_800, 7_200, 43_200];
/// Least number of seconds until the next attempt after a failure.
pub(super) const LEAST_WAIT: u32 = 60;
/// Seconds from the first attempt to the last one: the sum of the waits after failures.
pub const TRIED_SECONDS: u32 = {
    let [one, two, three, four, five] = FAILED_AFTER;
    one + two + three + four + five
};
/// How often the queue delivers a message again: `max_retries` in `wrangler.toml`. This is enough for all waits after
/// failures, and for some days of a used-up mail quota. Queues keeps a message for 4 days by default, and for at most
/// 14 days.
pub const MAX_RETRIES: u32 = 15;
/// Longest wait that a mail service may ask for, in seconds. All attempts should end within about a day.
const MAX_WAIT: u32 = 43_200;
/// Longest wait for a quota, in seconds. It is the queue's own limit.
const MAX_QUOTA_WAIT: u32 = 24 * 60 * 60;
/// How long after the beginning of a day (UTC) a message that waited for the mail quota is retried, in milliseconds.
/// The margin allows for clock skew.
const INTO_THE_DAY_MS: u64 = 5 * 60_000;
/// If the mail quota is still used up within this many milliseconds after the retries at the beginning of a day, a
/// message waits for half a day. Either the quota's day follows another time zone, or other waiting messages have
/// already used the quota up.
const OF_ANOTHER_DAY_MS: u64 = 60 * 60_000;
/// Seconds until the next attempt if the quota is still used up shortly after a day has begun.
const HALF_A_DAY: u32 = 43_200;
/// A `Retry-After` of at least this many seconds counts as the wait for a quota. A shorter one belongs to a rate limit.
const LEAST_OF_A_QUOTA: u32 = 60 * 60;
/// How many seconds after the end of a claim a retry must wait, so that it sees the marker of the delivery that had the
/// claim. The current delivery has just read that there is no marker, and Workers KV caches that result.
const UNSEEN: u64 = LEAST_CACHE_SECONDS as u64;

/// Decides what happens to a message if KV does not show the transaction's record. KV may show it later. `age_ms` is
/// the time since the create request.
pub(super) fn absent(attempt: u32, age_ms: u64) -> Outcome {
    let [.., last] = ABSENT_AFTER;
    let seconds = match nth(&ABSENT_AFTER, attempt) {
        Some(seconds) => seconds,
        None if age_ms < NEVER_WRITTEN_MS => last,
        None => return done("no such record"),
    };
    Outcome::Later { seconds, cause: "no such record yet".to_owned() }
}

/// Returns the outcome of a failed attempt: a retry, not before `after` seconds. The wait is never shorter than the
/// usual wait after a failure, so that the attempts are not used up within seconds.
pub(super) fn again(attempt: u32, after: Option<u32>, cause: String) -> Outcome {
    let [.., last] = FAILED_AFTER;
    let wait = nth(&FAILED_AFTER, attempt).unwrap_or(last);
    let seconds = wait.max(after.unwrap_or_default()).min(MAX_WAIT);
    Outcome::Later { seconds, cause }
}

/// Returns whether a message is given up if this attempt fails.
pub(super) fn is_last(attempt: u32) -> bool {
    nth(&FAILED_AFTER, attempt).is_none()
}

/// Returns the seconds until the next attempt if the mail service's quota is used up: until the next day (UTC) has
/// begun, or the time that the mail service asks for if that is at least an hour.
pub(super) fn next_quota(attempt: u32, now_ms: u64, after: Option<u32>) -> u32 {
    let since_begin_ms = (now_ms + DAY_MS - INTO_THE_DAY_MS) % DAY_MS;
    let rest = u32::try_from((DAY_MS - since_begin_ms).div_ceil(1_000)).unwrap_or(MAX_QUOTA_WAIT);
    match after {
        Some(after) if after >= LEAST_OF_A_QUOTA => after.min(MAX_QUOTA_WAIT),
        _ if attempt > 1 && since_begin_ms < OF_ANOTHER_DAY_MS => HALF_A_DAY,
        _ => rest.clamp(LEAST_WAIT, MAX_QUOTA_WAIT),
    }
}

/// Returns the outcome for a round that another delivery has claimed: a retry after the claim has ended. `holds_ms` is
/// how much longer the claim is valid.
pub(super) fn held(holds_ms: u64) -> Outcome {
    let seconds = u32::try_from(holds_ms.div_ceil(1_000) + UNSEEN).unwrap_or(MAX_WAIT);
    Outcome::Later { seconds, cause: "another delivery may be sending it".to_owned() }
}

/// Returns the wait after an attempt; attempts are counted from 1.
fn nth(waits: &[u32], attempt: u32) -> Option<u32> {
    waits.get(attempt.saturating_sub(1) as usize).copied()
}
