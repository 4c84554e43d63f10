//! Typed keys of price lists: the current lists, which the service reads, and all versions that were ever
//! set.

use super::Key;
use super::metadata::{NoMetadata, Registered};
use crate::pledges::auth::is_id;
use crate::pledges::scope::Mode;
use std::borrow::Cow;

/// Maximum size of a price list: 1 MiB.
pub const MAX_PRICES_BYTES: usize = 1024 * 1024;

/// Maximum size of the price list of one unit: 64 KiB. An isolate may keep the lists of many units in memory.
pub const MAX_UNIT_PRICES_BYTES: usize = 64 * 1024;

/// The key of a current [`PriceList`](crate::pledges::charge::PriceList). `catalogue:{mode}` is the price list of a
/// mode. `catalogue:{mode}:{unit}` is the price list of one unit, which completely replaces the mode's list
/// for this unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriceListKey<'k> {
    /// The mode of the API keys that are charged by these prices.
    pub mode: Mode,
    /// The ID of the unit whose own price list this is; it may contain colons. `None` for the mode's price
    /// list, which applies to all units without their own list.
    pub unit: Option<&'k str>,
}

impl Key for PriceListKey<'_> {
    type Metadata = NoMetadata;
    const KIND: &'static str = "price list";
    const PREFIX: &'static str = "catalogue:";
    const IS_COPY: bool = true;
    fn suffix(&self) -> Cow<'_, str> {
        match self.unit {
            None => Cow::Borrowed(self.mode.name()),
            Some(unit) => Cow::Owned([self.mode.name(), ":", unit].concat()),
        }
    }
}

impl<'k> PriceListKey<'k> {
    pub const fn of_mode(mode: Mode) -> Self {
        PriceListKey { mode, unit: None }
    }

    pub const fn of_unit(mode: Mode, unit: &'k str) -> Self {
        PriceListKey { mode, unit: Some(unit) }
    }

    pub fn units_prefix(mode: Mode) -> String {
        [Self::PREFIX, mode.name(), ":"].concat()
    }

    pub fn parse(name: &'k str) -> Option<Self> {
        let suffix = name.strip_prefix(Self::PREFIX)?;
        let of_mode = || Mode::from_name(suffix).map(Self::of_mode);
        Self::parse_unit(suffix).or_else(of_mode)
    }

    /// Parses `{mode}:{unit}`.
    fn parse_unit(text: &'k str) -> Option<Self> {
        let (mode, unit) = text.split_once(':')?;
        Some(Self::of_unit(Mode::from_name(mode)?, unit)).filter(|_| is_id(unit))
    }
}

/// The key of one version of a price list. A version is written once and kept. `prices:{mode}:{time}` is a
/// mode's [`PriceList`](crate::pledges::charge::PriceList) that took effect at this time.
/// `prices:unit:{mode}:{unit}:{time}` is a unit's price list, or a mark that the unit's list was removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriceListVersionKey<'k> {
    pub of: PriceListKey<'k>,
    /// When the prices were set, an RFC 3339 date-time with milliseconds.
    pub time: &'k str,
}

impl Key for PriceListVersionKey<'_> {
    type Metadata = Registered;
    const KIND: &'static str = "prices";
    const PREFIX: &'static str = "prices:";
    const MAX_BYTES: usize = MAX_PRICES_BYTES;
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Owned([&*Self::before_time(self.of), self.time].concat())
    }
}

impl<'k> PriceListVersionKey<'k> {
    /// This text follows the prefix in the name of a unit's own price list. In the name of a mode's
    /// price list, `live` or `test` follows the prefix.
    const UNIT: &'static str = "unit:";
    /// Length of a time in a name, in bytes.
    const TIME_BYTES: usize = 24;

    /// Returns the prefix of the names of all versions of a price list. Callers must check the unit of each
    /// listed record, because the names of another unit's records may begin with the same prefix.
    pub fn prefix_of(of: PriceListKey<'_>) -> String {
        [Self::PREFIX, &Self::before_time(of)].concat()
    }

    fn before_time(PriceListKey { mode, unit }: PriceListKey<'_>) -> String {
        match unit {
            None => [mode.name(), ":"].concat(),
            Some(unit) => [Self::UNIT, mode.name(), ":", unit, ":"].concat(),
        }
    }

    pub fn parse(name: &'k str) -> Option<Self> {
        let rest = name.strip_prefix(Self::PREFIX)?;
        let Some(of_unit) = rest.strip_prefix(Self::UNIT) else {
            let (mode, time) = rest.split_once(':')?;
            return Some(PriceListVersionKey {
                of: PriceListKey::of_mode(Mode::from_name(mode)?),
                time,
            });
        };
        let (of, time) = of_unit.split_at_checked(of_unit.len().checked_sub(Self::TIME_BYTES)?)?;
        Some(PriceListVersionKey { of: PriceListKey::parse_unit(of.strip_suffix(':')?)?, time })
    }
}
