//! Creates keys. A key is derived from its operation's ID, so that a repeated request does not create a second key.

use super::{CREATE, KeyMetadata, KeyName, KeyRow, MadeKey, NotedKey, of_rotation, revokes, row};
use crate::buyer::visible::is_visible_line;
use crate::office::audit::rule as audit;
use crate::office::audit::rule::{Author, Change, EarlierAttempt, Subject};
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::ids::check_level;
use crate::office::shared::rule::once::{Done, once};
use crate::office::shared::rule::records::encode;
use crate::office::shared::rule::refused::RefusalCode;
use crate::office::shops::rule::register;
use crate::office::system::rule::secret;
use crate::pledges::auth::{ApiKey, KEY_BYTES, KeyRecord, check_label, new_key};
use crate::pledges::scope::Mode;
use crate::pledges::secret::NamespaceSecret;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{CredentialKey, OperatorStore};
use crate::pledges::time::SKEW_MS;
use std::collections::BTreeSet;

/// Creates a key with this record, but ignores the record's secret. For the first key, also creates the
/// namespace's secret. Registers the unit or team if it is not registered.
///
/// # Errors
/// - If the ID or the label is not valid.
/// - If the operation has already created the key, and the key was revoked or replaced since.
/// - If the store or the ledger fails.
pub async fn create(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    record: KeyRecord,
) -> Result<Done<MadeKey>> {
    let record = KeyRecord { secret: None, ..record };
    check(&record)?;
    let asked = encode(&record)?;
    let work = async |author: &Author<'_, _, _>| make(store, author, &record, &asked).await;
    let done = once(ledger, author, (CREATE, &record), work).await?;
    match done.before {
        None => Ok(done),
        Some(_) => Ok(Done { outcome: as_now(store, done.outcome).await?, ..done }),
    }
}

/// Checks the ID and the label of a new key. Also refuses a label that has invisible characters.
///
/// # Errors
/// If the ID or the label is not valid.
pub fn check(record: &KeyRecord) -> Result<()> {
    check_level(&record.level)?;
    let wrong_label = |problem| OperatorError::at("label", RefusalCode::Invalid, problem);
    check_label(&record.label).map_err(wrong_label)?;
    match record.label.is_empty() || is_visible_line(&record.label) {
        true => Ok(()),
        false => Err(wrong_label(
            "the label has invisible characters: write one line of visible text".to_owned(),
        )),
    }
}

/// Returns a key that was created before, with the details that the list of keys shows now. KV cost: 1 list.
pub(super) async fn as_now(store: &impl OperatorStore, made: MadeKey) -> Result<MadeKey> {
    let listed = store.list(&made.row.name.name, None).await?.records;
    let row = listed.iter().find_map(|record| row(record, None)).unwrap_or_else(|| KeyRow {
        problem: Some("the key was revoked, has expired, or is not in lists yet".to_owned()),
        ..made.row.clone()
    });
    Ok(MadeKey { row, ..made })
}

async fn make(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    record: &KeyRecord,
    asked: &[u8],
) -> Result<MadeKey> {
    let (secret, is_new) = secret::find_or_draw(store, author.entropy).await?;
    let pending_key = PendingKey::new(author, &secret, record.mode, asked);
    if let Some(made) = pending_key.made_before(store, author).await? {
        return Ok(made);
    }
    let subject = Subject::of(record.level.clone(), [&pending_key.id(), record.level.id()]);
    author.record_subject(store, CREATE, subject).await?;
    if is_new {
        secret::keep(store, secret.clone()).await?;
    }
    register::ensure(store, author, std::slice::from_ref(&record.level)).await?;
    let record = KeyRecord { secret: Some(secret), ..record.clone() };
    pending_key.put(store, encode(&record)?, KeyMetadata::new(&record, author.registered())).await
}

/// Writes the record of a key that belongs to something else, such as a connection. Writes no audit log entry. KV cost: 1
/// write.
///
/// # Errors
/// If the store fails.
pub(crate) async fn put(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    key: &str,
    record: &KeyRecord,
) -> Result<KeyName> {
    let note = KeyMetadata::new(record, author.registered());
    let made = PendingKey::of(key.to_owned(), true).put(store, encode(record)?, note).await?;
    Ok(made.row.name)
}

