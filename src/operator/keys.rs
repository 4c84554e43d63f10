//! API keys: create, list, revoke, rotate.

use super::audit::Author;
use super::{OperatorError, Pages, Result, encode, read_value, secret, without_position};
use crate::auth::{ApiKey, KEY_BYTES, KEY_ID_LENGTH, KeyHash, KeyRecord, new_key};
use crate::handle::{Clock, Entropy};
use crate::scope::Mode;
use crate::secret::NamespaceSecret;
use crate::store::{
    CredentialKey, Key as _, Listed, MAX_READS, NoMetadata, OperatorStore, StoreError, StoredValue,
};
use crate::time::date_time_in_seconds;
use serde::Serialize;
use std::collections::BTreeMap;

/// A key that was made just now.
#[derive(Clone, Debug, Serialize)]
pub struct MadeKey {
    /// The key itself, which is shown this once: only its hash is kept.
    pub key: String,
    /// The key as later lists show it.
    #[serde(flatten)]
    pub row: KeyRow,
}

/// A key in a list.
#[derive(Clone, Debug, Serialize)]
pub struct KeyRow {
    /// The names of the key.
    #[serde(flatten)]
    pub name: KeyName,
    /// Its record, without the secret; `None` if it cannot be read.
    #[serde(flatten)]
    pub record: Option<KeyRecord>,
    /// The problem with its record. The key can still be revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// When it ends, an RFC 3339 date-time; `None` if it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ends: Option<String>,
}

/// Names of a key that do not reveal it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeyName {
    /// The first 12 digits of its hash.
    pub id: String,
    /// The name of its record, with the whole hash: it finds the key where a list lacks it.
    pub name: String,
}

impl KeyName {
    fn new(CredentialKey(hash): CredentialKey) -> Self {
        KeyName { id: hash.id(), name: CredentialKey(hash).name() }
    }
}

impl KeyRow {
    fn new(key: CredentialKey, record: KeyRecord) -> Self {
        let record = Some(KeyRecord { secret: None, ..record });
        KeyRow { name: KeyName::new(key), record, problem: None, ends: None }
    }
}

// ---- Create --------------------------------------------------------------------------------------

/// Makes a key with this record, and the namespace's secret with the first key. The secret of the
/// record given is ignored.
///
/// # Errors
/// If an ID or the label is out of bounds, or the store fails.
pub async fn create(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    record: KeyRecord,
) -> Result<MadeKey> {
    read(&encode(&record)?).map_err(OperatorError::Invalid)?; // as the service will
    let (key, credential) = draw(author.entropy, record.mode);
    author.record(store, "keys create", [credential.0.id()]).await?;
    let secret = Some(secret::find_or_make(store, author.entropy).await?);
    let record = KeyRecord { secret, ..record };
    store.put(&credential, encode(&record)?, &NoMetadata).await?;
    Ok(MadeKey { key, row: KeyRow::new(credential, record) })
}

/// Draws a key. Returns its text, and the key of its record.
fn draw(entropy: &impl Entropy, mode: Mode) -> (String, CredentialKey) {
    let mut random = [0; KEY_BYTES];
    entropy.fill(&mut random);
    let key = new_key(mode, random);
    let credential = CredentialKey(ApiKey::new(&key).hash());
    (key, credential)
}

fn read(record: &[u8]) -> Result<KeyRecord, String> {
    serde_json::from_slice(record).map_err(|error| without_position(&error))
}

// ---- List ----------------------------------------------------------------------------------------

/// All keys, sorted by hash; a key of the last minute may be missing.
///
/// # Errors
/// If the store fails.
pub async fn list(store: &impl OperatorStore) -> Result<Vec<KeyRow>> {
    let secret = secret::recorded(store).await?;
    let mut rows = Vec::new();
    let mut pages = Pages::new(store, CredentialKey::PREFIX);
    while let Some(page) = pages.next().await? {
        let ends = ends_by_name(&page);
        for keys in secret::credential_keys(&page).chunks(MAX_READS) {
            let values = store.get_values(keys).await?;
            for (key, value) in keys.iter().zip(values) {
                let Some(value) = value else { continue }; // it has ended meanwhile
                let row = row(*key, &value, secret);
                let ends = ends.get(&row.name.name).map(|end| date_time_in_seconds(*end));
                rows.push(KeyRow { ends, ..row });
            }
        }
    }
    Ok(rows)
}

