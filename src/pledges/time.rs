//! Times as text (RFC 3339 date-times in UTC), and time zones.

use ::time::{Date, OffsetDateTime};
use std::ops::RangeInclusive;
use std::time::{Duration, SystemTime};

pub const DAY_MS: u64 = 24 * 60 * 60_000;
/// How far the clocks of two operators' machines may differ, in milliseconds.
pub const SKEW_MS: u64 = 5 * 60_000;

/// Formats a time with milliseconds, such as `2026-01-31T12:00:00.000Z`. `now_ms` is counted from 1970.
pub fn date_time(now_ms: u64) -> String {
    let now = SystemTime::UNIX_EPOCH + Duration::from_millis(now_ms);
    humantime::format_rfc3339_millis(now).to_string()
}

/// Formats a time with seconds, such as `2026-01-31T12:00:00Z`. `seconds` are counted from 1970.
pub fn date_time_in_seconds(seconds: u64) -> String {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    humantime::format_rfc3339_seconds(time).to_string()
}

/// Returns the day of a formatted time: `2026-01-31`.
pub fn day_of(date_time: &str) -> &str {
    date_time.get(..10).unwrap_or_default()
}

/// Parses a date-time, and returns its milliseconds since 1970. This is the reverse of [`date_time`].
///
/// Returns `None` for a text that is not a date-time, for an offset other than `Z`, and for a time before
/// 1970.
pub fn parse_ms(date_time: &str) -> Option<u64> {
    let time = humantime::parse_rfc3339(date_time).ok()?;
    let since_1970 = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    u64::try_from(since_1970.as_millis()).ok()
}

/// Returns the milliseconds from a date-time to now; 0 for a date-time in the future.
///
/// Returns `None` if [`parse_ms`] returns `None`.
pub fn age_ms(date_time: &str, now_ms: u64) -> Option<u64> {
    parse_ms(date_time).map(|time| now_ms.saturating_sub(time))
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Parses an HTTP date, such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7). Returns its
/// milliseconds since 1970. Returns `None` for any other text, obsolete formats included. Does not check the day
/// of the week.
pub fn http_date_ms(text: &str) -> Option<u64> {
    let (_, date) = text.strip_suffix(" GMT")?.split_once(", ")?;
    parse_ms(&in_rfc_3339(date)?)
}

/// Returns a date of an e-mail in UTC, such as `Sun, 06 Nov 1994 08:49:37 +0000` (RFC 5322, section 3.3), as RFC 3339.
/// Returns `None` for any other text, and for another day of the week.
pub fn email_date_time(text: &str) -> Option<String> {
    let (weekday, date) = text.strip_suffix(" +0000")?.split_once(", ")?;
    let date_time = in_rfc_3339(date)?;
    let mut numbers = day_of(&date_time).split('-');
    let year = numbers.next()?.parse().ok()?;
    let month = numbers.next()?.parse::<u8>().ok()?.try_into().ok()?;
    let date = Date::from_calendar_date(year, month, numbers.next()?.parse().ok()?).ok()?;
    (date.weekday().to_string().get(..3) == Some(weekday)).then_some(date_time)
}

/// Writes a date such as `06 Nov 1994 08:49:37` as RFC 3339. Checks neither day nor time.
fn in_rfc_3339(date: &str) -> Option<String> {
    let parts: Vec<_> = date.split(' ').collect();
    let [day, month, year, time] = parts.as_slice() else { return None };
    let month = MONTHS.iter().position(|name| name == month)? + 1;
    let is_usual = time.len() == "08:49:37".len();
    is_usual.then(|| format!("{year}-{month:02}-{day}T{time}Z"))
}

// ---- Time zones ----------------------------------------------------------------------------------

/// Finds the UTC offsets of time zones.
pub trait TimeZones {
    /// Returns how many seconds local time is ahead of UTC in a time zone. `zone` is a name of the IANA
    /// database, such as `Europe/Berlin`. `seconds` is the instant, in seconds since 1970. Returns `None` for
    /// an unknown zone.
    fn utc_offset(&self, zone: &str, seconds: i64) -> Option<i32>;
}

/// The first second of the year 0 and the last second of the year 9999, in seconds since 1970. Years in this
/// range have four digits.
const DATED: RangeInclusive<i64> = -62_167_219_200..=LAST_SECOND as i64;
/// The last second of the year 9999.
pub const LAST_SECOND: u64 = 253_402_300_799;

/// Returns the calendar date of a second since 1970, as year, month and day. A time before year 0 counts as
/// the first day of year 0, and a time after year 9999 as the last day of year 9999.
pub fn date_of(seconds: i64) -> Option<(i32, u8, u8)> {
    let seconds = seconds.clamp(*DATED.start(), *DATED.end());
    let date = OffsetDateTime::from_unix_timestamp(seconds).ok()?.date();
    Some((date.year(), date.month().into(), date.day()))
}
