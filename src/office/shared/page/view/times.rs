//! Times in words.

use crate::office::shared::rule::month::MONTHS;
use crate::pledges::time::{TimeZones, date_of};
use crate::pledges::validate::instant::instant;
use maud::{Markup, html};

/// Replaces the RFC 3339 date-times in a message, such as `set by ada@shop.example at 2026-10-03T14:05:00Z`, by words.
pub(crate) fn times_in_words(text: &str) -> String {
    let word = |word: &str| {
        let time = word.trim_end_matches([',', ';', ':', '.', ')']);
        let words = if time.contains('T') { in_words(time) } else { None };
        match (words, word.strip_prefix(time)) {
            (Some(words), Some(end)) => [without_midnight(&words), end].concat(),
            _ => word.to_owned(),
        }
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// Renders an RFC 3339 date-time as `3 Oct 2026, 14:05 UTC`; any other text unchanged.
pub(crate) fn time(text: &str) -> Markup {
    html! { time datetime=(text) { (in_words(text).unwrap_or_else(|| text.to_owned())) } }
}

/// Renders an RFC 3339 date-time at midnight UTC as `3 Oct 2026`, and any other as [`time()`] does.
pub(crate) fn day(text: &str) -> Markup {
    let words = in_words(text).unwrap_or_else(|| text.to_owned());
    html! { time datetime=(text) { (without_midnight(&words)) } }
}

/// Returns the day of a time at midnight UTC, and any other time unchanged.
fn without_midnight(words: &str) -> &str {
    words.strip_suffix(", 00:00 UTC").unwrap_or(words)
}

/// Renders an RFC 3339 date-time in this time zone, as `3 Oct 2026, 16:05`, followed by `end`. A time that local
/// clocks show twice has its offset, as `25 Oct 2026, 02:30 UTC+01:00`. Without a zone, renders it as [`time()`] does.
pub(crate) fn local_time(
    zones: &impl TimeZones,
    zone: Option<&str>,
    end: &str,
    text: &str,
) -> Markup {
    let local = zone.and_then(|zone| {
        let seconds = instant(text)?;
        let ahead = zones.utc_offset(zone, seconds)?;
        let words = minute_in_words(seconds.checked_add(i64::from(ahead))?)?;
        let offset =
            if is_repeated(zones, zone, seconds) { offset_in_words(ahead) } else { String::new() };
        Some([&words, &*offset, end].concat())
    });
    match local {
        Some(words) => html! { time datetime=(text) { (words) } },
        None => time(text),
    }
}

/// Returns whether local clocks show a time twice, because the time zone sets them back shortly before or after.
fn is_repeated(zones: &impl TimeZones, zone: &str, seconds: i64) -> bool {
    let ahead = |seconds| zones.utc_offset(zone, seconds).map(i64::from);
    let Some(own) = ahead(seconds) else { return false };
    let around = [seconds.saturating_sub(LONGEST_CHANGE), seconds.saturating_add(LONGEST_CHANGE)];
    around
        .into_iter()
        .filter_map(ahead)
        .any(|other| other != own && ahead(seconds.saturating_add(own - other)) == Some(other))
}

/// The largest change of a time zone's clocks for daylight saving time, in seconds: Antarctica/Troll has 2
/// hours.
const LONGEST_CHANGE: i64 = 3 * 3_600;

/// Writes an offset from UTC, in seconds, as ` UTC+02:00`.
fn offset_in_words(ahead: i32) -> String {
    let sign = if ahead < 0 { '-' } else { '+' };
    let all = ahead.unsigned_abs() / 60;
    let (hours, minutes) = (all / 60, all % 60);
    format!(" UTC{sign}{hours:02}:{minutes:02}")
}

fn in_words(text: &str) -> Option<String> {
    Some(minute_in_words(instant(text)?)? + " UTC")
}

/// Writes a time, in seconds since 1970, to the minute: `3 Oct 2026, 14:05`.
fn minute_in_words(seconds: i64) -> Option<String> {
    let (year, month, day) = date_of(seconds)?;
    let month = MONTHS.get(usize::from(month).checked_sub(1)?)?;
    let of_day = seconds.rem_euclid(86_400);
    let (hour, minute) = (of_day / 3_600, of_day / 60 % 60);
    Some(format!("{day} {month} {year:04}, {hour:02}:{minute:02}"))
}
