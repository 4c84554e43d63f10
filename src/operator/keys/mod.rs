//! API keys: creates, lists, revokes and rotates them.

mod make;
mod rotate;

pub use make::create;
pub use rotate::{KeyExpiry, Rotated, rotate};

use super::audit::{Author, Change, Subject};
use super::delays::SHOWN_SECONDS;
use super::once::{Done, Outcome, StoredAsIs, once};
use super::{OperatorError, Pages, Result, read_value, secret, without_position};
use crate::auth::{ApiKey, KEY_ID_LENGTH, KeyHash, KeyLevel, KeyRecord};
use crate::ledger::Ledger;
use crate::scope::Mode;
use crate::secret::NamespaceSecret;
use crate::service::{Clock, Entropy};
use crate::store::{CredentialKey, Key, KeyInfo, OperatorStore, Registered};
use crate::time::date_time_in_seconds;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;

const CREATE: &str = "keys create";
const REVOKE: &str = "keys revoke";
const ROTATE: &str = "keys rotate";

/// Largest number of bytes of a new note. This leaves room for `ends` and `successor` within the 1,024 bytes of metadata.
const MAX_NOTE_BYTES: usize = 960;

/// A key that was created.
#[derive(Clone, Debug, Serialize)]
pub struct MadeKey {
    /// The key itself; `None` if it was shown before. A key is shown only once, because only its hash is stored.
    pub key: Option<String>,
    /// The key as lists show it.
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
            OperatorError::Invalid(format!(
                "the key `{}` was already created and is shown only once. If nobody has stored it, rotate or revoke it",
                self.row.name.id
            ))
        })
    }

    /// Creates the entry of a key that was shown before.
    fn shown(name: KeyName) -> Self {
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

/// A key in a list.
#[derive(Clone, Debug, Serialize)]
pub struct KeyRow {
    /// The names of the key.
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
    fn new(CredentialKey(hash): CredentialKey) -> Self {
        KeyName { id: hash.id(), name: CredentialKey(hash).name() }
    }
}

/// The metadata of a key's record, at most 1,024 bytes of JSON. With this metadata, keys can be listed without reading
/// their records. The service does not read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyMetadata {
    /// Test or live.
    pub mode: Mode,
    /// The unit or team that the key acts for.
    #[serde(flatten)]
    pub level: KeyLevel,
    /// The operator's label.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// When the key was created, an RFC 3339 date-time.
    pub created: String,
    /// Who created the key.
    pub by: String,
    /// The fingerprint of the namespace's secret that the key's record contains. Keys with the same secret have the
    /// same fingerprint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// The ID of the key that this key replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predecessor: Option<String>,
    /// The ID of the key that replaces this key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successor: Option<String>,
    /// When the key expires, an RFC 3339 date-time; `None` if it does not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends: Option<String>,
}

impl KeyMetadata {
    pub(super) fn new(record: &KeyRecord, Registered { created, by }: Registered) -> Self {
        KeyMetadata {
            mode: record.mode,
            level: record.level.clone(),
            label: record.label.clone(),
            created,
            by,
            secret: record.secret.as_ref().map(NamespaceSecret::fingerprint),
            predecessor: None,
            successor: None,
            ends: None,
        }
    }

    /// Returns the note as metadata. Shortens the author's name if the note would be too long; the audit log has the whole
    /// name.
    pub(super) fn fitted(mut self) -> Result<Value> {
        let mut by = self.by.clone();
        while serde_json::to_vec(&self)?.len() > MAX_NOTE_BYTES && by.pop().is_some() {
            self.by = [&by, "…"].concat();
        }
        Ok(serde_json::to_value(&self)?)
    }
}

impl KeyRow {
    /// Creates a row from a key's metadata. `secret` is the fingerprint of the namespace's secret, if known.
    fn new(key: CredentialKey, metadata: &Value, secret: Option<&str>) -> Self {
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
            "its secret is not the namespace's: create another key, and revoke this one".to_owned()
        });
        KeyRow { name, note: Some(KeyMetadata { secret: None, ..note }), problem }
    }
}

/// A [`CredentialKey`] whose metadata is read as JSON: a [`KeyMetadata`] that may have members of later releases.
#[derive(Clone, Copy)]
pub(super) struct NotedKey(pub CredentialKey);

impl Key for NotedKey {
    type Metadata = Value;
    const KIND: &'static str = CredentialKey::KIND;
    const PREFIX: &'static str = CredentialKey::PREFIX;
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Owned(self.0.0.to_hex())
    }
}

fn read(record: &[u8]) -> Result<KeyRecord, String> {
    serde_json::from_slice(record).map_err(|error| without_position(&error))
}

fn revokes(change: &Change, id: &str) -> bool {
    change.command == REVOKE && change.on == [id]
}

/// Returns the ID of the old key (index 0) or the new key (index 1) of a rotation; `None` for another change.
fn of_rotation(change: &Change, index: usize) -> Option<&String> {
    (change.command == ROTATE).then(|| change.on.get(index)).flatten()
}

// ---- List ----------------------------------------------------------------------------------------

