//! API keys: create, list, revoke, rotate.

use super::audit::{self, Author, Change};
use super::form::{FormId, SKEW_MS};
use super::{OperatorError, Pages, Result, encode, read_value, register, secret, without_position};
use crate::auth::{ApiKey, KEY_BYTES, KEY_ID_LENGTH, KeyHash, KeyLevel, KeyRecord, new_key};
use crate::handle::{Clock, Entropy};
use crate::scope::Mode;
use crate::secret::NamespaceSecret;
use crate::store::{
    CredentialKey, Key, Listed, OperatorStore, Registered, Stored, StoredValue as _,
};
use crate::time::{age_ms, date_time_in_seconds, parse_ms};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;

const CREATE: &str = "keys create";
const REVOKE: &str = "keys revoke";
const ROTATE: &str = "keys rotate";

/// How long Workers KV may not show a write, in milliseconds.
const SEEN_AFTER_MS: u64 = 60_000;

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
    /// Its note; `None` if it cannot be read.
    #[serde(flatten)]
    pub note: Option<KeyNote>,
    /// The problem with it. The key can still be revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
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
            secret: record.secret.map(|secret| secret.fingerprint()),
            predecessor: None,
            successor: None,
            ends: None,
        }
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

// ---- Create --------------------------------------------------------------------------------------

/// Makes a key with this record, and the namespace's secret with the first key. The secret of the
/// record given is ignored. Its unit or team is added to the register if that lacks it.
///
/// # Errors
/// If the ID or the label is out of bounds, or the store fails.
pub async fn create(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    record: KeyRecord,
) -> Result<MadeKey> {
    create_by(store, author, record, None).await
}

/// As [`create`], for a form that may be sent several times: the same person gets the same key of it
/// for the same record, within an hour, and not again once that was revoked or replaced.
///
/// Workers KV may not show a change for a minute. So long, sent again elsewhere, a form may write the
/// key a second time, with a second entry in the record of changes, or bring back one that was revoked
/// within the same minute. And the first form of a namespace, which has no secret before, may make two keys.
///
/// # Errors
/// As [`create`]; if the form is too old, or what it made is not there any more.
pub async fn create_once(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    record: KeyRecord,
    form: &FormId,
) -> Result<MadeKey> {
    form.check(author.clock)?;
    create_by(store, author, record, Some(form)).await
}

async fn create_by(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    record: KeyRecord,
    form: Option<&FormId>,
) -> Result<MadeKey> {
    let record = KeyRecord { secret: None, ..record };
    let asked = encode(&record)?;
    read(&asked).map_err(OperatorError::Invalid)?; // as the service will
    let (secret, is_new) = secret::find_or_draw(store, author.entropy).await?;
    let drawn = match form {
        None => Drawn::random(author, record.mode),
        Some(form) => {
            let drawn = Drawn::of(form, author, &secret, record.mode, &asked);
            drawn.with_change(store, form).await?
        }
    };
    if let Some(made) = drawn.made_before(store, author.clock).await? {
        return Ok(made);
    }
    drawn.record(store, author, CREATE, [&drawn.id(), record.level.id()]).await?;
    if is_new {
        secret::keep(store, secret).await?;
    }
    register::ensure(store, author, std::slice::from_ref(&record.level)).await?;
    let record = KeyRecord { secret: Some(secret), ..record };
    let note = KeyNote::new(&record, drawn.registered(author));
    drawn.put(store, encode(&record)?, &note).await
}

/// A key that is to be made.
struct Drawn {
    key: String,
    credential: CredentialKey,
    /// The change that has made it, if a form is sent once more.
    change: Option<Change>,
}

impl Drawn {
    fn new(mode: Mode, bytes: [u8; KEY_BYTES]) -> Self {
        let key = new_key(mode, bytes);
        let credential = CredentialKey(ApiKey::new(&key).hash());
        Drawn { key, credential, change: None }
    }

    fn random(author: &Author<'_, impl Clock, impl Entropy>, mode: Mode) -> Self {
        let mut random = [0; KEY_BYTES];
        author.entropy.fill(&mut random);
        Drawn::new(mode, random)
    }

    /// The key that a form makes, which is sent by the author and says `what` to make.
    fn of(
        form: &FormId,
        author: &Author<'_, impl Clock, impl Entropy>,
        secret: &NamespaceSecret,
        mode: Mode,
        what: &[u8],
    ) -> Self {
        Drawn::new(mode, form.bytes(secret, author.by, mode, what))
    }

    fn id(&self) -> String {
        self.credential.0.id()
    }

    /// Looks whether the form has made it before. Its record is not read, which Workers KV would then
    /// not show for a while.
    async fn with_change(self, store: &impl OperatorStore, form: &FormId) -> Result<Self> {
        let id = self.id();
        let changes = audit::since(store, form.began_ms()).await?;
        if changes.iter().any(|change| revokes(change, &id) || of_rotation(change, 0) == Some(&id))
        {
            return Err(self.gone());
        }
        let makes = |change: &Change| {
            let created = (change.command == CREATE).then(|| change.on.first()).flatten();
            created.or(of_rotation(change, 1)) == Some(&id)
        };
        Ok(Drawn { change: changes.into_iter().find(makes), ..self })
    }

