//! API keys: create, list, revoke, rotate.

mod make;
mod rotate;

pub use make::create;
pub use rotate::{End, Rotated, rotate};

use super::audit::{Author, Change};
use super::delays::SHOWN_SECONDS;
use super::once::{Done, Outcome, Plain, once};
use super::{OperatorError, Pages, Result, read_value, secret, without_position};
use crate::auth::{ApiKey, KEY_ID_LENGTH, KeyHash, KeyLevel, KeyRecord};
use crate::handle::{Clock, Entropy};
use crate::ledger::Ledger;
use crate::scope::Mode;
use crate::secret::NamespaceSecret;
use crate::store::{CredentialKey, Key, Listed, OperatorStore, Registered};
use crate::time::date_time_in_seconds;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;

const CREATE: &str = "keys create";
const REVOKE: &str = "keys revoke";
const ROTATE: &str = "keys rotate";

/// Most bytes of a new note: `ends` and `successor`, which come later, fit into the 1,024 of metadata, too.
const MAX_NOTE_BYTES: usize = 960;

/// A key that was made.
#[derive(Clone, Debug, Serialize)]
pub struct MadeKey {
    /// The key itself, which is shown this once: only its hash is kept. `None` if it was shown before.
    pub key: Option<String>,
    /// The key as later lists show it.
    #[serde(flatten)]
    pub row: KeyRow,
}

impl MadeKey {
    /// The key itself.
    ///
    /// # Errors
    /// If it was shown before.
    pub fn secret(&self) -> Result<&str> {
        self.key.as_deref().ok_or_else(|| {
            OperatorError::Invalid(format!(
                "the key `{}` is already made; its secret was shown once. If nobody has it, rotate the key or revoke it",
                self.row.name.id
            ))
        })
    }

    /// A key whose secret was shown.
    fn shown(name: KeyName) -> Self {
        MadeKey { key: None, row: KeyRow { name, note: None, problem: None } }
    }
}

impl Outcome for MadeKey {
    type Kept = KeyName;

    fn to_keep(&self) -> Option<KeyName> {
        Some(self.row.name.clone())
    }

    fn again(kept: KeyName) -> Self {
        MadeKey::shown(kept)
    }
}

/// A key in a list.
#[derive(Clone, Debug, Serialize)]
pub struct KeyRow {
    /// The names of the key.
    #[serde(flatten)]
    pub name: KeyName,
    /// Its note; `None` if it cannot be read.
    #[serde(flatten)]
    pub note: Option<KeyNote>,
    /// The problem with it. The key can still be revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Names of a key that do not reveal it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyName {
    /// The first 12 digits of its hash.
    pub id: String,
    /// The name of its record, with the whole hash: it finds the key where a list lacks it.
    pub name: String,
}

impl Plain for KeyName {}

impl KeyName {
    fn new(CredentialKey(hash): CredentialKey) -> Self {
        KeyName { id: hash.id(), name: CredentialKey(hash).name() }
    }
}

/// The metadata of a key's record, so that a list of keys reads no record: at most 1,024 bytes of
/// JSON. The service does not read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyNote {
    /// Test or live.
    pub mode: Mode,
    /// Whom it acts for.
    #[serde(flatten)]
    pub level: KeyLevel,
    /// The operator's note.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// When it was made, an RFC 3339 date-time.
    pub created: String,
    /// Who made it.
    pub by: String,
    /// Digits that two keys with one secret have in common.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// The ID of the key that it replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predecessor: Option<String>,
    /// The ID of the key that replaces it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successor: Option<String>,
    /// When it ends, an RFC 3339 date-time; `None` if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends: Option<String>,
}

