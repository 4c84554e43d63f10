//! The names by which pages call units. A list of many shops shows names; the IDs are on the pages of the units.

use super::context::PageContext;
use super::{link, view};
use crate::office::shops::rows::names;
use maud::{Markup, html};
use std::collections::BTreeMap;

/// The names of the units on a page, by ID. Lacks units without a name, and names that several of these units have: such
/// units are called by their IDs.
#[derive(Default)]
pub(crate) struct UnitNames(BTreeMap<String, String>);

impl<S, C, E> PageContext<'_, S, C, E> {
    /// Returns the names of these units. Without an answer of the ledger, units are called by their IDs. Ledger cost: 1 query,
    /// none without units.
    pub async fn names_of(&self, units: impl IntoIterator<Item = &str>) -> UnitNames {
        let mut units: Vec<_> = units.into_iter().collect();
        units.sort_unstable();
        units.dedup();
        if units.is_empty() {
            return UnitNames::default();
        }
        let named = names::of_units(self.ledger, &units).await.unwrap_or_default();
        let mut bearers = BTreeMap::new();
        for name in &named {
            *bearers.entry(name.name.clone()).or_insert(0) += 1;
        }
        let unique = named.into_iter().filter(|name| bearers.get(&name.name) == Some(&1));
        UnitNames(unique.map(|name| (name.id, name.name)).collect())
    }
}

impl UnitNames {
    /// Returns the name of a unit; `None` if the unit is called by its ID.
    pub fn name(&self, unit: &str) -> Option<&str> {
        self.0.get(unit).map(String::as_str)
    }

    /// Renders a link to an address that concerns a unit, with the unit's name.
    pub fn link_to(&self, address: &str, unit: &str) -> Markup {
        let name = self.0.get(unit);
        html! { a href=(address) title=[name.map(|_| unit)] { (view::untrusted_text(name.map_or(unit, |name| name))) } }
    }

    /// Renders a link to the page of a unit.
    pub fn link(&self, unit: &str) -> Markup {
        self.link_to(&link::path(&["units", unit]), unit)
    }
}
