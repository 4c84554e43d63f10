//! Arguments of operations on fulfilments.

use crate::office::shared::operation::spec::{Argument, mode, month};

pub(super) const MONTH: Argument = month("the month of the pledges, in UTC, such as 2026-10");
pub(super) const MODE: Argument =
    mode("whether the fulfilment is for live or for test pledges").or("live");
/// Describes the JSON of a fulfilment.
pub(super) const FULFILMENT: &str = "`id`, `mode`, `month`, `offering`; `quantity`: an exact decimal; `doneOn`: the day on which it was done; `partner`, `location` (`--place`), `report`: each `null` if not given; `by` and `at`: who recorded it, and when";
/// Number of months that are shown if no month is given: the current month and those before it.
pub(super) const MONTHS: usize = 12;
/// Largest number of rows that are printed.
pub(super) const MOST: usize = 10_000;
