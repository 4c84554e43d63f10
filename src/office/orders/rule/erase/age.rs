//! Checks that a transaction is old enough to be erased.

use crate::office::orders::rule::record::Record;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::pledges::service::Clock;
use crate::pledges::time::age_ms;

/// The age that a transaction and its replay record must have before an erasure, in milliseconds. Workers
/// KV shows a write only after about 60 s. Until then, a repeated create request may not see the replay
/// record, and would write the transaction again.
const SEEN_AFTER_MS: u64 = ERASABLE_MINUTES * 60_000;
/// Minimum age of a transaction for an erasure, in minutes.
pub const ERASABLE_MINUTES: u64 = 5;

/// Checks that a transaction can be erased, and writes nothing.
///
/// # Errors
/// If the transaction is damaged or too young.
pub fn check_erasable(clock: &impl Clock, record: &Record) -> Result<()> {
    let created_at = record.transaction()?.created_at;
    refuse_young(record, &created_at, clock.now_ms(), "was created")
}

/// Returns an error if `event`, such as `was created`, is so recent that a repeated create request could
/// bring back the erased data. `time` is when the event happened.
pub(super) fn refuse_young(record: &Record, time: &str, now_ms: u64, event: &str) -> Result<()> {
    let age_ms = age_ms(time, now_ms).ok_or_else(|| {
        record.damaged_by("a time in the transaction's records is not a valid date-time")
    })?;
    if age_ms >= SEEN_AFTER_MS {
        return Ok(());
    }
    let seconds = (SEEN_AFTER_MS - age_ms).div_ceil(1_000);
    Err(OperatorError::invalid(format!(
        "the transaction {event} less than {ERASABLE_MINUTES} minutes ago, so a repeated create \
         request could bring its data back. Nothing was erased: try again in {seconds} s"
    )))
}
