//! Keys that replace others.

use super::make::Drawn;
use super::{KeyName, KeyNote, MadeKey, NotedKey, ROTATE, find, read, revokes};
use crate::auth::KeyRecord;
use crate::handle::{Clock, Entropy};
use crate::operator::audit::{self, Author};
use crate::operator::form::FormId;
use crate::operator::{OperatorError, Result, read_value, secret};
use crate::scope::Mode;
use crate::store::{CredentialKey, Key as _, OperatorStore, Stored, StoredValue as _};
use crate::time::{SKEW_MS, date_time_in_seconds, parse_ms};
use serde::Serialize;
use serde_json::Value;

/// A key that replaces another.
#[derive(Clone, Debug, Serialize)]
pub struct Rotated {
    /// The new key, which works whether or not the old one was ended.
    pub made: MadeKey,
    /// The names of the old key.
    pub replaces: KeyName,
    /// The end of the old key. If it could not be written, the old key goes on as before.
    #[serde(skip)]
    pub end: Result<End>,
}

/// The end of a key that was replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct End {
    /// When it ends, an RFC 3339 date-time.
    pub ends: String,
    /// Whether somebody has revoked it while it was replaced: then it has ended.
    pub revoked: bool,
}

/// Makes a key with the rights of an old one, which ends after `keep_seconds`: 0, or at least 60. An
/// earlier end of it stays. The old key is named as for [`find`]. Its record is copied unchanged, with
/// its secret and with members of later releases.
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
    let value = read_value(store, old).await?.ok_or_else(|| missing(old))?;
    let record = rotatable(old, &value)?;
    let drawn = Drawn::random(author, record.mode);
    replace(store, author, old, &record, value, drawn, keep_seconds).await
}

/// As [`rotate`], for a form that may be sent several times: the same person gets the same key of it in
/// the place of the same old one, as for [`create_once`](super::create_once). The old key is best named by
/// [`name`](KeyName::name), as no list has it once it has ended.
///
/// # Errors
/// As [`rotate`]; if the form is too old, what it made is not there any more, or somebody else has replaced
/// the old key meanwhile.
pub async fn rotate_once(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    key: &str,
    keep_seconds: u32,
    form: &FormId,
) -> Result<Rotated> {
    form.check(author.clock)?;
    let old = find(store, key).await?;
    let secret = secret::find(store).await?.ok_or_else(|| missing(old))?;
    let draw = |mode| Drawn::of(form, author, &secret, mode, old.name().as_bytes());
    if let Some(value) = read_value(store, old).await? {
        let record = rotatable(old, &value)?;
        let drawn = draw(record.mode).with_change(store, form, Some(&old.0.id())).await?;
        return replace(store, author, old, &record, value, drawn, keep_seconds).await;
    }
    for mode in [Mode::Test, Mode::Live] {
        // Nobody writes it any more: Workers KV may keep that it is not there.
        if let Some(made) = draw(mode).stored(store).await? {
            let revoked = audit::since(store, form.began_ms()).await?;
            let revoked = revoked.iter().any(|change| revokes(change, &old.0.id()));
            let end = Ok(End { ends: end_of_old(&made, author.clock, keep_seconds), revoked });
            return Ok(Rotated { made, replaces: KeyName::new(old), end });
        }
    }
    Err(missing(old))
}

/// When the key has ended whose successor was made before.
fn end_of_old(made: &MadeKey, clock: &impl Clock, keep_seconds: u32) -> String {
    let created = made.row.note.as_ref().and_then(|note| parse_ms(&note.created));
    let began_ms = created.unwrap_or_else(|| clock.now_ms());
    date_time_in_seconds(began_ms / 1_000 + u64::from(keep_seconds))
}

fn missing(old: CredentialKey) -> OperatorError {
    OperatorError::Invalid(format!("there is no key {}: nothing was done", old.0.id()))
}

/// The record of a key, which another one can be made of.
fn rotatable(old: CredentialKey, value: &[u8]) -> Result<KeyRecord> {
    let id = old.0.id();
    let record = read(value).map_err(|problem| {
        OperatorError::Invalid(format!("the record of the key {id} cannot be read: {problem}"))
    })?;
    if record.secret.is_none() {
        return Err(OperatorError::Invalid(format!(
            "the record of the key {id} lacks the namespace's secret, without which a key cannot \
             create: make a new key, and revoke this one"
        )));
    }
    Ok(record)
}

/// Writes the record of a new key, a copy of the old one's, and ends the old one.
async fn replace(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    old: CredentialKey,
    record: &KeyRecord,
    value: Vec<u8>,
    drawn: Drawn,
    keep_seconds: u32,
) -> Result<Rotated> {
    let replaces = KeyName::new(old);
    let began = drawn.change.as_ref().and_then(|change| parse_ms(&change.at));
    let began_ms = began.unwrap_or_else(|| author.clock.now_ms());
    let made = match drawn.made_before(store, author.clock).await? {
        Some(made) => made,
        None => {
            drawn.record(store, author, ROTATE, [&replaces.id, &drawn.id()]).await?;
            let note = KeyNote::new(record, drawn.registered(author));
            let note = KeyNote { predecessor: Some(replaces.id.clone()), ..note };
            drawn.put(store, value, note).await?
        }
    };
    let end = match keep_seconds {
        0 => end_now(store, old, began_ms).await,
        _ => end_later(store, old, &made.row.name.id, began_ms, keep_seconds).await,
    };
    Ok(Rotated { made, replaces, end })
}

async fn end_now(store: &impl OperatorStore, old: CredentialKey, now_ms: u64) -> Result<End> {
    store.remove(&old).await?;
    Ok(End { ends: date_time_in_seconds(now_ms / 1_000), revoked: false })
}

/// Writes a key again, with an end. It may be revoked at the same time, and this must not bring it
/// back: so it is read again before, and the changes since the beginning after it.
async fn end_later(
    store: &impl OperatorStore,
    old: CredentialKey,
    successor: &str,
    began_ms: u64,
    keep_seconds: u32,
) -> Result<End> {
    let now = || date_time_in_seconds(began_ms / 1_000);
    let ends = date_time_in_seconds(began_ms / 1_000 + u64::from(keep_seconds));
    let Some(Stored { value, metadata }) = store.get(&NotedKey(old)).await? else {
        return Ok(End { ends: now(), revoked: true });
    };
    let before = metadata.get("ends").and_then(Value::as_str).map(str::to_owned);
    if let Some(before) = before
        && parse_ms(&before) <= parse_ms(&ends)
    {
        return Ok(End { ends: before, revoked: false });
    }
    let mut metadata = metadata.as_object().cloned().unwrap_or_default();
    metadata.extend([
        ("ends".to_owned(), ends.clone().into()),
        ("successor".to_owned(), successor.into()),
    ]);
    let metadata = Value::Object(metadata);
    let value = value.read(CredentialKey::READ_MS).await?;
    store.put_for(&NotedKey(old), value, &metadata, keep_seconds).await?;
    let changes = audit::since(store, began_ms.saturating_sub(SKEW_MS)).await?;
    if changes.iter().any(|change| revokes(change, &old.0.id())) {
        store.remove(&old).await?;
        return Ok(End { ends: now(), revoked: true });
    }
    Ok(End { ends, revoked: false })
}
