//! Keys: new ones, the list, the one that is meant.

use super::{Outcome, entry, secret, without_position};
use crate::auth::{ApiKey, KEY_BYTES, KEY_ID_LENGTH, KeyHash, KeyRecord, new_key};
use crate::scope::Mode;
use crate::store::{CredentialKey, Key};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What is shown of a key, and enough to name it.
#[derive(Serialize)]
struct Row {
    id: String,
    /// Of its record: the whole of it names the key where a list lacks it.
    name: String,
    #[serde(flatten)]
    record: KeyRecord,
}

impl Row {
    fn new(hash: KeyHash, record: &KeyRecord) -> Self {
        let record = KeyRecord { secret: None, ..record.clone() }; // which is secret
        Row { id: hash.id(), name: CredentialKey(hash).name(), record }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewKey {
    /// Random bytes in hexadecimal: the caller draws them.
    random: String,
    record: KeyRecord,
    /// The record of the namespace's secret.
    secret: Option<String>,
}

/// `{random, record, secret}` → the key, which is shown once, and its record, which is all that is
/// kept.
pub(super) fn make(input: &str) -> Outcome {
    let NewKey { random, mut record, secret } =
        serde_json::from_str(input).map_err(without_position)?;
    record.secret = secret.as_deref().map(secret::read).transpose()?;
    let (key, hash) = key_of(&random, record.mode)?;
    let entry = entry(&CredentialKey(hash), &record)?;
    Ok(json!({ "key": key, "row": Row::new(hash, &record), "entry": entry }))
}

fn key_of(random: &str, mode: Mode) -> Outcome<(String, KeyHash)> {
    let random: [u8; KEY_BYTES] = base16ct::mixed::decode_vec(random)
        .ok()
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or_else(|| format!("`random` is not {KEY_BYTES} bytes in hexadecimal"))?;
    let key = new_key(mode, random);
    let hash = ApiKey::new(&key).hash();
    Ok((key, hash))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Replacement {
    random: String,
    /// The record of the key that is replaced, as it is stored.
    stored: String,
}

/// `{random, stored}` → a key that may do what another may. Its record is the other's as it is, with
/// members of later releases.
pub(super) fn replace(input: &str) -> Outcome {
    let Replacement { random, stored } = serde_json::from_str(input).map_err(without_position)?;
    let record: KeyRecord = serde_json::from_str(&stored)
        .map_err(|error| format!("its record cannot be read: {}", without_position(error)))?;
    let (key, hash) = key_of(&random, record.mode)?;
    let row = Row::new(hash, &record);
    Ok(json!({ "key": key, "row": row, "entry": { "key": row.name, "value": stored } }))
}

/// `{name: record}` as found in Workers KV → a row for each. A record that cannot be read is listed,
/// too: it can still be revoked.
pub(super) fn list(input: &str) -> Outcome {
    let found: BTreeMap<String, Option<String>> = serde_json::from_str(input)?;
    Ok(found.iter().filter_map(|(name, value)| row(name, value.as_deref()?)).collect())
}

/// `None` for a name that is not a key's.
fn row(name: &str, value: &str) -> Option<Value> {
    let hash = hash_of(name)?;
    Some(match serde_json::from_str::<KeyRecord>(value) {
        Ok(record) => json!(Row::new(hash, &record)),
        Err(error) => json!({ "id": hash.id(), "name": name, "problem": without_position(error) }),
    })
}

fn hash_of(name: &str) -> Option<KeyHash> {
    CredentialKey::parse(name).map(|CredentialKey(hash)| hash)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// A key, its whole hash, the name of its record, or its ID: the beginning of the hash.
    key: String,
    /// The names that begin with the prefix which the first answer has.
    names: Option<Vec<String>>,
}

/// `{key}` → `{id, name}` of the record of a key, its whole hash or its record's name; of an ID the
/// `{prefix}` of the names to be given: `{key, names}` → `{id, name}` of the only one.
pub(super) fn find(input: &str) -> Outcome {
    let Wanted { key, names } = serde_json::from_str(input)?;
    let key = key.trim();
    if let Some(hash) = whole(key) {
        return Ok(json!({ "id": hash.id(), "name": CredentialKey(hash).name() }));
    }
    let is_hexadecimal = key.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if !is_hexadecimal || !(KEY_ID_LENGTH..=64).contains(&key.len()) {
        return Err("this is neither a key nor an ID: take the ID from the key list".into());
    }
    match names {
        None => Ok(json!({ "prefix": CredentialKey::hash_prefix(key) })),
        Some(names) => only(key, &names),
    }
}

/// The hash that a text names by itself.
fn whole(text: &str) -> Option<KeyHash> {
    if [Mode::Test, Mode::Live].iter().any(|mode| text.starts_with(mode.key_prefix())) {
        return Some(ApiKey::new(text).hash());
    }
    hash_of(text).or_else(|| KeyHash::from_hex(text).filter(|hash| hash.to_hex() == text))
}

fn only(id: &str, names: &[String]) -> Outcome {
    let hashes = names.iter().filter_map(|name| hash_of(name));
    let found: Vec<_> = hashes.filter(|hash| hash.to_hex().starts_with(id)).collect();
    match found.as_slice() {
        [hash] => Ok(json!({ "id": hash.id(), "name": CredentialKey(*hash).name() })),
        [] => Err(format!(
            "no key has the ID `{id}` in the list, which may lack keys of the last minute: give \
             the key itself or its whole hash, and no list is needed"
        )
        .into()),
        several => Err(format!(
            "{} keys have IDs that begin with `{id}`: give more of the hash, or the key itself",
            several.len()
        )
        .into()),
    }
}
