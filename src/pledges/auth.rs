//! API keys and their records (§5).
//!
//! A key is opaque. Its record, whose name is the SHA-256 of the key's text, says what the key may do.

use super::http::OWS;
use super::scope::Mode;
use super::secret::NamespaceSecret;
use base32ct::{Base32Unpadded, Encoding as _};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};
use std::fmt::{self, Debug, Formatter};

/// Bytes of randomness in a new key: 200 bits.
pub const KEY_BYTES: usize = 25;

/// Creates the text of a new key from random bytes: `service_sk_test_` or `service_sk_live_`, and 40 characters.
pub fn new_key(mode: Mode, random: [u8; KEY_BYTES]) -> String {
    format!("{}_{}", mode.key_prefix(), Base32Unpadded::encode_string(&random))
}

/// The text of an API key. `Debug` does not show it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ApiKey<'a>(&'a str);

impl<'a> ApiKey<'a> {
    /// Wraps the text of a key without checking it.
    pub fn new(text: &'a str) -> Self {
        ApiKey(text)
    }

    /// Parses an `Authorization` header: the scheme `Bearer` in any case, and a token.
    ///
    /// Returns `None` for other schemes, and for a token that is empty or contains blanks.
    pub fn from_authorization(header: &'a str) -> Option<Self> {
        let (scheme, token) = header.trim_matches(OWS).split_once(' ')?;
        let token = token.trim_start_matches(' ');
        let well_formed = scheme.eq_ignore_ascii_case("bearer")
            && !token.is_empty()
            && token.bytes().all(|byte| byte.is_ascii_graphic());
        well_formed.then_some(ApiKey(token))
    }

    /// Returns the value of an `Authorization` header with this key.
    /// [`from_authorization`](Self::from_authorization) parses such a value.
    pub fn authorization(self) -> String {
        ["Bearer ", self.0].concat()
    }

    /// Returns whether the key begins with the prefix of live keys. The key's record decides what the key may
    /// do. This check is only for requests that must be refused before the record is read.
    pub fn has_live_prefix(self) -> bool {
        self.0.starts_with(Mode::Live.key_prefix())
    }

    pub fn hash(self) -> KeyHash {
        KeyHash(Sha256::digest(self.0.as_bytes()).into()) // no salt: a key has 200 random bits
    }
}

impl Debug for ApiKey<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("ApiKey(…)")
    }
}

/// Number of digits of a key's ID.
pub const KEY_ID_LENGTH: usize = 12;

/// The SHA-256 of a key's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyHash([u8; 32]);

impl KeyHash {
    /// Returns 64 lower-case hexadecimal digits.
    pub fn to_hex(self) -> String {
        base16ct::lower::encode_string(&self.0)
    }

    /// Returns the key's ID: the first 12 digits of the hash. Operators refer to the key by this ID.
    pub fn id(self) -> String {
        let mut hex = self.to_hex();
        hex.truncate(KEY_ID_LENGTH);
        hex
    }

    /// Parses the text that [`to_hex`](Self::to_hex) returns.
    pub fn from_hex(text: &str) -> Option<Self> {
        Some(KeyHash(base16ct::lower::decode_vec(text).ok()?.try_into().ok()?))
    }
}

impl Serialize for KeyHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_hex())
    }
}

impl<'de> Deserialize<'de> for KeyHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        KeyHash::from_hex(&String::deserialize(deserializer)?)
            .ok_or_else(|| Error::custom("the hash of a key has 64 hexadecimal digits"))
    }
}

/// The record of a key: `{"mode", "unit" | "team", "label"?, "secret"}`. Deserializing refuses IDs and labels that
/// are not valid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "KeyMembers")]
pub struct KeyRecord {
    /// Test or live.
    pub mode: Mode,
    /// The unit or team that the key belongs to.
    #[serde(flatten)]
    pub level: KeyLevel,
    /// The operator's note, which the list of keys shows.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// A copy of the namespace's secret. A key whose record has no copy cannot create transactions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<NamespaceSecret>,
}

/// The members of a key's record as they are deserialized, before they are checked. They are listed one by
/// one, because serde's `flatten` would build a tree of values first.
#[derive(Deserialize)]
struct KeyMembers {
    mode: Mode,
    unit: Option<String>,
    team: Option<String>,
    #[serde(default, deserialize_with = "read_label")]
    label: String,
    secret: Option<NamespaceSecret>,
}

impl TryFrom<KeyMembers> for KeyRecord {
    type Error = String;

