//! Teams and their units, as commands and pages show them.

use crate::office::shared::rule::once::StoredAsIs;
use crate::pledges::store::Registered;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TeamRow {
    pub team: String,
    pub units: usize,
    /// Who registered the team, and when; `None` if it is not registered.
    #[serde(flatten)]
    pub registered: Option<Registered>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Team {
    pub team: String,
    /// The IDs of the team's units.
    pub units: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddedUnits {
    /// The team, and all units of the request.
    #[serde(flatten)]
    pub team: Team,
    /// The units that were in the team before the request.
    pub already: Vec<ExistingMember>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExistingMember {
    /// The unit's ID.
    pub unit: String,
    /// Who added the unit, and when; `None` if unknown.
    #[serde(flatten)]
    pub registered: Option<Registered>,
}

impl StoredAsIs for Team {}
impl StoredAsIs for AddedUnits {}