/// A key that is not written yet.
pub(super) struct PendingKey {
    key: String,
    credential: CredentialKey,
    /// Whether the key is derived from the operation's ID, so that a repeated request derives the same key.
    is_derived: bool,
}

impl PendingKey {
    /// Derives the key from the operation's ID and from `what`, the arguments of the command. If the
    /// operation's ID could be guessed, creates a random key instead.
    pub fn new(
        author: &Author<'_, impl Clock, impl Entropy>,
        secret: &NamespaceSecret,
        mode: Mode,
        what: &[u8],
    ) -> Self {
        let (bytes, is_derived) = author.bytes::<KEY_BYTES>(secret, mode, what);
        PendingKey::of(new_key(mode, bytes), is_derived)
    }

    fn of(key: String, is_derived: bool) -> Self {
        let credential = CredentialKey(ApiKey::new(&key).hash());
        PendingKey { key, credential, is_derived }
    }

    pub fn id(&self) -> String {
        self.credential.0.id()
    }

    /// Returns the key that an earlier attempt of the operation created; `None` if there is no such key.
    /// Also returns `None` for a derived key if the earlier attempt failed. Nobody has seen that key, so the
    /// same key can be written again.
    pub async fn made_before(
        &self,
        store: &impl OperatorStore,
        author: &Author<'_, impl Clock, impl Entropy>,
    ) -> Result<Option<MadeKey>> {
        let Some(EarlierAttempt { has_failed, .. }) = author.earlier else { return Ok(None) };
        let made = made_earlier(store, author, Some(self.id())).await?;
        Ok(made.filter(|_| !(has_failed && self.is_derived)))
    }

    pub async fn put(
        self,
        store: &impl OperatorStore,
        value: Vec<u8>,
        note: KeyMetadata,
    ) -> Result<MadeKey> {
        let metadata = note.fitted()?;
        store.put(&NotedKey(self.credential), value, &metadata).await?;
        Ok(MadeKey { key: Some(self.key), row: KeyRow::new(self.credential, &metadata, None) })
    }
}

/// Finds the key that an earlier attempt of the operation created, in the audit log and in a list. Does not
/// read the key's record, because Workers KV would cache the absence of a missing record. `expected` is an
/// ID that the key may have, in addition to those in the audit log.
///
/// KV cost: none at the first attempt. After that, 2 lists, and 1 read per 100 changes since the first
/// attempt.
///
/// # Errors
/// If the key was revoked or replaced since, or the store fails.
pub(super) async fn made_earlier(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    expected: Option<String>,
) -> Result<Option<MadeKey>> {
    let Some(EarlierAttempt { since_ms, .. }) = author.earlier else { return Ok(None) };
    let changes = audit::noted_since(store, since_ms.saturating_sub(SKEW_MS)).await?;
    let own = changes.iter().filter(|change| author.has_operation_of(change));
    let ids: BTreeSet<_> = own.filter_map(made_by).cloned().chain(expected).collect();
    let ends =
        |change: &Change, id: &String| revokes(change, id) || of_rotation(change, 0) == Some(id);
    if let Some(id) = ids.iter().find(|id| changes.iter().any(|change| ends(change, id))) {
        return Err(OperatorError::invalid(format!(
            "nothing was done: the key `{id}` was already created, and later revoked or replaced. \
             Begin again to create another key"
        )));
    }
    for id in ids {
        let listed = store.list(&CredentialKey::hash_prefix(&id), None).await?.records;
        if let Some(row) = listed.iter().find_map(|record| row(record, None)) {
            return Ok(Some(MadeKey { key: None, row }));
        }
    }
    Ok(None)
}

fn made_by(change: &Change) -> Option<&String> {
    let created = (change.command == CREATE).then(|| change.on.first()).flatten();
    created.or(of_rotation(change, 1))
}
