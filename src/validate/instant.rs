//! RFC 3339 date-times as instants.

use super::format::{after_fraction, is_date_time, offset_minutes};
use time::{Date, Month};

/// The Julian day of 1970-01-01.
const EPOCH: i32 = 2_440_588;

/// Seconds from 1970 to a date-time of any offset, negative before, without its fraction. A leap second
/// counts as the second before it. `None` for any other text.
///
/// The digits have fixed places, and [`is_date_time`] has checked them: the parser of the crate `time`
/// would add 10 KB to the Worker.
pub fn instant(date_time: &str) -> Option<i64> {
    if !is_date_time(date_time.as_bytes()) {
        return None;
    }
    let digits = |from, to| date_time.get(from..to)?.parse::<u8>().ok();
    let year = date_time.get(..4)?.parse().ok()?;
    let month = Month::try_from(digits(5, 7)?).ok()?;
    let date = Date::from_calendar_date(year, month, digits(8, 10)?).ok()?;
    let days = i64::from(date.to_julian_day() - EPOCH);
    let hours = days * 24 + i64::from(digits(11, 13)?);
    let minutes = hours * 60 + i64::from(digits(14, 16)?);
    let offset = offset_minutes(after_fraction(date_time.as_bytes().get(19..)?)?)?;
    Some((minutes - i64::from(offset)) * 60 + i64::from(digits(17, 19)?.min(59)))
}
