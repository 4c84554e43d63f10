//! The names by which pages call units.

use super::context::PageContext;
use super::facts;
use crate::office::shared::operation::facts::Fact;
pub(crate) use crate::office::shared::operation::unit_names::UnitNames;
use maud::Markup;

impl<S, C, E> PageContext<'_, S, C, E> {
    /// Returns the names of these units, as [`UnitNames::read`] does.
    pub async fn names_of(&self, units: impl IntoIterator<Item = &str>) -> UnitNames {
        UnitNames::read(self.ledger, units).await
    }
}

impl UnitNames {
    /// Renders a link to an address that concerns a unit, with the unit's name.
    pub fn link_to(&self, address: &str, unit: &str) -> Markup {
        let name = self.name(unit).map(str::to_owned);
        let unit = Fact::Unit { id: unit.to_owned(), name };
        facts::inline(&unit.at(address.to_owned()))
    }

    /// Renders a link to the page of a unit.
    pub fn link(&self, unit: &str) -> Markup {
        facts::inline(&self.unit(unit))
    }
}
