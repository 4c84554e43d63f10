//! Erasure of personal data (GDPR, article 17): what is left is what the accounts need.

use super::Outcome;
use super::transactions::{Metadata, Record, parse};
use crate::api::TIMELINE_PATH;
use crate::idempotency::{Replay, Terms};
use crate::pledge::{PledgeDetail, Recipient, RetrievedPledgeTransaction, Trigger};
use crate::store::{Summary, TransactionMetadata};
use crate::time::{age_ms, date_time};
use crate::version::Version;
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;

/// An address that nobody can have (RFC 2606).
const EMAIL: &str = "erased@erased.invalid";
const REFERENCE: &str = "erased";

/// How old a transaction and its replay record must be, in milliseconds: a repeat that does not see
/// the replay record writes the transaction once more. Workers KV shows a write after about 60 s.
const SEEN_AFTER_MS: u64 = 5 * 60_000;
/// When a replay record was added here, in its value.
const ADDED_AT: &str = "addedAt";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Candidate {
    record: Record,
    now_ms: u64,
}

/// `{record, nowMs}` → the name of its replay record as `replay`; `search` if it has to be looked for
/// among all replay records; when it was `erased`.
pub(super) fn check(input: &str) -> Outcome {
    let Candidate { record, now_ms } = parse(input)?;
    let metadata = record.metadata()?;
    let transaction = record.transaction()?.ok_or("its value is missing")?;
    refuse_young(&transaction.created_at, now_ms, "was created")?;
    let replay = metadata.summary.replay.map(|hash| format!("idempotency:{hash}"));
    let search = replay.is_none() && metadata.version == 0;
    Ok(json!({ "replay": replay, "search": search, "erased": metadata.summary.erased }))
}

fn refuse_young(time: &str, now_ms: u64, event: &str) -> Outcome<()> {
    let age_ms = age_ms(time, now_ms).ok_or("its time is damaged")?;
    if age_ms >= SEEN_AFTER_MS {
        return Ok(());
    }
    let seconds = (SEEN_AFTER_MS - age_ms).div_ceil(1_000);
    Err(format!(
        "it {event} less than 5 minutes ago, and a repeat of the create could bring it back: \
         nothing was erased, try again in {seconds} s"
    )
    .into())
}

#[derive(Deserialize)]
struct Replays {
    records: Vec<Record>,
}

/// `{records}` of replay records → the hash that names each, by the ID of its transaction.
pub(super) fn replays(input: &str) -> Outcome {
    let Replays { records } = parse(input)?;
    let pair = |record: &Record| {
        let replay: Replay = serde_json::from_str(record.value.as_deref()?).ok()?;
        Some((replay.id, record.name.strip_prefix("idempotency:")?.into()))
    };
    Ok(Value::Object(records.iter().filter_map(pair).collect()))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Erasure {
    record: Record,
    /// Its replay record, whose value is missing if there is none.
    replay: Option<Record>,
    now_ms: u64,
}

/// `{record, replay?, nowMs}` → the `entries` to write, and whether that `erased` the transaction: if
/// its replay record was missing, that comes first, and the erasure after it can be seen everywhere.
pub(super) fn erase(input: &str) -> Outcome {
    let Erasure { record, replay, now_ms } = parse(input)?;
    let metadata = record.metadata()?;
    let mut transaction = record.transaction()?.ok_or("its value is missing")?;
    refuse_young(&transaction.created_at, now_ms, "was created")?;
    let mut entries = Vec::new();
    if let Some(replay) = &replay {
        let Some(value) = &replay.value else {
            let value = missing_replay(&record, &transaction, now_ms)?;
            let entry = json!({ "key": replay.name, "value": value.to_string() });
            return Ok(json!({ "entries": [entry], "erased": false }));
        };
        refuse_young_replay(value, now_ms)?;
    }
    erase_texts(&mut transaction);
    let hash = replay.as_ref().and_then(|replay| replay.name.strip_prefix("idempotency:"));
    let metadata = erased(&record, &metadata, &transaction, hash, now_ms)?;
    let value = serde_json::to_string(&transaction)?;
    entries.push(json!({ "key": record.name, "value": value, "metadata": metadata }));
    Ok(json!({ "entries": entries, "erased": true }))
}

/// The replay record that a create which was broken off did not write.
fn missing_replay(
    record: &Record,
    transaction: &RetrievedPledgeTransaction<'_>,
    now_ms: u64,
) -> Outcome {
    let url = transaction.timeline_url.as_deref().unwrap_or_default();
    let (origin, _) = url.split_once(TIMELINE_PATH).ok_or("its timeline address is missing")?;
    let terms = Terms {
        created_at: transaction.created_at.to_string(),
        amount: transaction.charge.amount.to_string(),
        currency_code: transaction.charge.currency_code,
        origin: origin.to_owned(),
    };
    let mut replay = json!(Replay { id: record.id().to_owned(), terms, version: Version });
    set(&mut replay, ADDED_AT, json!(date_time(now_ms)));
    Ok(replay)
}

/// Refuses a record whose replay record was added a moment ago, and cannot be seen everywhere yet.
fn refuse_young_replay(value: &str, now_ms: u64) -> Outcome<()> {
    let stored: Value = parse(value)?;
    let added_at = stored.get(ADDED_AT).and_then(Value::as_str);
    added_at.map_or(Ok(()), |time| refuse_young(time, now_ms, "got its missing replay record"))
}

pub(super) fn set(object: &mut Value, member: &str, value: Value) {
    if let Some(members) = object.as_object_mut() {
        members.insert(member.to_owned(), value);
    }
}

/// Replaces all that the shop and the recipient wrote. Offerings, amounts, times and charge stay for
/// the accounts, and the timeline's address, which shows no more than they.
fn erase_texts(transaction: &mut RetrievedPledgeTransaction<'_>) {
    transaction.reference = Cow::Borrowed(REFERENCE);
    transaction.trigger = Trigger { date: transaction.trigger.date.take(), ..Trigger::default() };
    for pledge in &mut transaction.pledges {
        pledge.recipient = Recipient { email: Cow::Borrowed(EMAIL), ..Recipient::default() };
        pledge.details.iter_mut().for_each(|detail| *detail = PledgeDetail::default());
    }
}

/// The metadata without hashes, nor members of later releases, which may be personal, too.
fn erased(
    record: &Record,
    metadata: &Metadata,
    transaction: &RetrievedPledgeTransaction<'_>,
    replay: Option<&str>,
    now_ms: u64,
) -> Outcome<TransactionMetadata> {
    let mut access = TransactionMetadata::deserialize(&record.metadata)?;
    let before = metadata.completed(Some(transaction));
    access.summary = Summary {
        lookup: None,
        replay: before.replay.or_else(|| replay.map(str::to_owned)),
        erased: before.erased.or_else(|| Some(date_time(now_ms))),
        ..before
    };
    Ok(access)
}