    /// The key that a form has made more than a minute ago. Before, it is written once more: the first
    /// write may be under way, or have failed.
    async fn made_before(
        &self,
        store: &impl OperatorStore,
        clock: &impl Clock,
    ) -> Result<Option<MadeKey>> {
        let Some(change) = &self.change else { return Ok(None) };
        if age_ms(&change.at, clock.now_ms()).is_none_or(|age_ms| age_ms < SEEN_AFTER_MS) {
            return Ok(None);
        }
        self.stored(store).await?.ok_or_else(|| self.gone()).map(Some)
    }

    async fn stored(&self, store: &impl OperatorStore) -> Result<Option<MadeKey>> {
        let stored = store.get(&NotedKey(self.credential)).await?;
        let row = |metadata| KeyRow::new(self.credential, &metadata, None);
        Ok(stored.map(|stored| MadeKey { key: self.key.clone(), row: row(stored.metadata) }))
    }

    fn gone(&self) -> OperatorError {
        OperatorError::Invalid(format!(
            "nothing was done: the key {} that this form made is not there any more; open its page \
             again to make another",
            self.id()
        ))
    }

    /// Writes the record of the change, unless it is there.
    async fn record(
        &self,
        store: &impl OperatorStore,
        author: &Author<'_, impl Clock, impl Entropy>,
        command: &str,
        on: [&str; 2],
    ) -> Result<()> {
        match self.change {
            Some(_) => Ok(()),
            None => author.record(store, command, on).await,
        }
    }

    /// Who made it, and when.
    fn registered(&self, author: &Author<'_, impl Clock, impl Entropy>) -> Registered {
        let before = self.change.clone();
        before.map_or_else(
            || author.registered(),
            |Change { at, by, .. }| Registered { created: at, by },
        )
    }

    async fn put(
        self,
        store: &impl OperatorStore,
        value: Vec<u8>,
        note: &KeyNote,
    ) -> Result<MadeKey> {
        let metadata = serde_json::to_value(note)?;
        store.put(&NotedKey(self.credential), value, &metadata).await?;
        Ok(MadeKey { key: self.key, row: KeyRow::new(self.credential, &metadata, None) })
    }
}

fn revokes(change: &Change, id: &str) -> bool {
    change.command == REVOKE && change.on == [id]
}

/// The old key of a rotation (0) or the new one (1); `None` for another change.
fn of_rotation(change: &Change, index: usize) -> Option<&String> {
    (change.command == ROTATE).then(|| change.on.get(index)).flatten()
}

fn read(record: &[u8]) -> Result<KeyRecord, String> {
    serde_json::from_slice(record).map_err(|error| without_position(&error))
}

// ---- List ----------------------------------------------------------------------------------------

/// All keys, sorted by hash, from a list call for each page and a read of the namespace's secret; a
/// key of the last minute may be missing.
///
/// # Errors
/// If the store fails.
pub async fn list(store: &impl OperatorStore) -> Result<Vec<KeyRow>> {
    let secret = fingerprint(store).await?;
    let mut rows = Vec::new();
    let mut pages = Pages::new(store, CredentialKey::PREFIX);
    while let Some(page) = pages.next().await? {
        rows.extend(page.iter().filter_map(|record| row(record, secret.as_deref())));
    }
    Ok(rows)
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

/// A key, which is named as for [`find`]; `None` if it has no record.
///
/// # Errors
/// As [`find`], or if the store fails.
pub async fn get(store: &impl OperatorStore, key: &str) -> Result<Option<KeyRow>> {
    let key = find(store, key).await?;
    let stored = store.get(&NotedKey(key)).await?;
    Ok(stored.map(|stored| KeyRow::new(key, &stored.metadata, None)))
}

/// Revokes a key, which is named as for [`find`].
///
/// # Errors
/// As [`find`]; if it has no record, or the store fails.
pub async fn revoke(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    key: &str,
) -> Result<KeyName> {
    let key = find(store, key).await?;
    if read_value(store, key).await?.is_none() {
        return Err(OperatorError::Invalid("not revoked: no such key here".to_owned()));
    }
    author.record(store, REVOKE, [key.0.id()]).await?;
    store.remove(&key).await?;
    Ok(KeyName::new(key))
}

// ---- Rotate --------------------------------------------------------------------------------------

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
/// the place of the same old one, as for [`create_once`]. The old key is best named by
/// [`name`](KeyName::name), as no list has it once it has ended.
///
/// # Errors
/// As [`rotate`]; if the form is too old, or what it made is not there any more.
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
        let drawn = draw(record.mode).with_change(store, form).await?;
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
            drawn.put(store, value, &note).await?
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
