//! The times of pages about one unit: in the time zone of the unit's profile. The heading of a list names the zone once.

use super::{PageContext, view};
use crate::auth::KeyLevel;
use crate::operator::units;
use crate::recipient::Profile;
use crate::service::Clock;
use crate::store::OperatorStore;
use crate::time::TimeZones;
use maud::Markup;

/// Renders times in the time zone of a unit, or in UTC.
pub(super) struct ListTimes<'z, Z> {
    zones: &'z Z,
    /// A zone that is known; `None` for UTC.
    zone: Option<String>,
}

impl<S: OperatorStore, C: Clock, E> PageContext<'_, S, C, E> {
    /// Returns the times of a list of this unit, or of one that no single unit is the subject of. Uses UTC if the profile
    /// cannot be read or has no known time zone. KV cost: 1 read for a unit.
    pub async fn times_of(&self, unit: Option<&str>) -> ListTimes<'_, C> {
        let row = match unit {
            Some(unit) => units::get(self.store, unit).await.ok().flatten(),
            None => None,
        };
        self.times_in(row.as_ref().and_then(|row| row.profile.as_ref()))
    }

    /// Returns the times of a list of the unit with this profile. Uses UTC without a profile or a known time zone.
    pub fn times_in(&self, profile: Option<&Profile>) -> ListTimes<'_, C> {
        let is_known = |zone: &&str| self.clock.utc_offset(zone, 0).is_some();
        let zone = profile.and_then(Profile::time_zone).filter(is_known);
        ListTimes { zones: self.clock, zone: zone.map(str::to_owned) }
    }

    /// Returns the times of a list of a unit or a team. Those of a team are in UTC, because its units may have different
    /// time zones.
    pub async fn times_of_place(&self, place: &KeyLevel) -> ListTimes<'_, C> {
        match place {
            KeyLevel::Unit(unit) => self.times_of(Some(unit)).await,
            KeyLevel::Team(_) => self.times_of(None).await,
        }
    }
}

impl<Z: TimeZones> ListTimes<'_, Z> {
    /// Returns the heading of a column of times, such as `Created (Europe/Berlin)`. In UTC, each time names it.
    pub fn heading(&self, name: &str) -> String {
        self.zone.as_ref().map_or_else(|| name.to_owned(), |zone| format!("{name} ({zone})"))
    }

    /// Renders an RFC 3339 date-time in a column with such a heading.
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
