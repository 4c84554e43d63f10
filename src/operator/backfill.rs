//! Completes records of earlier releases, so that transactions are found and summed without being
//! read. Values stay byte for byte as they are; what is complete is never written.

use super::erase::set;
use super::find::lacks_hashes;
use super::transactions::{Metadata, Record, each, parse};
use super::unpriced::Catalogues;
use super::{Outcome, secret, without_position};
use crate::auth::KeyRecord;
use crate::pledge::RetrievedPledgeTransaction;
use crate::scope::Scope;
use crate::secret::NamespaceSecret;
use crate::store::Summary;
use crate::time::age_ms;
use crate::version::VERSION;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// How old a transaction must be, in milliseconds: the service may be writing a younger one.
const WRITTEN_AFTER_MS: u64 = 10 * 60_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OldKey {
    /// The record of an API key.
    stored: String,
    /// The record `secret`.
    secret: String,
}

/// `{stored, secret}` of an API key → its record with the secret; null if it has one.
pub(super) fn key(input: &str) -> Outcome {
    let OldKey { stored, secret } = parse(input)?;
    let record: KeyRecord = serde_json::from_str(&stored).map_err(without_position)?;
    if record.secret.is_some() {
        return Ok(Value::Null);
    }
    let mut stored: Value = serde_json::from_str(&stored)?; // with members of later releases
    set(&mut stored, "secret", json!(secret::read(&secret)?));
    Ok(stored.to_string().into())
}

#[derive(Deserialize)]
struct Names {
    records: Vec<Record>,
}

/// `{records}` without values → names of those of version 0 as `old`, whose replay records are not
/// known; of those that lack only hashes as `unhashed`; `damaged`.
pub(super) fn incomplete(input: &str) -> Outcome {
    let Names { records } = parse(input)?;
    let (mut old, mut unhashed) = (Vec::new(), Vec::new());
    let rest = each(
        &records,
        is_incomplete,
        |_| false,
        |record, metadata, _| {
            let list = if metadata.version == 0 { &mut old } else { &mut unhashed };
            list.push(record.name.clone());
        },
    );
    Ok(json!({ "old": old, "unhashed": unhashed, "damaged": rest.damaged }))
}

fn is_incomplete(metadata: &Metadata) -> bool {
    metadata.version == 0 || !metadata.has_charge() || lacks_hashes(metadata)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Backfill {
    /// With values.
    records: Vec<Record>,
    /// The record `secret`.
    secret: String,
    catalogues: Catalogues,
    /// Hashes that name replay records, by the ID of the transaction.
    replays: BTreeMap<String, String>,
    now_ms: u64,
}

/// `{records, secret, catalogues, replays, nowMs}` → the `entries` to write, and how many records are
/// too `young`.
pub(super) fn transactions(input: &str) -> Outcome {
    let Backfill { records, secret, catalogues, replays, now_ms } = parse(input)?;
    let key = secret::read(&secret)?;
    let (mut entries, mut young, mut damaged) = (Vec::new(), 0, Vec::new());
    let rest = each(
        &records,
        is_incomplete,
        |_| true,
        |record, metadata, transaction| {
            let Some(transaction) = transaction else { return };
            match age_ms(&transaction.created_at, now_ms) {
                Some(age_ms) if age_ms >= WRITTEN_AFTER_MS => {
                    let summary = summary(metadata, transaction, &key, &catalogues);
                    let replay = replays.get(record.id());
                    let metadata = merged(record, metadata, summary, replay);
                    entries.push(
                        json!({ "key": record.name, "value": record.value, "metadata": metadata }),
                    );
                }
                Some(_) => young += 1,
                None => damaged.push(record.name.clone()),
            }
        },
    );
    damaged.extend(rest.damaged);
    Ok(json!({ "entries": entries, "young": young, "damaged": damaged }))
}

/// What the service would have written. Prices are those of today.
fn summary(
    metadata: &Metadata,
    transaction: &RetrievedPledgeTransaction<'_>,
    key: &NamespaceSecret,
    catalogues: &Catalogues,
) -> Summary {
    let scope = Scope { mode: metadata.mode, unit: metadata.unit.clone() };
    let email = transaction.pledges.first().map_or("", |pledge| &*pledge.recipient.email);
    let mut summary = metadata.completed(Some(transaction));
    summary.lookup =
        summary.lookup.or_else(|| Some(key.hashes(&scope, &transaction.reference, email)));
    if metadata.version == 0 {
        let impacts = transaction.pledges.iter().map(|pledge| &pledge.impact);
        let unpriced = catalogues.of(metadata.mode).map(|catalogue| catalogue.unpriced(impacts));
        summary.unpriced = unpriced.filter(|count| *count > 0);
    }
    summary
}

/// The metadata as it is, with members of later releases, and what it lacked.
fn merged(record: &Record, before: &Metadata, summary: Summary, replay: Option<&String>) -> Value {
    let summary = Summary { replay: summary.replay.or_else(|| replay.cloned()), ..summary };
    let mut metadata = record.metadata.clone();
    let mut members =
        metadata.get("summary").and_then(Value::as_object).cloned().unwrap_or_else(Map::new);
    if let Value::Object(complete) = json!(summary) {
        complete.into_iter().for_each(|(member, value)| {
            members.entry(member).or_insert(value);
        });
    }
    set(&mut metadata, "summary", Value::Object(members));
    set(&mut metadata, "version", json!(before.version.max(VERSION)));
    metadata
}
