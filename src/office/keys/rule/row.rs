//! A key as operators see it: its names and its metadata.

use crate::office::shared::rule::error::{OperatorError, Result, without_position};
use crate::office::shared::rule::once::{Outcome, StoredAsIs};
use crate::pledges::auth::{KeyLevel, KeyRecord};
use crate::pledges::scope::Mode;
use crate::pledges::secret::NamespaceSecret;
use crate::pledges::store::{CredentialKey, Key, KeyInfo, Registered};
use crate::pledges::time::date_time_in_seconds;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;

/// Largest size of a new key's metadata, in bytes. Metadata may have 1,024 bytes. The rest is for `ends` and
/// `successor`, which a rotation adds.
const MAX_NOTE_BYTES: usize = 960;

#[derive(Clone, Debug, Serialize)]
pub struct MadeKey {
    /// The key itself; `None` if it was shown before. A key is shown only once, because only its hash is stored.
    pub key: Option<String>,
    #[serde(flatten)]
    pub row: KeyRow,
}

impl MadeKey {
    /// Returns the key itself.
    ///
    /// # Errors
    /// If the key was shown before.
    pub fn secret(&self) -> Result<&str> {
        self.key.as_deref().ok_or_else(|| {
            OperatorError::invalid(format!(
                "the key `{}` was already created and is shown only once. If nobody has stored it, rotate or revoke it",
                self.row.name.id
            ))
        })
    }

    /// Creates the outcome for a key that was already shown: its names, without the key itself.
    pub(super) fn shown(name: KeyName) -> Self {
        MadeKey { key: None, row: KeyRow { name, note: None, problem: None } }
    }
}

impl Outcome for MadeKey {
    type Stored = KeyName;

    fn to_stored(&self) -> Option<KeyName> {
        Some(self.row.name.clone())
    }

    fn from_stored(kept: KeyName) -> Self {
        MadeKey::shown(kept)
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct KeyRow {
    #[serde(flatten)]
    pub name: KeyName,
    /// The key's metadata; `None` if it cannot be read.
    #[serde(flatten)]
    pub note: Option<KeyMetadata>,
    /// What is wrong with the key; `None` if nothing is. A key with a problem can still be revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// The names of a key, which do not reveal it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyName {
    /// The key's ID: the first 12 digits of its hash.
    pub id: String,
    /// The name of the key's record, which contains the whole hash. With this name, the key is found even before a list
    /// shows it.
    pub name: String,
}

impl StoredAsIs for KeyName {}

impl KeyName {
    pub(super) fn new(CredentialKey(hash): CredentialKey) -> Self {
        KeyName { id: hash.id(), name: CredentialKey(hash).name() }
    }
}

/// The metadata of a key's record, at most 1,024 bytes of JSON. With this metadata, operators can list keys
/// without a read of each record. The service does not use the metadata.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyMetadata {
    /// Test or live.
    pub mode: Mode,
    /// The unit or team that the key acts for.
    #[serde(flatten)]
    pub level: KeyLevel,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// When the key was created, an RFC 3339 date-time.
    pub created: String,
    pub by: String,
    /// Whether the person who created the key belongs to a shop.
    #[serde(default, rename = "byShop", skip_serializing_if = "std::ops::Not::not")]
    pub by_shop: bool,
    /// The fingerprint of the namespace's secret in the key's record. Keys with the same secret have the same
    /// fingerprint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predecessor: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successor: Option<String>,
    /// When the key expires, an RFC 3339 date-time; `None` if it does not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends: Option<String>,
}

impl KeyMetadata {
    pub(crate) fn new(record: &KeyRecord, Registered { created, by, by_shop }: Registered) -> Self {
        KeyMetadata {
            mode: record.mode,
            level: record.level.clone(),
            label: record.label.clone(),
            created,
            by,
            by_shop,
            secret: record.secret.as_ref().map(NamespaceSecret::fingerprint),
            predecessor: None,
            successor: None,
            ends: None,
        }
    }

    /// Returns the metadata as JSON. If it would be too long, shortens the author's name. The audit log has
    /// the whole name.
    pub(crate) fn fitted(mut self) -> Result<Value> {
        let mut by = self.by.clone();
        while serde_json::to_vec(&self)?.len() > MAX_NOTE_BYTES && by.pop().is_some() {
            self.by = [&by, "…"].concat();
        }
        Ok(serde_json::to_value(&self)?)
    }
}

impl KeyRow {
    /// Creates a row from a key's metadata. `secret` is the fingerprint of the namespace's secret, if known.
    pub(super) fn new(key: CredentialKey, metadata: &Value, secret: Option<&str>) -> Self {
        let name = KeyName::new(key);
        let note = match KeyMetadata::deserialize(metadata) {
            Ok(note) => note,
            Err(error) => {
                let problem = Some(format!("unreadable metadata: {}", without_position(&error)));
                return KeyRow { name, note: None, problem };
            }
        };
        let is_another = secret.is_some_and(|secret| note.secret.as_deref() != Some(secret));
        let problem = is_another.then(|| {
            "the key's copy of the namespace's secret is missing or wrong: create another key, and \
             revoke this one"
                .to_owned()
        });
        KeyRow { name, note: Some(KeyMetadata { secret: None, ..note }), problem }
    }
}

/// A [`CredentialKey`] whose metadata is kept as JSON. This JSON may contain members of later releases,
/// which a [`KeyMetadata`] would lose.
#[derive(Clone, Copy)]
pub(crate) struct NotedKey(pub CredentialKey);

impl Key for NotedKey {
    type Metadata = Value;
    const KIND: &'static str = CredentialKey::KIND;
    const PREFIX: &'static str = CredentialKey::PREFIX;
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Owned(self.0.0.to_hex())
    }
}

/// Reads a key's record. The error says what is wrong with it.
pub(super) fn read(record: &[u8]) -> Result<KeyRecord, String> {
    serde_json::from_slice(record).map_err(|error| without_position(&error))
}

/// Returns the key that a list's entry describes; `None` for a record of another kind. `secret` is the
/// fingerprint of the namespace's secret, if known.
pub(super) fn row(
    KeyInfo { name, metadata, expiration }: &KeyInfo,
    secret: Option<&str>,
) -> Option<KeyRow> {
    let mut row = KeyRow::new(CredentialKey::parse(name)?, metadata, secret);
    if let (Some(note), Some(seconds)) = (&mut row.note, expiration) {
        note.ends = Some(date_time_in_seconds(*seconds)); // the store's expiry is what counts
    }
    Some(row)
}
