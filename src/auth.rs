//! API keys: whose a request is (§5).
//!
//! A key is opaque. What it may do stands in its record, found under the SHA-256 of its text; the
//! text itself is stored nowhere.

use crate::json::{Decode, Mismatch, Object, Value};
use base32ct::{Base32Unpadded, Encoding as _};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;
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

impl Mode {
    /// Takes a mode out of an object.
    pub(crate) fn take(members: &mut Object<'_>) -> Result<Self, Mismatch> {
        Mode::from_text(&members.text("mode")?)
    }

    /// Reads `test` or `live`.
    pub(crate) fn from_text(text: &str) -> Result<Self, Mismatch> {
        let mode = [Mode::Test, Mode::Live].into_iter().find(|mode| mode.as_str() == text);
        mode.ok_or(Mismatch::member("mode", "`test` or `live`"))
    }
}

/// Bytes of randomness in a new key: 200 bits.
pub const KEY_BYTES: usize = 25;

/// The text of a new key, such as `service_sk_test_` and 40 characters, of these random bytes.
pub fn new_key(mode: Mode, random: [u8; KEY_BYTES]) -> String {
    format!("{}_{}", mode.key_prefix(), Base32Unpadded::encode_string(&random))
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

    /// Writes the header that [`from_authorization`](Self::from_authorization) reads.
    pub fn authorization(self) -> String {
        format!("Bearer {}", self.0)
    }

    /// What the key is found under.
    pub fn hash(self) -> KeyHash {
        KeyHash(Sha256::digest(self.0.as_bytes()).into())
    }

    pub(crate) fn as_str(self) -> &'a str {
        self.0
    }
}

impl Debug for ApiKey<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("ApiKey(…)")
    }
}

/// SHA-256 of a key's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyHash([u8; 32]);

impl KeyHash {
    /// 64 lower-case hexadecimal digits.
    pub fn to_hex(self) -> String {
        base16ct::lower::encode_string(&self.0)
    }

    /// Reads what [`to_hex`](Self::to_hex) writes.
    pub fn from_hex(text: &str) -> Option<Self> {
        Some(KeyHash(base16ct::lower::decode_vec(text).ok()?.try_into().ok()?))
    }
}

/// What is stored of a key. Reading it refuses IDs and labels that are out of bounds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Repr", try_from = "Repr")]
pub struct KeyRecord {
    /// What the key is for.
    pub mode: Mode,
    /// On whose behalf it acts.
    pub level: KeyLevel,
    /// The operator's note, shown by the key list.
    pub label: String,
}

/// On whose behalf a key acts (§5.4).
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// A [`KeyRecord`] as JSON. It is flat: serde's own flattening would double the decoder.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Repr {
    mode: Mode,
    level: Level,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unit_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    team_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unit_ids: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    label: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Level {
    Unit,
    Team,
}

impl From<KeyRecord> for Repr {
    fn from(KeyRecord { mode, level, label }: KeyRecord) -> Self {
        let (level, unit_id, team_id, unit_ids) = match level {
            KeyLevel::Unit { unit_id } => (Level::Unit, Some(unit_id), None, None),
            KeyLevel::Team { team_id, unit_ids } => {
                (Level::Team, None, Some(team_id), Some(unit_ids))
            }
        };
        Repr { mode, level, unit_id, team_id, unit_ids, label }
    }
}

impl TryFrom<Repr> for KeyRecord {
    type Error = String;

    fn try_from(repr: Repr) -> Result<Self, String> {
        let level = match (repr.level, repr.unit_id, repr.team_id, repr.unit_ids) {
            (Level::Unit, Some(unit_id), None, None) => {
                KeyLevel::Unit { unit_id: check_id(unit_id)? }
            }
            (Level::Team, None, Some(team_id), Some(unit_ids)) => {
                KeyLevel::Team { team_id: check_id(team_id)?, unit_ids: check_units(unit_ids)? }
            }
            (Level::Unit, ..) => return Err("a unit-level key has `unitId` alone".to_owned()),
            (Level::Team, ..) => {
                return Err("a team-level key has `teamId` and `unitIds` alone".to_owned());
            }
        };
        Ok(KeyRecord { mode: repr.mode, level, label: check_label(repr.label)? })
    }
}

impl Decode<'_> for KeyRecord {
    fn decode(value: Value<'_>) -> Result<Self, Mismatch> {
        let mut members = value.object("it")?;
        let owned = |text: Option<Cow<'_, str>>| text.map(Cow::into_owned);
        let repr = Repr {
            mode: Mode::take(&mut members)?,
            level: Level::take(&mut members)?,
            unit_id: owned(members.optional_text("unitId")?),
            team_id: owned(members.optional_text("teamId")?),
            unit_ids: members.optional_texts("unitIds")?,
            label: owned(members.optional_text("label")?).unwrap_or_default(),
        };
        members.end()?;
        KeyRecord::try_from(repr).map_err(Mismatch::new)
    }
}

impl Level {
    fn take(members: &mut Object<'_>) -> Result<Self, Mismatch> {
        match &*members.text("level")? {
            "unit" => Ok(Level::Unit),
            "team" => Ok(Level::Team),
            _ => Err(Mismatch::member("level", "`unit` or `team`")),
        }
    }
}

/// Most characters of a unit's or team's ID: it has to fit a header and the metadata of a record.
const MAX_ID_LENGTH: usize = 128;
/// Most units of a team: the service holds a thousand teams in memory.
const MAX_UNITS: usize = 1_000;
/// Most characters of a label.
const MAX_LABEL_LENGTH: usize = 100;

/// An ID has to arrive in a header as it is: no blanks, nothing beyond ASCII, and no comma, which
/// HTTP puts between two headers of one name.
fn check_id(id: String) -> Result<String, String> {
    let plain = id.bytes().all(|byte| byte.is_ascii_graphic() && byte != b',');
    if plain && (1..=MAX_ID_LENGTH).contains(&id.len()) {
        return Ok(id);
    }
    Err(format!(
        "`{id}` is not an ID: write 1 to {MAX_ID_LENGTH} ASCII characters without blanks and commas"
    ))
}

fn check_units(ids: Vec<String>) -> Result<Vec<String>, String> {
    if !(1..=MAX_UNITS).contains(&ids.len()) {
        return Err(format!("a team has 1 to {MAX_UNITS} units, not {}", ids.len()));
    }
    ids.into_iter().map(check_id).collect()
}

fn check_label(label: String) -> Result<String, String> {
    if label.chars().count() <= MAX_LABEL_LENGTH && !label.chars().any(char::is_control) {
        return Ok(label);
    }
    Err(format!(
        "the label is out of bounds: write one line of at most {MAX_LABEL_LENGTH} characters"
    ))
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
    /// Whether it is a team-level key: only such a one needs the unit named.
    pub fn is_team(&self) -> bool {
        matches!(self.level, KeyLevel::Team { .. })
    }

    /// The unit that a request acts for; `unit_id` is its `X-Service-Unit-Id`.
    ///
    /// `None` when a team-level key comes without the header, or with a unit of another team.
    pub fn scope(&self, unit_id: Option<&str>) -> Option<Scope> {
        let unit = match &self.level {
            KeyLevel::Unit { unit_id } => unit_id,
            KeyLevel::Team { unit_ids, .. } => {
                unit_ids.iter().find(|id| Some(&***id) == unit_id)?
            }
        };
        Some(Scope { unit: unit.clone(), mode: self.mode })
    }
}
