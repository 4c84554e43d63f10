//! The names by which lists call units. Their IDs are on the pages of the units, and in files.

use super::facts::Fact;
use crate::office::shared::rows::port::Ledger;
use crate::office::shops::rows::names;
use std::collections::BTreeMap;

/// The names of the units of a list, by ID. Lacks units without a name, and names that several of these units have: such
/// units are called by their IDs.
#[derive(Default)]
pub(crate) struct UnitNames(BTreeMap<String, String>);

impl UnitNames {
    /// Returns the names of these units. Without an answer of the ledger, units are called by their IDs. Ledger cost: 1 query,
    /// none without units.
    pub async fn read(ledger: &dyn Ledger, units: impl IntoIterator<Item = &str>) -> Self {
        let mut units: Vec<_> = units.into_iter().collect();
        units.sort_unstable();
        units.dedup();
        if units.is_empty() {
            return UnitNames::default();
        }
        let named = names::of_units(ledger, &units).await.unwrap_or_default();
        let mut bearers = BTreeMap::new();
        for name in &named {
            *bearers.entry(name.name.clone()).or_insert(0) += 1;
        }
        let unique = named.into_iter().filter(|name| bearers.get(&name.name) == Some(&1));
        UnitNames(unique.map(|name| (name.id, name.name)).collect())
    }

    /// Returns the name of a unit; `None` if the unit is called by its ID.
    pub fn name(&self, unit: &str) -> Option<&str> {
        self.0.get(unit).map(String::as_str)
    }

    /// Returns a unit with its name, as a link to its page.
    pub fn unit(&self, unit: &str) -> Fact {
        Fact::unit_named(unit, self.name(unit))
    }
}
