//! A unit with its profile.

use crate::buyer::recipient::Profile;
use crate::office::shared::rule::error::without_position;
use crate::office::shared::rule::once::Outcome;
use crate::office::shared::rule::published::RecordVersion;
use crate::pledges::store::Registered;
use serde::Serialize;

#[derive(Clone, Debug, Default, Serialize)]
pub struct UnitRow {
    /// The unit's ID.
    pub unit: String,
    /// The unit's profile; `None` if the unit has none, or the record cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// Why the record of the profile cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Who registered the unit, and when; `None` if unknown.
    #[serde(flatten)]
    pub registered: Option<Registered>,
    /// The version of the profile, if it is the newest one.
    #[serde(skip)]
    pub seen: RecordVersion,
}

impl UnitRow {
    pub(super) fn new(unit: &str) -> Self {
        UnitRow { unit: unit.to_owned(), ..UnitRow::default() }
    }

    pub(super) fn with_profile(mut self, record: &[u8]) -> Self {
        self.read_profile(record);
        self
    }

    pub(super) fn read_profile(&mut self, record: &[u8]) {
        match serde_json::from_slice(record) {
            Ok(profile) => self.profile = Some(profile),
            Err(error) => self.problem = Some(without_position(&error)),
        }
    }
}

/// Stores only the unit's ID for repeated requests, because a profile may name a person. A repeated request
/// reads the current profile.
impl Outcome for UnitRow {
    type Stored = String;

    fn to_stored(&self) -> Option<String> {
        Some(self.unit.clone())
    }

    fn from_stored(unit: String) -> Self {
        UnitRow::new(&unit)
    }
}

impl Outcome for Option<UnitRow> {
    type Stored = Option<String>;

    fn to_stored(&self) -> Option<Option<String>> {
        Some(self.as_ref().map(|row| row.unit.clone()))
    }

    fn from_stored(unit: Option<String>) -> Self {
        unit.as_deref().map(UnitRow::new)
    }
}
