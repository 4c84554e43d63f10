//! Stores the sums of days that have ended. With them, a sum over months reads a few rows for each day.
//! Transactions are read only for days without stored sums, such as the current one.
//!
//! Stored sums are always exact. One database transaction computes and writes those of a day. If a transaction of
//! the day changes, a trigger removes the day's sums in the same database transaction.

use crate::office::fulfilment::rows::day_quantities::StoreQuantities;
use crate::office::payments::rows::day_charges::StoreCharges;
use crate::office::shared::rows::port::{Ledger, Query, Result, ask};
use crate::pledges::service::Clock;
use crate::pledges::time::DAY_MS;
use serde::Serialize;

/// How long after a day's end its sums are stored, in milliseconds. By then the day's messages have usually
/// arrived.
const STORED_AFTER_MS: u64 = 3_600_000;
/// Number of past days for which sums are stored: ten years. Earlier days are summed from their transactions.
const MAX_DAYS: u64 = 3_660;

/// Stores the sums of ended days without stored sums, newest day first. Makes at most `calls` calls, and begins
/// no call after `until_ms`. Returns the number of days whose sums it stored.
///
/// # Errors
/// If the ledger does not answer. The sums of some days may have been stored then.
pub async fn store_days(
    ledger: &dyn Ledger,
    clock: &impl Clock,
    calls: u32,
    until_ms: u64,
) -> Result<u32> {
    let Some(most) = calls.checked_sub(1) else { return Ok(0) };
    let today = clock.now_ms().saturating_sub(STORED_AFTER_MS) / DAY_MS;
    let missing = ask(ledger, &Missing { today, max_days: MAX_DAYS, most }).await?;
    let mut stored = 0;
    for day in missing {
        if clock.now_ms() >= until_ms {
            break;
        }
        store(ledger, day).await?;
        stored += 1;
    }
    Ok(stored)
}

/// Stores the sums of a day. The quantities come last, because a day has sums once their rows are there.
async fn store(ledger: &dyn Ledger, day: u64) -> Result<()> {
    let statements = [StoreCharges { day }.statement()?, StoreQuantities::of(day).statement()?];
    ledger.run(&statements).await.map(drop)
}

/// Selects the ended days without stored sums, newest first, back to the day of the first transaction.
#[derive(Serialize)]
struct Missing {
    today: u64,
    max_days: u64,
    most: u32,
}

impl Query for Missing {
    type Row = u64;
    const SQL: &'static str = "WITH RECURSIVE first AS MATERIALIZED (
  SELECT max(min((SELECT min(created) FROM transactions t WHERE t.scope = scopes.scope)) / 86400000,
    ?1 ->> '$.today' - ?1 ->> '$.max_days') AS day FROM scopes
), days AS (
  SELECT ?1 ->> '$.today' AS day UNION ALL SELECT days.day - 1 FROM days CROSS JOIN first WHERE days.day > first.day
)
SELECT json(day) FROM days
WHERE day < ?1 ->> '$.today' AND NOT EXISTS (SELECT 1 FROM day_quantities stored WHERE stored.day = days.day)
ORDER BY day DESC LIMIT ?1 ->> '$.most'";
}
