//! The months of a simulation, and the shop whose months only operators' commands mark as paid.

use crate::callers::Scope;

/// The months whose sums are checked. A simulation's virtual time begins on 2026-01-31.
pub const MONTHS: &[&str] = &["2026-01", "2026-02", "2026-03", "2026-04"];
pub const DAY_MS: u64 = 24 * 60 * 60_000;
/// The month in which virtual time begins.
pub const MONTH: &str = "2026-01";
/// The virtual time at which January counts as ended: one day after its last moment.
pub const ENDED_MS: u64 = 36 * 60 * 60_000;
/// The months that can end during a simulation, and the virtual time at which each counts as ended.
pub const ENDS: &[(&str, u64)] =
    &[(MONTH, ENDED_MS), ("2026-02", ENDED_MS + 28 * DAY_MS), ("2026-03", ENDED_MS + 59 * DAY_MS)];
/// The shop for which only operators' commands mark months as paid.
pub const SHOP: Scope = ("live", "unit_2");
/// The maximum delay until a person begins a payment.
pub const PAUSE_MS: u64 = 60_000;

/// Returns the name of the payment record of a shop's month.
pub fn settlement((mode, unit): (&str, &str), month: &str) -> String {
    format!("settlement:{mode}:{unit}:{month}")
}
