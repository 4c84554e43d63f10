//! Times on pages about one unit, shown in the time zone of the unit's profile. The heading of a list names
//! the zone once.

use super::context::PageContext;
use super::view;
use crate::buyer::recipient::Profile;
use crate::office::shops::rule::units;
use crate::pledges::auth::KeyLevel;
use crate::pledges::service::Clock;
use crate::pledges::store::OperatorStore;
use crate::pledges::time::TimeZones;
use maud::Markup;

/// Renders times in the time zone of a unit, or in UTC.
pub(crate) struct ListTimes<'z, Z> {
    zones: &'z Z,
    /// The name of a time zone that this release knows; `None` for UTC.
    zone: Option<String>,
}

impl<S: OperatorStore, C: Clock, E> PageContext<'_, S, C, E> {
    /// Returns a renderer for the times of a list, in the time zone of this unit's profile. Uses UTC without
    /// a unit. Also uses UTC if the profile cannot be read, or its time zone is missing or unknown. KV cost:
    /// 1 read for a unit.
    pub async fn times_of(&self, unit: Option<&str>) -> ListTimes<'_, C> {
        let row = match unit {
            Some(unit) => units::get(self.store, unit).await.ok().flatten(),
            None => None,
        };
        self.times_in(row.as_ref().and_then(|row| row.profile.as_ref()))
    }

    /// Returns a renderer for the times of a list, in the time zone of this unit's profile. Uses UTC if there
    /// is no profile, or if its time zone is missing or unknown.
    pub fn times_in(&self, profile: Option<&Profile>) -> ListTimes<'_, C> {
        let is_known = |zone: &&str| self.clock.utc_offset(zone, 0).is_some();
        let zone = profile.and_then(Profile::time_zone).filter(is_known);
        ListTimes { zones: self.clock, zone: zone.map(str::to_owned) }
    }

    /// Returns a renderer for the times of a list on the page of a unit or a team. A team's times are in UTC,
    /// because its units may have different time zones.
    pub async fn times_of_place(&self, place: &KeyLevel) -> ListTimes<'_, C> {
        match place {
            KeyLevel::Unit(unit) => self.times_of(Some(unit)).await,
            KeyLevel::Team(_) => self.times_of(None).await,
        }
    }
}

impl<Z: TimeZones> ListTimes<'_, Z> {
    /// Returns the heading of a column of times, such as `Created (Europe/Berlin)`. For UTC, the heading
    /// names no zone, because each time in the column ends with `UTC`.
    pub fn heading(&self, name: &str) -> String {
        self.zone.as_ref().map_or_else(|| name.to_owned(), |zone| format!("{name} ({zone})"))
    }

    /// Renders an RFC 3339 date-time without a zone, for a column whose [`heading`](Self::heading) names the
    /// zone.
    pub fn cell(&self, text: &str) -> Markup {
        view::local_time(self.zones, self.zone.as_deref(), "", text)
    }

    /// Renders an RFC 3339 date-time with its zone, as `3 Oct 2026, 16:05 (Europe/Berlin)`.
    pub fn text(&self, text: &str) -> Markup {
        let zone = self.zone.as_deref();
        let named = zone.map(|zone| format!(" ({zone})")).unwrap_or_default();
        view::local_time(self.zones, zone, &named, text)
    }
}