    fn try_from(members: KeyMembers) -> Result<Self, String> {
        let KeyMembers { mode, unit, team, label, secret } = members;
        let level = LevelMembers { unit, team }.try_into()?;
        Ok(KeyRecord { mode, level, label, secret })
    }
}

/// The owner of a key (§5.4), a unit or a team. The key's record has the owner's ID in its member `unit` or
/// `team`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "LevelMembers", rename_all = "lowercase")]
pub enum KeyLevel {
    Unit(String),
    /// A team, whose units the key can act for. Each request names one of these units in `X-Service-Unit-Id`. The key's
    /// record does not list the units: each unit of a team has its own record.
    Team(String),
}

#[derive(Deserialize)]
struct LevelMembers {
    unit: Option<String>,
    team: Option<String>,
}

impl TryFrom<LevelMembers> for KeyLevel {
    type Error = String;

    fn try_from(LevelMembers { unit, team }: LevelMembers) -> Result<Self, String> {
        let level = match (unit, team) {
            (Some(unit), None) => KeyLevel::Unit(unit),
            (None, Some(team)) => KeyLevel::Team(team),
            _ => return Err("a key has either a `unit` or a `team`".to_owned()),
        };
        level.check().map(|()| level)
    }
}

impl KeyLevel {
    /// Returns `unit` or `team`.
    pub fn kind(&self) -> &'static str {
        match self {
            KeyLevel::Unit(_) => "unit",
            KeyLevel::Team(_) => "team",
        }
    }

    pub fn id(&self) -> &str {
        match self {
            KeyLevel::Unit(id) | KeyLevel::Team(id) => id,
        }
    }

    /// Returns an owner of the same kind, unit or team, with another ID.
    pub fn with_id(&self, id: &str) -> Self {
        match self {
            KeyLevel::Unit(_) => KeyLevel::Unit(id.to_owned()),
            KeyLevel::Team(_) => KeyLevel::Team(id.to_owned()),
        }
    }

    /// Checks the ID. The text of an error says what to write instead.
    pub fn check(&self) -> Result<(), String> {
        match self {
            KeyLevel::Unit(id) => check_id(id),
            KeyLevel::Team(id) => check_team_id(id),
        }
    }
}

/// Maximum number of characters of the ID of a unit or team. The ID has to fit into a header and into the metadata
/// of a record.
const MAX_ID_LENGTH: usize = 128;
/// Maximum number of characters of a label.
const MAX_LABEL_LENGTH: usize = 100;

/// Returns whether a text is a valid ID of a unit or team.
///
/// An ID is sent in a header, so it is ASCII without blanks. It has no comma, because HTTP joins headers of the
/// same name with commas. An ID is also part of a record's metadata. Metadata is short, so an ID has no character
/// that JSON escapes.
pub fn is_id(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b',' | b'"' | b'\\');
    let plain = text.bytes().all(is_plain);
    plain && (1..=MAX_ID_LENGTH).contains(&text.len())
}

/// Checks the ID of a unit. The text of an error says what to write instead.
pub fn check_id(id: &str) -> Result<(), String> {
    if is_id(id) {
        return Ok(());
    }
    let shown = id.escape_debug();
    Err(format!(
        "`{shown}` is not an ID: write 1 to {MAX_ID_LENGTH} ASCII characters without blanks, commas, \
         double quotes and backslashes"
    ))
}

/// Checks the ID of a team. It must not contain a colon, because a colon ends the team's ID in the record name
/// `member:{team}:{unit}`.
fn check_team_id(id: &str) -> Result<(), String> {
    check_id(id)?;
    if id.contains(':') {
        return Err(format!("`{id}` is not the ID of a team: write it without a colon"));
    }
    Ok(())
}

fn read_label<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let label = String::deserialize(deserializer)?;
    check_label(&label).map_err(Error::custom)?;
    Ok(label)
}

/// Checks the label of a key. The text of an error says what to write instead.
pub fn check_label(label: &str) -> Result<(), String> {
    if label.chars().count() <= MAX_LABEL_LENGTH && !label.chars().any(char::is_control) {
        return Ok(());
    }
    Err(format!(
        "the label is out of bounds: write one line of at most {MAX_LABEL_LENGTH} characters"
    ))
}

impl KeyRecord {
    /// Creates the record of a key, with an empty label and without a copy of the namespace's secret.
    pub const fn new(mode: Mode, level: KeyLevel) -> Self {
        KeyRecord { mode, level, label: String::new(), secret: None }
    }
}
