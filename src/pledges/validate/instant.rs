//! Converts RFC 3339 date-times to seconds since 1970.

use super::format::is_date_time;
use time::{Date, Month};

/// The Julian day of 1970-01-01.
const EPOCH: i32 = 2_440_588;

/// Returns the seconds from 1970 to a date-time with any offset; negative before 1970. The fraction is
/// dropped. A leap second counts as the second before it. Returns `None` for any other text.
///
/// [`is_date_time`] checks the text first, so that each digit is at a known position. The parser of the crate
/// `time` would add 10 KB to the Worker.
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
    let seconds = minutes * 60 + i64::from(digits(17, 19)?.min(59));
    Some(seconds - offset(date_time.get(19..)?))
}

/// Parses the part of a date-time after its seconds, such as `.123+01:00` or `Z`. Returns how many seconds
/// local time is ahead of UTC.
fn offset(rest: &str) -> i64 {
    let offset = rest.trim_start_matches(|mark: char| mark == '.' || mark.is_ascii_digit());
    let digits = |from, to| offset.get(from..to).and_then(|digits| digits.parse().ok());
    let minutes = digits(1, 3).unwrap_or(0) * 60 + digits(4, 6).unwrap_or(0);
    if offset.starts_with('-') { minutes * -60 } else { minutes * 60 }
}
