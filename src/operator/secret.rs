//! The secret of a namespace: its record, and the hashes of what is looked for.

use super::{Outcome, entry, without_position};
use crate::auth::KeyRecord;
use crate::scope::{Mode, Scope};
use crate::secret::{NamespaceSecret, SecretRecord};
use crate::store::{Key as _, SecretKey};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub(super) fn entry_of(secret: NamespaceSecret) -> Outcome {
    entry(&SecretKey, &SecretRecord { secret })
}

/// Reads the record `secret`.
pub(super) fn read(record: &str) -> Outcome<NamespaceSecret> {
    let record: SecretRecord = serde_json::from_str(record).map_err(|error| {
        format!("the record `secret` cannot be read: {}", without_position(error))
    })?;
    Ok(record.secret)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// Random bytes in hexadecimal, of which the secret is made if there is none.
    random: NamespaceSecret,
    /// The record `secret`, and those of API keys.
    records: BTreeMap<String, Option<String>>,
}

/// `{random, records}` → the record `secret` as `stored`, and as `entry` where it is to be written: it
/// may be missing in one place while API keys have a copy of it.
pub(super) fn make(input: &str) -> Outcome {
    let Wanted { random, records } = serde_json::from_str(input).map_err(without_position)?;
    if let Some(Some(stored)) = records.get(&SecretKey.name()) {
        read(stored)?;
        return Ok(json!({ "stored": stored, "entry": null }));
    }
    let entry = entry_of(keys(&records)?.first().copied().unwrap_or(random))?;
    Ok(json!({ "stored": entry.get("value"), "entry": entry }))
}

/// All secrets in these records: more than one if two were made at the same time.
fn keys(records: &BTreeMap<String, Option<String>>) -> Outcome<Vec<NamespaceSecret>> {
    let mut keys = Vec::new();
    for (name, value) in records.iter().rev() {
        // `secret` first
        let Some(value) = value else { continue };
        let key = if *name == SecretKey.name() {
            Some(read(value)?)
        } else {
            serde_json::from_str::<KeyRecord>(value).ok().and_then(|record| record.secret)
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
            hashes.extend(reference.as_ref().map(|text| key.reference(&scope, text)));
            hashes.extend(email.as_ref().map(|text| key.email(&scope, text)));
        }
    }
    Ok(Value::from(hashes))
}