fn ends_by_name(page: &[Listed]) -> BTreeMap<String, u64> {
    page.iter().filter_map(|record| Some((record.name.clone(), record.expiration?))).collect()
}

fn row(key: CredentialKey, value: &[u8], secret: Option<NamespaceSecret>) -> KeyRow {
    match read(value) {
        Ok(record) => {
            let is_another = secret.is_some() && record.secret != secret;
            let problem = is_another.then(|| {
                "its secret is not the namespace's: make another key, and revoke this one"
                    .to_owned()
            });
            KeyRow { problem, ..KeyRow::new(key, record) }
        }
        Err(problem) => {
            KeyRow { name: KeyName::new(key), record: None, problem: Some(problem), ends: None }
        }
    }
}

/// Whether a record of this name is a key's.
pub fn is_key(name: &str) -> bool {
    name.starts_with(CredentialKey::PREFIX)
}

/// The key of a backup's record, as a list shows it; `None` for a record of another kind.
pub fn backed(name: &str, value: &str) -> Option<KeyRow> {
    CredentialKey::parse(name).map(|key| row(key, value.as_bytes(), None))
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
            "no key has the ID `{text}` in the list, which may lack keys of the last minute: give \
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

/// A key that was revoked.
#[derive(Clone, Debug, Serialize)]
pub struct Revoked {
    /// The key.
    #[serde(flatten)]
    pub name: KeyName,
    /// Whether it had a record.
    pub found: bool,
}

/// Revokes a key, which is named as for [`find`].
///
/// # Errors
/// As [`find`], or if the store fails.
pub async fn revoke(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    key: &str,
) -> Result<Revoked> {
    let key = find(store, key).await?;
    let found = read_value(store, key).await?.is_some();
    author.record(store, "keys revoke", [key.0.id()]).await?;
    store.remove(&key).await?;
    Ok(Revoked { name: KeyName::new(key), found })
}

/// A key that replaces another.
#[derive(Clone, Debug, Serialize)]
pub struct Rotated {
    /// The new key, which works whether or not the old one was ended.
    pub made: MadeKey,
    /// The old key.
    pub replaces: Replaced,
    /// Whether the end of the old key was written. If not, the old key works on without an end.
    #[serde(skip)]
    pub ended: Result<(), StoreError>,
}

/// A key that another replaces.
#[derive(Clone, Debug, Serialize)]
pub struct Replaced {
    /// The names of the key.
    #[serde(flatten)]
    pub name: KeyName,
    /// When it ends, an RFC 3339 date-time.
    pub ends: String,
}

/// Makes a key with the rights of an old one, which ends after `keep_seconds`: 0, or at least 60. The
/// old key is named as for [`find`]. Its record is copied unchanged, with its secret and with members
/// of later releases.
///
/// # Errors
/// As [`find`]; if the old key's record is missing, damaged or has no secret; or if the store fails
/// before there is a new key.
pub async fn rotate(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    key: &str,
    keep_seconds: u32,
) -> Result<Rotated> {
    let old = find(store, key).await?;
    let name = KeyName::new(old);
    let id = &name.id;
    let stored = store
        .get(&old)
        .await?
        .ok_or_else(|| OperatorError::Invalid(format!("there is no key {id}: nothing was done")))?;
    let value = stored.value.read(CredentialKey::READ_MS).await?;
    let record = read(&value).map_err(|problem| {
        OperatorError::Invalid(format!("the record of the key {id} cannot be read: {problem}"))
    })?;
    if record.secret.is_none() {
        return Err(OperatorError::Invalid(format!(
            "the record of the key {id} lacks the namespace's secret, without which a key cannot \
             create: make a new key, and revoke this one"
        )));
    }
    let (key, credential) = draw(author.entropy, record.mode);
    author.record(store, "keys rotate", [id.clone(), credential.0.id()]).await?;
    store.put(&credential, value.clone(), &NoMetadata).await?;
    let made = MadeKey { key, row: KeyRow::new(credential, record) };
    let ends = date_time_in_seconds(author.clock.now_ms() / 1_000 + u64::from(keep_seconds));
    let ended = match keep_seconds {
        0 => store.remove(&old).await,
        _ => store.put_for(&old, value, &NoMetadata, keep_seconds).await,
    };
    Ok(Rotated { made, replaces: Replaced { name, ends }, ended })
}
