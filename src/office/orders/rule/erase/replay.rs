//! Ensures that the replay record of a transaction is visible everywhere before an erasure. A repeated
//! create request uses this record to give the same answer again.

use super::age::{ERASABLE_MINUTES, refuse_young};
use crate::office::orders::rule::record::Record;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::pledges::api::TIMELINE_PATH;
use crate::pledges::idempotency::{Replay, ReplayHash, Terms};
use crate::pledges::service::Clock;
use crate::pledges::store::{
    Key as _, NoMetadata, OperatorStore, Recorded, ReplayKey, StoredValue as _, decode,
};
use crate::pledges::time::date_time;
use crate::pledges::version::Version;
use serde::{Deserialize, Serialize};

/// Returns the key of the replay record; `None` if the create request had no idempotency key.
pub(super) fn replay_key(record: &Record, metadata: &Recorded) -> Result<Option<ReplayKey>> {
    let Some(hash) = &metadata.summary.replay else { return Ok(None) };
    let hash = ReplayHash::from_hex(hash).ok_or_else(|| {
        record.damaged_by("the transaction's metadata has no valid hash of the replay record")
    })?;
    Ok(Some(ReplayKey(hash)))
}

/// A replay record that an erasure writes because the create request was interrupted before it wrote one.
/// `added_at` is the time of the write.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AddedReplay {
    #[serde(flatten)]
    replay: Replay,
    added_at: String,
}

/// The part of a replay record that shows whether an erasure wrote the record. If so, `added_at` is the
/// time of the write.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FoundReplay {
    added_at: Option<String>,
}

/// Checks that the replay record is visible everywhere. If the record is missing, writes it and returns an
/// error. Later calls also return an error, until the record is visible everywhere.
pub(super) async fn ensure_replay(
    store: &impl OperatorStore,
    clock: &impl Clock,
    record: &Record,
    key: &ReplayKey,
) -> Result<()> {
    let now_ms = clock.now_ms();
    let Some(stored) = store.get(key).await? else {
        let replay = AddedReplay { replay: missing_replay(record)?, added_at: date_time(now_ms) };
        store.put(key, serde_json::to_vec(&replay)?, &NoMetadata).await?;
        return Err(OperatorError::invalid(format!(
            "the request that created {} was interrupted before it wrote its replay record. The replay \
             record is written now, but nothing is erased yet: try again in {ERASABLE_MINUTES} minutes",
            record.id
        )));
    };
    let replay: FoundReplay =
        decode(ReplayKey::KIND, &stored.value.read(ReplayKey::READ_MS).await?)?;
    match replay.added_at {
        Some(time) => refuse_young(record, &time, now_ms, "got its missing replay record"),
        None => Ok(()),
    }
}

fn missing_replay(record: &Record) -> Result<Replay> {
    let transaction = record.transaction()?;
    let url = transaction.timeline_url.as_deref().unwrap_or_default();
    let (origin, _) = url
        .split_once(TIMELINE_PATH)
        .ok_or_else(|| record.damaged_by("the transaction's timeline address is missing"))?;
    let terms = Terms {
        created_at: transaction.created_at.to_string(),
        amount: transaction.charge.amount.to_string(),
        currency_code: transaction.charge.currency_code.to_string(),
        origin: origin.to_owned(),
    };
    Ok(Replay { id: record.id.to_string(), terms, version: Version })
}
