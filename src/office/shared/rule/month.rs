//! Months in words.

use crate::pledges::settlement::Month;

pub(crate) const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Writes a month as `Oct 2026`.
pub(crate) fn month(month: Month) -> String {
    let text = month.to_string();
    let words = text.split_once('-').and_then(|(year, month)| {
        let name = MONTHS.get(month.parse::<usize>().ok()?.checked_sub(1)?)?;
        Some([name, " ", year].concat())
    });
    words.unwrap_or(text)
}