/// Returns all keys, or those of a unit or a team, sorted by hash; and whether there are more than `most_pages` pages of
/// 1,000 keys. Keys of the last minute may be missing. A key whose metadata cannot be read belongs to no unit or team. KV
/// cost: 1 read, and 1 list per 1,000 keys.
///
/// # Errors
/// If the store fails.
pub async fn list(
    store: &impl OperatorStore,
    of: Option<&KeyLevel>,
    most_pages: usize,
) -> Result<(Vec<KeyRow>, bool)> {
    let secret = fingerprint(store).await?;
    let is_wanted =
        |row: &KeyRow| of.is_none_or(|of| row.note.as_ref().is_some_and(|it| it.level == *of));
    let mut rows = Vec::new();
    let mut pages = Pages::new(store, CredentialKey::PREFIX);
    for _ in 0..most_pages {
        let Some(page) = pages.next().await? else { break };
        let listed = page.iter().filter_map(|record| row(record, secret.as_deref()));
        rows.extend(listed.filter(is_wanted));
    }
    Ok((rows, !pages.is_last))
}

async fn fingerprint(store: &impl OperatorStore) -> Result<Option<String>> {
    Ok(secret::recorded(store).await?.map(|secret| secret.fingerprint()))
}

fn row(KeyInfo { name, metadata, expiration }: &KeyInfo, secret: Option<&str>) -> Option<KeyRow> {
    let mut row = KeyRow::new(CredentialKey::parse(name)?, metadata, secret);
    if let (Some(note), Some(seconds)) = (&mut row.note, expiration) {
        note.ends = Some(date_time_in_seconds(*seconds)); // the store's expiry is what counts
    }
    Some(row)
}

/// Returns whether this is the name of a key's record.
pub fn is_key(name: &str) -> bool {
    name.starts_with(CredentialKey::PREFIX)
}

/// Returns the key that a record of a backup describes; `None` for a record of another kind.
pub fn backed(record: &KeyInfo) -> Option<KeyRow> {
    row(record, None)
}

// ---- One key -------------------------------------------------------------------------------------

/// Finds a key by the key itself, its whole hash, the name of its record, or its ID, which is the beginning of its hash. An
/// ID is looked up in a list, where keys of the last minute may be missing. KV cost: 1 list for an ID.
///
/// # Errors
/// If the text is none of these, or an ID matches no key or several; or if the store fails.
async fn find(store: &impl OperatorStore, text: &str) -> Result<CredentialKey> {
    let text = text.trim();
    if let Some(key) = whole(text) {
        return Ok(key);
    }
    let is_hexadecimal = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if !is_hexadecimal || !(KEY_ID_LENGTH..=64).contains(&text.len()) {
        return Err(OperatorError::Invalid(
            "this is neither a key nor an ID: take the ID from the key list".to_owned(),
        ));
    }
    let mut found = Vec::new();
    let mut pages = Pages::new(store, CredentialKey::hash_prefix(text));
    while let Some(page) = pages.next().await? {
        found.extend(secret::credential_keys(&page));
    }
    match found.as_slice() {
        [key] => Ok(*key),
        [] => Err(OperatorError::Invalid(format!(
            "no key has the ID `{text}` in the list, which may lack keys of the last {SHOWN_SECONDS} s. Give \
             the key itself or its whole hash to find a new key"
        ))),
        several => Err(OperatorError::Invalid(format!(
            "{} keys have IDs that begin with `{text}`: give more of the hash, or the key itself",
            several.len()
        ))),
    }
}

/// Returns the key for a text that identifies it without a list call: the key itself, its whole hash, or the name of
/// its record.
fn whole(text: &str) -> Option<CredentialKey> {
    if [Mode::Test, Mode::Live].iter().any(|mode| text.starts_with(mode.key_prefix())) {
        return Some(CredentialKey(ApiKey::new(text).hash()));
    }
    CredentialKey::parse(text).or_else(|| KeyHash::from_hex(text).map(CredentialKey))
}

/// Returns a key by one of the names that [`find`] accepts; `None` if it does not exist.
///
/// # Errors
/// As [`find`].
pub async fn get(store: &impl OperatorStore, key: &str) -> Result<Option<KeyRow>> {
    let key = find(store, key).await?;
    let stored = store.get(&NotedKey(key)).await?;
    Ok(stored.map(|stored| KeyRow::new(key, &stored.metadata, None)))
}

/// Revokes a key by one of the names that [`find`] accepts. Works even if the ledger does not answer, because a leaked key
/// must be revocable at any time.
///
/// # Errors
/// As [`find`]; or if the key does not exist.
pub async fn revoke(
    store: &impl OperatorStore,
    ledger: Option<&dyn Ledger>,
    author: &Author<'_, impl Clock, impl Entropy>,
    key: &str,
) -> Result<Done<KeyName>> {
    let work = async |author: &Author<'_, _, _>| remove(store, author, key).await;
    match once(store, ledger, author, (REVOKE, &key), work).await {
        Err(OperatorError::Ledger(_)) => once(store, None, author, (REVOKE, &key), work).await,
        revoked => revoked,
    }
}

async fn remove(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    key: &str,
) -> Result<KeyName> {
    let key = find(store, key).await?;
    let Some(value) = read_value(store, key).await? else {
        if author.earlier.is_some() {
            return Ok(KeyName::new(key)); // an earlier attempt has removed it
        }
        return Err(OperatorError::Invalid(
            "nothing was revoked: this key does not exist here".to_owned(),
        ));
    };
    let of = serde_json::from_slice(&value).ok().map(|record: KeyRecord| record.level);
    let subject = Subject { of, ..Subject::from(vec![key.0.id()]) };
    author.record_subject(store, REVOKE, subject).await?;
    store.remove(&key).await?;
    Ok(KeyName::new(key))
}
