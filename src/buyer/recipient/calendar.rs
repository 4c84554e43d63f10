//! Writes the dates of a page or an e-mail, all in the same time zone.

use super::language::Language;
use super::profile::Profile;
use super::words::Sentence;
use crate::buyer::updates;
use crate::pledges::time::{TimeZones, date_of};
use crate::pledges::validate::instant::instant;

/// Writes dates in a language and a time zone.
#[derive(Clone, Copy)]
pub(super) struct Calendar<'c> {
    pub language: Language,
    /// The name of the time zone; UTC if it is absent or unknown.
    zone: Option<&'c str>,
    zones: &'c dyn TimeZones,
}

pub(super) struct CalendarDay {
    /// The day in ISO 8601, such as `2026-11-21`.
    pub iso: String,
    /// The day in words, such as `21 November 2026`.
    pub words: String,
}

impl<'c> Calendar<'c> {
    pub fn new(language: Language, profile: Option<&'c Profile>, zones: &'c dyn TimeZones) -> Self {
        let zone = profile.and_then(|profile| profile.time_zone.as_deref());
        Calendar { language, zone, zones }
    }

    /// Returns the name of the time zone: UTC if the profile has none, or one that is unknown.
    pub fn zone(&self) -> &'c str {
        let known = self.zone.filter(|zone| self.zones.utc_offset(zone, 0).is_some());
        known.unwrap_or("UTC")
    }

    /// Writes the day of an RFC 3339 date-time in this calendar's time zone. Returns `None` for any other text.
    pub fn day(&self, date_time: &str) -> Option<CalendarDay> {
        let instant = instant(date_time)?;
        let offset = self.zone.and_then(|zone| self.zones.utc_offset(zone, instant));
        self.written(instant + i64::from(offset.unwrap_or_default()))
    }

    /// Writes the day of an update without converting it, because such a day has no time zone.
    pub fn day_of(&self, date: &updates::Day) -> Option<CalendarDay> {
        self.written(i64::try_from(date.begins_ms() / 1_000).ok()?)
    }

    /// Writes the day that contains a time. `seconds` counts local time from 1970.
    fn written(&self, seconds: i64) -> Option<CalendarDay> {
        let (year, month, day) = date_of(seconds)?;
        let iso = format!("{year:04}-{month:02}-{day:02}");
        let months = self.language.text(Sentence::Months);
        let month = months.split(' ').nth(usize::from(month) - 1).unwrap_or_default();
        let words = self.language.text(Sentence::Date).replace("{d}", &day.to_string());
        let words = words.replace("{m}", month).replace("{y}", &format!("{year:04}"));
        Some(CalendarDay { iso, words })
    }
}
