//! Decides when a message is delivered again.

use super::{Outcome, done};
use crate::pledges::store::LEAST_CACHE_SECONDS;
use crate::pledges::time::DAY_MS;

/// Seconds until a message's first delivery. By then Workers KV usually shows the record everywhere.
pub const DELAY_SECONDS: u32 = 60;
/// Seconds until the next attempt if attempt 1 or attempt 2 does not find the transaction's record. Workers
/// KV may take a minute to show a new record.
const ABSENT_AFTER: [u32; 2] = [120, 600];
/// A record that is still missing this many milliseconds after the create request counts as never written.
/// The number of attempts is no proof, because an attempt may break off before it has read the record.
const NEVER_WRITTEN_MS: u64 = 600_000;
/// Seconds from a failed attempt to the next one, for attempts 1 to 5. If attempt 6 fails too, the
/// notification is given up.
pub(super) const FAILED_AFTER: [u32; 5] = [LEAST_WAIT, 300, 1_800, 7_200, 43_200];
/// Shortest wait from a failed attempt to the next one, in seconds.
pub(super) const LEAST_WAIT: u32 = 60;
/// Seconds from the first attempt to the last one: the sum of the waits after failures.
pub const TRIED_SECONDS: u32 = {
    let [one, two, three, four, five] = FAILED_AFTER;
    one + two + three + four + five
};
/// Maximum number of times that the queue delivers a message again: `max_retries` in `wrangler.toml`. It
/// allows for all waits after failures, and for some days of a used-up mail quota. Cloudflare Queues keeps a
/// message for 4 days by default, and for at most 14 days.
pub const MAX_RETRIES: u32 = 15;
/// Longest wait after a failed attempt, in seconds, even if a mail service asks for a longer one. All
/// attempts should end within about a day.
const MAX_WAIT: u32 = 43_200;
/// Longest wait for the renewal of a quota, in seconds. The queue allows no longer delay.
const MAX_QUOTA_WAIT: u32 = 24 * 60 * 60;
/// Milliseconds from midnight (UTC) until messages that waited for the mail quota are retried. The margin
/// allows for clock skew.
const INTO_THE_DAY_MS: u64 = 5 * 60_000;
/// Length of the period after the first retries of a day (UTC), in milliseconds. If the mail quota
/// is still used up in this period, a message waits for half a day, because the quota may follow
/// another time zone, or other messages may have used up the new quota.
const OF_ANOTHER_DAY_MS: u64 = 60 * 60_000;
/// Seconds until the next attempt if the mail quota is still used up shortly after midnight (UTC).
const HALF_A_DAY: u32 = 43_200;
/// A `Retry-After` of at least this many seconds means that a quota is used up. A shorter one means a rate
/// limit.
const LEAST_OF_A_QUOTA: u32 = 60 * 60;
/// Seconds between the expiry of another delivery's claim and the retry. A claim is the exclusive right to
/// send a notification. Workers KV may need these seconds to show the outcome of the other delivery.
const UNSEEN: u64 = LEAST_CACHE_SECONDS as u64;

/// Decides what happens to a message whose transaction's record KV does not show: a retry, or nothing more if
/// the record was never written. `age_ms` is the time since the create request.
pub(super) fn absent(attempt: u32, age_ms: u64) -> Outcome {
    let [.., last] = ABSENT_AFTER;
    let seconds = match nth(&ABSENT_AFTER, attempt) {
        Some(seconds) => seconds,
        None if age_ms < NEVER_WRITTEN_MS => last,
        None => return done("no such record"),
    };
    Outcome::Later { seconds, cause: "no such record yet".to_owned() }
}

/// Returns the outcome of a failed attempt: a retry after the usual wait or after `after` seconds, whichever
/// is longer. Shorter waits could use up all attempts within seconds.
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

/// Returns the seconds until the next attempt if the mail service's quota is used up. If the mail service
/// asks for a wait of at least an hour, returns that wait. Otherwise, the wait lasts until the next day
/// (UTC), or for half a day if a retry early in the day has failed.
pub(super) fn next_quota(attempt: u32, now_ms: u64, after: Option<u32>) -> u32 {
    let since_begin_ms = (now_ms + DAY_MS - INTO_THE_DAY_MS) % DAY_MS;
    let rest = u32::try_from((DAY_MS - since_begin_ms).div_ceil(1_000)).unwrap_or(MAX_QUOTA_WAIT);
    match after {
        Some(after) if after >= LEAST_OF_A_QUOTA => after.min(MAX_QUOTA_WAIT),
        _ if attempt > 1 && since_begin_ms < OF_ANOTHER_DAY_MS => HALF_A_DAY,
        _ => rest.clamp(LEAST_WAIT, MAX_QUOTA_WAIT),
    }
}

/// Returns the outcome for a notification that another delivery has claimed: a retry after the claim has
/// expired. `holds_ms` is how long the claim is still valid, in milliseconds.
pub(super) fn held(holds_ms: u64) -> Outcome {
    let seconds = u32::try_from(holds_ms.div_ceil(1_000) + UNSEEN).unwrap_or(MAX_WAIT);
    Outcome::Later { seconds, cause: "another delivery may be sending it".to_owned() }
}

/// Returns the wait after the attempt with this number, counted from 1. Returns `None` if no attempt follows.
fn nth(waits: &[u32], attempt: u32) -> Option<u32> {
    waits.get(attempt.saturating_sub(1) as usize).copied()
}