impl KeyNote {
    pub(super) fn new(record: &KeyRecord, Registered { created, by }: Registered) -> Self {
        KeyNote {
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

    /// The note as metadata. A long name of who made the key is cut where the label is long, too: the audit log has it
    /// whole.
    pub(super) fn fitted(mut self) -> Result<Value> {
        let mut by = self.by.clone();
        while serde_json::to_vec(&self)?.len() > MAX_NOTE_BYTES && by.pop().is_some() {
            self.by = [&by, "…"].concat();
        }
        Ok(serde_json::to_value(&self)?)
    }
}

impl KeyRow {
    /// `secret` is the fingerprint of the namespace's secret, if that is known.
    fn new(key: CredentialKey, metadata: &Value, secret: Option<&str>) -> Self {
        let name = KeyName::new(key);
        let note = match KeyNote::deserialize(metadata) {
            Ok(note) => note,
            Err(error) => {
                let problem = Some(format!("unreadable metadata: {}", without_position(&error)));
                return KeyRow { name, note: None, problem };
            }
        };
        let is_another = secret.is_some_and(|secret| note.secret.as_deref() != Some(secret));
        let problem = is_another.then(|| {
            "its secret is not the namespace's: make another key, and revoke this one".to_owned()
        });
        KeyRow { name, note: Some(KeyNote { secret: None, ..note }), problem }
    }
}

/// A [`CredentialKey`] whose metadata is read: a [`KeyNote`], with members of later releases.
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

/// The old key of a rotation (0) or the new one (1); `None` for another change.
fn of_rotation(change: &Change, index: usize) -> Option<&String> {
    (change.command == ROTATE).then(|| change.on.get(index)).flatten()
}

// ---- List ----------------------------------------------------------------------------------------

/// All keys, or those of a unit or a team, sorted by hash, among the first so many pages of a thousand; and whether there
/// are more pages. A key of the last minute may be missing. One that cannot be read is nobody's.
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

fn row(Listed { name, metadata, expiration }: &Listed, secret: Option<&str>) -> Option<KeyRow> {
    let mut row = KeyRow::new(CredentialKey::parse(name)?, metadata, secret);
    if let (Some(note), Some(seconds)) = (&mut row.note, expiration) {
        note.ends = Some(date_time_in_seconds(*seconds)); // as the store has it
    }
    Some(row)
}

/// Whether a record of this name is a key's.
pub fn is_key(name: &str) -> bool {
    name.starts_with(CredentialKey::PREFIX)
}

/// The key of a backup's record, as a list shows it; `None` for a record of another kind.
pub fn backed(record: &Listed) -> Option<KeyRow> {
    row(record, None)
}

// ---- One key -------------------------------------------------------------------------------------

/// Finds a key by its text, its whole hash, the name of its record, or its ID, which is the beginning
/// of the hash. Only an ID is looked up in a list, which may lack keys of the last minute.
///
/// # Errors
/// If the text has another form, matches no key or several, or the store fails.
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
            "no key has the ID `{text}` in the list, which may lack keys of the last {SHOWN_SECONDS} s: give \
             the key itself or its whole hash, and no list is needed"
        ))),
        several => Err(OperatorError::Invalid(format!(
            "{} keys have IDs that begin with `{text}`: give more of the hash, or the key itself",
            several.len()
        ))),
    }
}

/// The key of a text that needs no look-up in a list.
fn whole(text: &str) -> Option<CredentialKey> {
    if [Mode::Test, Mode::Live].iter().any(|mode| text.starts_with(mode.key_prefix())) {
        return Some(CredentialKey(ApiKey::new(text).hash()));
    }
    CredentialKey::parse(text).or_else(|| KeyHash::from_hex(text).map(CredentialKey))
}

/// A key, which is named as for [`find`]; `None` if it has no record.
///
/// # Errors
/// As [`find`], or if the store fails.
pub async fn get(store: &impl OperatorStore, key: &str) -> Result<Option<KeyRow>> {
    let key = find(store, key).await?;
    let stored = store.get(&NotedKey(key)).await?;
    Ok(stored.map(|stored| KeyRow::new(key, &stored.metadata, None)))
}

/// Revokes a key, which is named as for [`find`]. A ledger that does not answer is passed over: a key that others know has
/// to go.
///
/// # Errors
/// As [`find`]; if it has no record, or the store fails.
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
    if read_value(store, key).await?.is_none() {
        if author.earlier.is_some() {
            return Ok(KeyName::new(key)); // an earlier attempt has removed it
        }
        return Err(OperatorError::Invalid("not revoked: no such key here".to_owned()));
    }
    author.record(store, REVOKE, [key.0.id()]).await?;
    store.remove(&key).await?;
    Ok(KeyName::new(key))
}
