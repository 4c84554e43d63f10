//! API keys and their records (§5).
//!
//! A key is opaque: its record, named by the SHA-256 of its text, says what it may do.

use crate::http::OWS;
use crate::scope::{Mode, Scope};
use crate::secret::NamespaceSecret;
use base32ct::{Base32Unpadded, Encoding as _};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use sha2::{Digest as _, Sha256};
use std::fmt::{self, Debug, Formatter};

/// Bytes of randomness in a new key: 200 bits.
pub const KEY_BYTES: usize = 25;

/// The text of a new key, such as `service_sk_test_` and 40 characters, of these random bytes.
pub fn new_key(mode: Mode, random: [u8; KEY_BYTES]) -> String {
    format!("{}_{}", mode.key_prefix(), Base32Unpadded::encode_string(&random))
}

/// The text of an API key. `Debug` does not show it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ApiKey<'a>(&'a str);

impl<'a> ApiKey<'a> {
    /// Takes the text of a key, unchecked.
    pub fn new(text: &'a str) -> Self {
        ApiKey(text)
    }

    /// Reads an `Authorization` header: the scheme `Bearer` in any case, and a token.
    ///
    /// `None` for other schemes, and for a token that is empty or has blanks in it.
    pub fn from_authorization(header: &'a str) -> Option<Self> {
        let (scheme, token) = header.trim_matches(OWS).split_once(' ')?;
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

    /// The hash that names its record.
    pub fn hash(self) -> KeyHash {
        KeyHash(Sha256::digest(self.0.as_bytes()).into()) // no salt: a key has 200 random bits
    }
}

impl Debug for ApiKey<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("ApiKey(…)")
    }
}

/// Digits of a key's ID.
pub const KEY_ID_LENGTH: usize = 12;

/// SHA-256 of a key's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyHash([u8; 32]);

impl KeyHash {
    /// 64 lower-case hexadecimal digits.
    pub fn to_hex(self) -> String {
        base16ct::lower::encode_string(&self.0)
    }

    /// The ID by which operators name the key: the first 12 digits.
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

/// The record of a key. Deserializing refuses IDs and labels that are out of bounds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyRecord {
    /// Test or live.
    pub mode: Mode,
    /// The unit or team that it acts for.
    #[serde(flatten)]
    pub level: KeyLevel,
    /// The operator's note, shown by the key list.
    #[serde(default, deserialize_with = "read_label", skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// Copy of the namespace's secret. A key without it cannot create.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<NamespaceSecret>,
}

/// The unit or team that a key acts for (§5.4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "level", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum KeyLevel {
    /// One unit.
    Unit {
        /// The unit's ID.
        #[serde(deserialize_with = "read_id")]
        unit_id: String,
    },
    /// The units of a team; each request names one by `X-Service-Unit-Id`.
    Team {
        /// The team's ID.
        #[serde(deserialize_with = "read_id")]
        team_id: String,
        /// IDs of its units.
        #[serde(deserialize_with = "read_units")]
        unit_ids: Vec<String>,
    },
}

/// Most characters of a unit's or team's ID: it has to fit a header and the metadata of a record.
const MAX_ID_LENGTH: usize = 128;
/// Most units of a team: the service holds a thousand teams in memory.
const MAX_UNITS: usize = 1_000;
/// Most characters of a label.
const MAX_LABEL_LENGTH: usize = 100;

fn read_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let id = String::deserialize(deserializer)?;
    check_id(&id)?;
    Ok(id)
}

/// Checks the ID of a unit or team. It is sent in a header: so it is ASCII without blanks, and
/// without the comma, which HTTP puts between two headers of one name.
pub(crate) fn check_id<E: Error>(id: &str) -> Result<(), E> {
    let plain = id.bytes().all(|byte| byte.is_ascii_graphic() && byte != b',');
    if plain && (1..=MAX_ID_LENGTH).contains(&id.len()) {
        return Ok(());
    }
    Err(E::custom(format_args!(
        "`{id}` is not an ID: write 1 to {MAX_ID_LENGTH} ASCII characters without blanks and commas"
    )))
}

fn read_units<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let ids = Vec::<String>::deserialize(deserializer)?;
    if !(1..=MAX_UNITS).contains(&ids.len()) {
        let count = ids.len();
        return Err(Error::custom(format_args!("a team has 1 to {MAX_UNITS} units, not {count}")));
    }
    ids.iter().try_for_each(|id| check_id(id))?;
    Ok(ids)
}

fn read_label<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let label = String::deserialize(deserializer)?;
    if label.chars().count() <= MAX_LABEL_LENGTH && !label.chars().any(char::is_control) {
        return Ok(label);
    }
    Err(Error::custom(format_args!(
        "the label is out of bounds: write one line of at most {MAX_LABEL_LENGTH} characters"
    )))
}

impl KeyRecord {
    /// The record of a key without a label, and without the secret.
    pub const fn new(mode: Mode, level: KeyLevel) -> Self {
        KeyRecord { mode, level, label: String::new(), secret: None }
    }

    /// Whether it is a team-level key, whose requests have to name a unit.
    pub fn is_team(&self) -> bool {
        matches!(self.level, KeyLevel::Team { .. })
    }

    /// The unit that a request acts for; `unit_id` is its `X-Service-Unit-Id`.
    ///
    /// `None` if a team-level key comes without the header, or with a unit of another team.
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
