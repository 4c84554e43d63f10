//! The part of the audit log that people of a shop see: changes that concern their own units and teams. The
//! names of operators, and of other units and teams, are left out.

use super::change::Change;
use super::sentence::{Slot, slots};
use crate::pledges::auth::KeyLevel;
use crate::pledges::scope::{Mode, Scope};
use crate::pledges::store::{PriceListKey, PriceListVersionKey, SettlementKey};
use crate::pledges::types::TransactionId;

/// Stands in for the author's name if no person of a shop made the change.
pub const AN_OPERATOR: &str = "An operator";
/// Precedes, in an entry's text, the name of the person who marked a month as paid. [`BOOKED_IN`] precedes a
/// credit's month and reason. Only operators may see the person's name and the reason.
const MARKED_BY: &str = ", marked by ";
const BOOKED_IN: &str = ", booked in ";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnPlaces {
    places: Vec<KeyLevel>,
    /// The ID prefixes of the units' transactions, sorted. All prefixes have the same length.
    prefixes: Vec<String>,
}

impl OwnPlaces {
    pub fn new(places: impl IntoIterator<Item = KeyLevel>) -> Self {
        let places: Vec<_> = places.into_iter().collect();
        let mut prefixes: Vec<_> = places.iter().flat_map(prefixes).collect();
        prefixes.sort_unstable();
        OwnPlaces { places, prefixes }
    }

    /// Keeps only the units and teams with this ID.
    #[must_use]
    pub fn only(&self, id: &str) -> Self {
        Self::new(self.places.iter().filter(|place| place.id() == id).cloned())
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    fn has(&self, place: &KeyLevel) -> bool {
        self.places.contains(place)
    }

    fn has_unit(&self, id: &str) -> bool {
        self.places.iter().any(|place| matches!(place, KeyLevel::Unit(unit) if unit == id))
    }

    fn has_team(&self, id: &str) -> bool {
        self.places.iter().any(|place| matches!(place, KeyLevel::Team(team) if team == id))
    }

    fn has_transaction(&self, id: &str) -> bool {
        let length = self.prefixes.first().map_or(0, String::len);
        let prefix = id.get(..length).unwrap_or_default();
        self.prefixes.binary_search_by(|own| own.as_str().cmp(prefix)).is_ok()
    }

    fn has_month(&self, name: &str) -> bool {
        SettlementKey::parse(name).is_some_and(|of| self.has_unit(&of.scope.unit))
    }

    fn has_prices(&self, name: &str) -> bool {
        let of = PriceListVersionKey::parse(name).map(|version| version.of);
        matches!(of, Some(PriceListKey { unit: Some(unit), .. }) if self.has_unit(unit))
    }

    /// Returns whether an ID in an entry belongs to the person's own units and teams. `slot` is the
    /// placeholder that the ID fills in the entry's sentence. Returns `None` if IDs of this kind do not show
    /// which shop they belong to.
    fn has_id(&self, slot: Slot, id: &str) -> Option<bool> {
        match slot {
            Slot::Units => Some(self.has_unit(id)),
            Slot::Team => Some(self.has_team(id)),
            Slot::Transactions | Slot::Transaction => Some(self.has_transaction(id)),
            Slot::Month => Some(self.has_month(id)),
            Slot::Prices => Some(self.has_prices(id)),
            Slot::Key | Slot::Text | Slot::Of => None,
        }
    }

    /// Returns a change as people of these units and teams see it; `None` if it does not concern them.
    /// Changes by unknown commands are left out, because it is not known what their IDs mean.
    pub(super) fn own_part(&self, change: Change) -> Option<Change> {
        let mut on = change.on;
        let slots = slots(&change.command)?;
        let mut is_own = match &change.of {
            Some(place) if !self.has(place) => return None,
            place => place.is_some(),
        };
        for (slot, index) in slots {
            is_own |= self.redact(slot, index, &mut on)?;
        }
        let by = if change.by_shop { change.by } else { AN_OPERATOR.to_owned() };
        is_own.then_some(Change { by, on, operation: None, ..change })
    }

    /// Removes the parts that the person may not see from the values of one placeholder: IDs of
    /// other shops, and parts of texts that are for operators. Returns whether one of the values is
    /// an ID of the person's own shop. Returns `None` if the whole entry belongs to another shop.
    fn redact(&self, slot: Slot, index: usize, on: &mut Vec<String>) -> Option<bool> {
        match slot {
            Slot::Units | Slot::Transactions => {
                let rest = on.split_off(index.min(on.len()));
                let before = on.len();
                on.extend(rest.into_iter().filter(|id| self.has_id(slot, id) == Some(true)));
                Some(on.len() > before)
            }
            Slot::Team => {
                let id = on.get_mut(index)?;
                let is_own = self.has_team(id);
                if !is_own {
                    id.clear();
                }
                Some(is_own)
            }
            Slot::Transaction | Slot::Month | Slot::Prices => {
                self.has_id(slot, on.get(index)?).filter(|is_own| *is_own)
            }
            Slot::Text => {
                on.iter_mut().skip(index).for_each(remove_internal);
                Some(false)
            }
            Slot::Key | Slot::Of => Some(false),
        }
    }
}

fn prefixes(place: &KeyLevel) -> Vec<String> {
    let KeyLevel::Unit(unit) = place else { return Vec::new() };
    let prefix = |mode| TransactionId::scope_prefix(&Scope { mode, unit: unit.clone() });
    [Mode::Test, Mode::Live].map(prefix).into()
}

/// Removes the parts of an entry's text that are for operators only.
fn remove_internal(text: &mut String) {
    if let Some(at) = text.find(MARKED_BY) {
        text.truncate(at);
    }
    if let Some(at) = text.find(BOOKED_IN)
        && let Some(length) = text.get(at..).and_then(|rest| rest.find(": "))
    {
        text.truncate(at + length);
    }
}
