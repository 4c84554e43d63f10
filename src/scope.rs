//! The unit and mode that a record belongs to.

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

/// Whether a key, and all that it makes, is for testing or for production (§5.3).
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
    /// How the text of a key of this mode begins (§5.3).
    pub const fn key_prefix(self) -> &'static str {
        match self {
            Mode::Test => "service_sk_test",
            Mode::Live => "service_sk_live",
        }
    }

    /// The contract's `isLive`.
    pub const fn is_live(self) -> bool {
        matches!(self, Mode::Live)
    }

    /// `test` or `live`, as records and their names have it.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The unit and mode that a record belongs to: no other may see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Test or live.
    pub mode: Mode,
    /// The unit's ID.
    pub unit: String,
}

impl Scope {
    /// Mode and unit, for a hash over them.
    pub(crate) fn parts(&self) -> [&[u8]; 2] {
        [self.mode.name().as_bytes(), self.unit.as_bytes()]
    }
}
