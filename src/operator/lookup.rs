//! The lookup key of a namespace: its record, and the hashes of what is looked for.

use super::{Outcome, entry, without_position};
use crate::auth::{KeyRecord, Mode, Scope};
use crate::lookup::LookupKey;
use crate::store::{Key, NoMetadata};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// `lookup` → the namespace's lookup key. The service reads the copies in the records of API keys.
struct LookupRecordKey;

impl Key for LookupRecordKey {
    type Metadata = NoMetadata;
    const KIND: &'static str = "lookup";
    fn name(&self) -> String {
        "lookup".to_owned()
    }
}

#[derive(Serialize, Deserialize)]
struct LookupRecord {
    key: LookupKey,
}

pub(super) fn entry_of(key: LookupKey) -> Outcome {
    entry(&LookupRecordKey, &LookupRecord { key })
}

/// Reads the record `lookup`.
pub(super) fn read(record: &str) -> Outcome<LookupKey> {
    let record: LookupRecord = serde_json::from_str(record).map_err(|error| {
        format!("the record `lookup` cannot be read: {}", without_position(error))
    })?;
    Ok(record.key)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// Random bytes in hexadecimal, of which the key is made if there is none.
    random: LookupKey,
    /// The record `lookup`, and those of API keys.
    records: BTreeMap<String, Option<String>>,
}

/// `{random, records}` → the record `lookup` as `stored`, and as `entry` where it is to be written: it
/// may be missing in one place while API keys have a copy of it.
pub(super) fn make(input: &str) -> Outcome {
    let Wanted { random, records } = serde_json::from_str(input).map_err(without_position)?;
    if let Some(Some(stored)) = records.get(&LookupRecordKey.name()) {
        read(stored)?;
        return Ok(json!({ "stored": stored, "entry": null }));
    }
    let entry = entry_of(keys(&records)?.first().copied().unwrap_or(random))?;
    Ok(json!({ "stored": entry.get("value"), "entry": entry }))
}

/// All lookup keys in these records: more than one if two were made at the same time.
fn keys(records: &BTreeMap<String, Option<String>>) -> Outcome<Vec<LookupKey>> {
    let mut keys = Vec::new();
    for (name, value) in records.iter().rev() {
        // `lookup` first
        let Some(value) = value else { continue };
        let key = if *name == LookupRecordKey.name() {
            Some(read(value)?)
        } else {
            serde_json::from_str::<KeyRecord>(value).ok().and_then(|record| record.lookup)
        };
        keys.extend(key.filter(|key| !keys.contains(key)));
    }
    Ok(keys)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sought {
    records: BTreeMap<String, Option<String>>,
    unit: String,
    mode: Option<Mode>,
    reference: Option<String>,
    email: Option<String>,
}

/// `{records, unit, mode?, reference | email}` → the hashes that the metadata of a transaction may
/// have, by which it is found.
pub(super) fn hashes(input: &str) -> Outcome {
    let Sought { records, unit, mode, reference, email } = serde_json::from_str(input)?;
    let modes = mode.map_or(vec![Mode::Test, Mode::Live], |mode| vec![mode]);
    let mut hashes = Vec::new();
    for key in keys(&records)? {
        for mode in &modes {
            let scope = Scope { mode: *mode, unit: unit.clone() };
            hashes.extend(reference.as_ref().and_then(|text| key.reference(&scope, text)));
            hashes.extend(email.as_ref().and_then(|text| key.email(&scope, text)));
        }
    }
    Ok(Value::from(hashes))
}
