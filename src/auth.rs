//! API keys: whose a request is (§5).
//!
//! A key is opaque. What it may do stands in its record, found under the SHA-256 of its text; the
//! text itself is stored nowhere.

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fmt::{self, Debug, Formatter};

/// Whether a key, and all that it makes, is for testing or for production (§5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// `service_sk_test…`
    Test,
    /// `service_sk_live…`
    Live,
}

impl Mode {
    /// What a key of this mode begins with (§5.3).
    pub const fn key_prefix(self) -> &'static str {
        match self {
            Mode::Test => "service_sk_test",
            Mode::Live => "service_sk_live",
        }
    }

    /// `test` or `live`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Mode::Test => "test",
            Mode::Live => "live",
        }
    }

    /// The contract's `isLive`.
    pub const fn is_live(self) -> bool {
        matches!(self, Mode::Live)
    }
}

/// The text of an API key. Its `Debug` shows nothing of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ApiKey<'a>(&'a str);

impl<'a> ApiKey<'a> {
    /// Takes a key's text as it is.
    pub fn new(text: &'a str) -> Self {
        ApiKey(text)
    }

    /// Reads an `Authorization` header: the scheme `Bearer` in any case, and a token.
    ///
    /// `None` for other schemes, and for a token that is empty or has blanks in it.
    pub fn from_authorization(header: &'a str) -> Option<Self> {
        let (scheme, token) = header.trim().split_once(' ')?;
        let token = token.trim_start_matches(' ');
        let well_formed = scheme.eq_ignore_ascii_case("bearer")
            && !token.is_empty()
            && token.bytes().all(|byte| byte.is_ascii_graphic());
        well_formed.then_some(ApiKey(token))
    }

    /// What the key is found under.
    pub fn hash(self) -> KeyHash {
        KeyHash(Sha256::digest(self.0.as_bytes()).into())
    }

    pub(crate) fn as_bytes(self) -> &'a [u8] {
        self.0.as_bytes()
    }
}

impl Debug for ApiKey<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("ApiKey(…)")
    }
}

/// SHA-256 of a key's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyHash([u8; 32]);

impl KeyHash {
    /// 64 lower-case hexadecimal digits.
    pub fn to_hex(self) -> String {
        HEXLOWER.encode(&self.0)
    }

    /// Reads what [`to_hex`](Self::to_hex) writes.
    pub fn from_hex(text: &str) -> Option<Self> {
        Some(KeyHash(HEXLOWER.decode(text.as_bytes()).ok()?.try_into().ok()?))
    }
}

/// What is stored of a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeyRecord {
    /// What the key is for.
    pub mode: Mode,
    /// On whose behalf it acts.
    #[serde(flatten)]
    pub level: KeyLevel,
    /// The operator's note, shown by the key list.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
}

/// On whose behalf a key acts (§5.4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "level", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum KeyLevel {
    /// As this unit itself.
    Unit {
        /// The unit's ID.
        unit_id: String,
    },
    /// On behalf of one of the team's units, named by `X-Service-Unit-Id`.
    Team {
        /// The team's ID.
        team_id: String,
        /// IDs of its units.
        unit_ids: Vec<String>,
    },
}

/// The unit and mode that a record belongs to: no other may see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The unit's ID.
    pub unit: String,
    /// Test or live.
    pub mode: Mode,
}

impl KeyRecord {
    /// The unit that a request acts for; `unit_id` is its `X-Service-Unit-Id`.
    ///
    /// `None` when a team-level key comes without the header, or with a unit of another team.
    pub fn scope(&self, unit_id: Option<&str>) -> Option<Scope> {
        let unit = match &self.level {
            KeyLevel::Unit { unit_id } => unit_id,
            KeyLevel::Team { unit_ids, .. } => unit_ids.iter().find(|id| Some(&***id) == unit_id)?,
        };
        Some(Scope { unit: unit.clone(), mode: self.mode })
    }
}
