//! Rotates keys: creates a replacement and lets the old key expire.

use super::make;
use super::make::PendingKey;
use super::{KeyMetadata, KeyName, MadeKey, NotedKey, ROTATE, find, of_rotation, read, revokes};
use crate::office::audit::rule as audit;
use crate::office::audit::rule::{Author, Change, Subject};
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::once::{Done, Outcome, once};
use crate::office::shared::rule::operation_id::OperationId;
use crate::office::shared::rule::records::read_value;
use crate::office::shared::rule::refused::RefusalCode;
use crate::pledges::auth::KeyRecord;
use crate::pledges::secret::NamespaceSecret;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{CredentialKey, Key as _, OperatorStore, Stored, StoredValue as _};
use crate::pledges::time::{SKEW_MS, date_time_in_seconds, parse_ms};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The outcome of a rotation: a key that replaces another one.
#[derive(Clone, Debug, Serialize)]
pub struct Rotated {
    /// The new key. It works even if the old key's expiry could not be set.
    pub made: MadeKey,
    /// The names of the old key.
    pub replaces: KeyName,
    /// When the old key ends. An error means that no end could be set. The old key then keeps working.
    #[serde(skip)]
    pub end: Result<KeyExpiry>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyExpiry {
    /// When the old key expires, an RFC 3339 date-time.
    pub ends: String,
    /// Whether somebody revoked the old key during the rotation. If so, the old key no longer works.
    pub revoked: bool,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct StoredRotation {
    made: KeyName,
    replaces: KeyName,
    end: KeyExpiry,
}

impl Outcome for Rotated {
    type Stored = StoredRotation;

    /// Returns the outcome to store for repeated requests. Returns `None` if the old key's expiry could not
    /// be set, so that a repeated request tries again.
    fn to_stored(&self) -> Option<StoredRotation> {
        let end = self.end.clone().ok()?;
        Some(StoredRotation {
            made: self.made.row.name.clone(),
            replaces: self.replaces.clone(),
            end,
        })
    }

    fn from_stored(StoredRotation { made, replaces, end }: StoredRotation) -> Self {
        Rotated { made: MadeKey::shown(made), replaces, end: Ok(end) }
    }
}

/// Creates a key with the rights of an old one. The old key expires after `keep_seconds`: 0, or at least 60.
/// If the old key already has an earlier expiry, that expiry stays.
///
/// `key` is one of the names that [`find`] accepts. Prefer [`name`](KeyName::name), which also finds a key
/// after its end. Lists no longer show such a key. The new key's record is an exact copy of the old one,
/// including its secret and members that a later release wrote.
///
/// # Errors
/// - If [`find`] fails.
/// - If the old key's record is missing or damaged, or has no secret.
/// - If somebody else has replaced the old key since the operation's ID was generated.
/// - If the key that this operation created was revoked or replaced since.
/// - If the store or the ledger fails before the new key is written.
pub async fn rotate(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    key: &str,
    keep_seconds: u32,
) -> Result<Done<Rotated>> {
    let work = async |author: &Author<'_, _, _>| replace(store, author, key, keep_seconds).await;
    let Done { outcome, before } =
        once(ledger, author, (ROTATE, &(key, keep_seconds)), work).await?;
    let made = match &before {
        None => outcome.made,
        Some(_) => make::as_now(store, outcome.made).await?,
    };
    Ok(Done { outcome: Rotated { made, ..outcome }, before })
}

async fn replace(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    key: &str,
    keep_seconds: u32,
) -> Result<Rotated> {
    let old = find(store, key).await?;
    if let Some(value) = read_value(store, old).await? {
        let (record, secret) = rotatable(old, &value)?;
        let pending_key = PendingKey::new(author, &secret, record.mode, old.name().as_bytes());
        refuse_overtaken(store, author, old, &pending_key).await?;
        return copy(store, author, old, &record, value, pending_key, keep_seconds).await;
    }
    let made = make::made_earlier(store, author, None).await?.ok_or_else(|| missing(old))?;
    let ends = date_time_in_seconds(began_ms(author) / 1_000);
    Ok(Rotated { made, replaces: KeyName::new(old), end: Ok(KeyExpiry { ends, revoked: false }) })
}

/// Refuses to replace a key that somebody else has replaced since the form for this rotation was opened.
async fn refuse_overtaken(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    old: CredentialKey,
    pending_key: &PendingKey,
) -> Result<()> {
    let Some(made_ms) = author.operation.as_ref().and_then(OperationId::sent_ms) else {
        return Ok(());
    };
    let (old, new) = (old.0.id(), pending_key.id());
    let is_overtaken = |change: &&Change| {
        of_rotation(change, 0) == Some(&old)
            && of_rotation(change, 1) != Some(&new)
            && parse_ms(&change.at) > Some(made_ms)
    };
    match audit::noted_since(store, made_ms).await?.iter().find(is_overtaken) {
        None => Ok(()),
        Some(Change { by, by_shop, at, on, .. }) => Err(OperatorError::invalid(format!(
            "nothing was done: {} replaced this key at {at} ({}), while this form was open. Open the \
             key's page again",
            author.name_of(by, *by_shop),
            on.join(" by ")
        ))),
    }
}

/// Returns when the operation began, in milliseconds since 1970.
fn began_ms(author: &Author<'_, impl Clock, impl Entropy>) -> u64 {
    author.earlier.map_or_else(|| author.clock.now_ms(), |earlier| earlier.since_ms)
}

fn missing(old: CredentialKey) -> OperatorError {
    let problem = format!("there is no key {}: nothing was done", old.0.id());
    OperatorError::at("id", RefusalCode::NotFound, problem)
}

/// Reads the record of an old key that is to be rotated. Returns the record and its secret.
fn rotatable(old: CredentialKey, value: &[u8]) -> Result<(KeyRecord, NamespaceSecret)> {
    let id = old.0.id();
    let record: KeyRecord = read(value).map_err(|problem| {
        OperatorError::invalid(format!("the record of the key {id} cannot be read: {problem}"))
    })?;
    let secret = record.secret.clone().ok_or_else(|| {
        OperatorError::invalid(format!(
            "the key {id} cannot create transactions, because its record lacks the namespace's secret: \
             create a new key, and revoke this one"
        ))
    })?;
    Ok((record, secret))
}

/// Creates the new key with a copy of the old key's record, and ends the old key.
async fn copy(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    old: CredentialKey,
    record: &KeyRecord,
    value: Vec<u8>,
    pending_key: PendingKey,
    keep_seconds: u32,
) -> Result<Rotated> {
    let replaces = KeyName::new(old);
    let began_ms = began_ms(author);
    let made = match pending_key.made_before(store, author).await? {
        Some(made) => made,
        None => {
            let subject = Subject::of(record.level.clone(), [&replaces.id, &pending_key.id()]);
            author.record_subject(store, ROTATE, subject).await?;
            let note = KeyMetadata::new(record, author.registered());
            let note = KeyMetadata { predecessor: Some(replaces.id.clone()), ..note };
            pending_key.put(store, value, note).await?
        }
    };
    let end = match keep_seconds {
        0 => end_now(store, old, began_ms).await,
        _ => end_later(store, old, &made.row.name.id, began_ms, keep_seconds).await,
    };
    Ok(Rotated { made, replaces, end })
}

async fn end_now(store: &impl OperatorStore, old: CredentialKey, now_ms: u64) -> Result<KeyExpiry> {
    store.remove(&old).await?;
    Ok(KeyExpiry { ends: date_time_in_seconds(now_ms / 1_000), revoked: false })
}

/// Writes a key's record again, with an expiry. A key that somebody revokes at the same time must stay
/// revoked. So the record is read again before the write. After the write, the audit log is searched for
/// revocations since the operation began.
async fn end_later(
    store: &impl OperatorStore,
    old: CredentialKey,
    successor: &str,
    began_ms: u64,
    keep_seconds: u32,
) -> Result<KeyExpiry> {
    let now = || date_time_in_seconds(began_ms / 1_000);
    let ends = date_time_in_seconds(began_ms / 1_000 + u64::from(keep_seconds));
    let Some(Stored { value, metadata }) = store.get(&NotedKey(old)).await? else {
        return Ok(KeyExpiry { ends: now(), revoked: true });
    };
    let before = metadata.get("ends").and_then(Value::as_str).map(str::to_owned);
    if let Some(before) = before
        && parse_ms(&before) <= parse_ms(&ends)
    {
        return Ok(KeyExpiry { ends: before, revoked: false });
    }
    let mut metadata = metadata.as_object().cloned().unwrap_or_default();
    metadata.extend([
        ("ends".to_owned(), ends.clone().into()),
        ("successor".to_owned(), successor.into()),
    ]);
    let metadata = Value::Object(metadata);
    let value = value.read(CredentialKey::READ_MS).await?;
    store.put_for(&NotedKey(old), value, &metadata, keep_seconds).await?;
    let changes = audit::noted_since(store, began_ms.saturating_sub(SKEW_MS)).await?;
    if changes.iter().any(|change| revokes(change, &old.0.id())) {
        store.remove(&old).await?;
        return Ok(KeyExpiry { ends: now(), revoked: true });
    }
    Ok(KeyExpiry { ends, revoked: false })
}
