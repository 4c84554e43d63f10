//! Times that several parts of the simulation use, and conversions of times.

use impact_pledge::pledges::time::parse_ms;
use serde_json::Value;

/// The time at which virtual time begins, 2026-01-31T12:00:00Z, in milliseconds since 1970.
pub const EPOCH_MS: u64 = 1_769_860_800_000;
/// The maximum difference between two clocks, in milliseconds.
pub const APART_MS: u64 = 10_000;
/// The longest delay until an unconfirmed write arrives, in milliseconds.
pub const LATEST_WRITE_MS: u64 = 120_000;
/// How long an isolate caches a key, the prices or a settlement.
pub const ISOLATE_MS: u64 = 10_000;
/// The maximum time for which the computer of a caller sleeps, in milliseconds.
pub const SLEEP_MS: u64 = 600_000;

/// Converts a time of the ledger (milliseconds since 1970) to virtual time. The result may be wrong by 5 s, as
/// the ledger's clock may be.
pub fn virtual_ms(time_ms: u64) -> u64 {
    time_ms.saturating_sub(EPOCH_MS)
}

/// Returns when a transaction was created, in milliseconds since 1970.
pub fn created_ms(created_at: &Value) -> Option<u64> {
    created_at.as_str().and_then(parse_ms)
}
