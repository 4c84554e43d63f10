use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

/// The mode of an API key and of its records: test or production (§5.3).
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Mode {
    /// `service_sk_test…`
    Test,
    /// `service_sk_live…`
    Live,
}

impl Mode {
    /// Returns the prefix of API keys of this mode (§5.3).
    pub const fn key_prefix(self) -> &'static str {
        match self {
            Mode::Test => "service_sk_test",
            Mode::Live => "service_sk_live",
        }
    }

    /// Returns whether this is the live mode, as `isLive` in the contract.
    pub const fn is_live(self) -> bool {
        matches!(self, Mode::Live)
    }

    /// Returns `test` or `live`, as written in records and in the names of records.
    pub fn name(self) -> &'static str {
        self.into()
    }

    pub fn from_name(name: &str) -> Option<Self> {
        [Mode::Test, Mode::Live].into_iter().find(|mode| mode.name() == name)
    }
}

/// The unit and mode that a record belongs to. Callers of other units or modes cannot read it.
/// Sorted by unit, then by mode.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Scope {
    /// The unit's ID.
    pub unit: String,
    /// Test or live.
    pub mode: Mode,
}

impl Scope {
    /// Returns the mode and the unit as bytes, for hashing.
    pub(crate) fn parts(&self) -> [&[u8]; 2] {
        [self.mode.name().as_bytes(), self.unit.as_bytes()]
    }
}
