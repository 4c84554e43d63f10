//! The audit log: who changed what, by which command, and when. An entry is written before its change is made. If the
//! entry cannot be written, nothing is changed.

use super::operation_id::OperationId;
use super::position::Position;
use super::{OperatorError, Pages, Result, encode, load, read_values};
use crate::service::{Clock, Entropy};
use crate::store::{AuditKey, ChangeNote, Key as _, KeyInfo, OperatorStore, Registered, decode};
use crate::time::date_time;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::cell::Cell;

/// Largest number of bytes of a name: an e-mail address can have as many.
const MAX_NAME_BYTES: usize = 254;

/// The person who changes records, with the clock and the source of randomness that a change needs, and the operation's
/// ID.
#[derive(Debug)]
pub struct Author<'a, C, E> {
    pub(super) by: &'a str,
    pub(super) clock: &'a C,
    pub(super) entropy: &'a E,
    /// The ID of the operation; `None` generates one for each change.
    pub(super) operation: Option<OperationId>,
    /// The earlier attempts of the operation, if there may be any.
    pub(super) earlier: Option<EarlierAttempt>,
    /// Whether this attempt has, or may have, an entry in the audit log. Without one, it has changed nothing.
    has_entry: Cell<bool>,
}

/// Earlier attempts of an operation, which may have changed something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EarlierAttempt {
    /// The earliest time at which these attempts began, in milliseconds since 1970.
    pub since_ms: u64,
    /// Whether the person was shown that the last attempt failed.
    pub has_failed: bool,
}

/// A change in the audit log. It contains no secret, and no personal data except the author's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// When the change was made, an RFC 3339 date-time.
    pub at: String,
    /// Who made the change.
    pub by: String,
    /// The command, such as `keys revoke`.
    pub command: String,
    /// The IDs of what was changed; for a payment, also the payment in words.
    pub on: Vec<String>,
    /// A hash of the operation's ID and the author; `None` in entries of earlier releases, and of reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// What the change writes, if its only other copy is in the ledger, such as a credit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<Value>,
}

impl<'a, C: Clock, E: Entropy> Author<'a, C, E> {
    /// Creates an author without an operation ID. `by` is the name: one line of 1 to 254 bytes.
    ///
    /// # Errors
    /// If the name is not valid.
    pub fn new(by: &'a str, clock: &'a C, entropy: &'a E) -> Result<Self> {
        if is_line(by, MAX_NAME_BYTES) {
            let has_entry = Cell::default();
            return Ok(Author { by, clock, entropy, operation: None, earlier: None, has_entry });
        }
        Err(OperatorError::Invalid(format!(
            "the author's name must be one line of 1 to {MAX_NAME_BYTES} bytes"
        )))
    }

    /// Sets the operation's ID. However often a change is requested with the same ID, it is made only once. Each change
    /// needs its own ID.
    #[must_use]
    pub fn with_operation(self, operation: OperationId) -> Self {
        Author { operation: Some(operation), ..self }
    }

    /// Returns whether the author has an operation ID.
    pub fn has_operation(&self) -> bool {
        self.operation.is_some()
    }

    /// Returns this author for the operation's step at a position.
    pub fn of_step(&self, position: &str) -> Self {
        let operation = self.operation.as_ref().map(|operation| operation.step(position));
        Author { operation, ..self.anew() }
    }

    /// Returns this author for one attempt of an operation.
    pub(super) fn attempt(&self, operation: OperationId, earlier: Option<EarlierAttempt>) -> Self {
        Author { operation: Some(operation), earlier, ..self.anew() }
    }

    /// Returns the same person, without an operation, an earlier attempt or an entry.
    fn anew(&self) -> Self {
        let (by, clock, entropy) = (self.by, self.clock, self.entropy);
        Author { by, clock, entropy, operation: None, earlier: None, has_entry: Cell::default() }
    }

    /// Returns whether this attempt may have changed something.
    pub(super) fn has_entry(&self) -> bool {
        self.has_entry.get()
    }

    /// Returns when the person decided on the change, in milliseconds since 1970: when they opened its form, or when
    /// its first attempt began, whichever is earlier. `None` if the change is decided on now.
    pub(super) fn wanted_ms(&self) -> Option<u64> {
        let sent_ms = self.operation.as_ref().and_then(OperationId::sent_ms);
        sent_ms.into_iter().chain(self.earlier.map(|earlier| earlier.since_ms)).min()
    }

    /// Returns whether the operation made the change whose entry has this name. KV cost: 1 read.
    pub(super) async fn has_made(&self, store: &impl OperatorStore, change: &str) -> Result<bool> {
        let Some(key) = AuditKey::parse(change) else { return Ok(false) };
        let change: Option<Change> = load(store, key).await?;
        Ok(change.is_some_and(|change| self.has_operation_of(&change)))
    }

    /// Returns the person's name.
    pub fn by(&self) -> &str {
        self.by
    }

    /// Returns the author and the current time, for a new record.
    pub(super) fn registered(&self) -> Registered {
        Registered { created: date_time(self.clock.now_ms()), by: self.by.to_owned() }
    }

    /// Writes the entry of a change. The change may be made once this returns `Ok`. KV cost: 1 write.
    ///
    /// # Errors
    /// If it is not certain that the entry was written. Then the change must not be made.
    pub async fn record(
        &self,
        store: &impl OperatorStore,
        command: &str,
        on: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<()> {
        let on: Vec<String> = on.into_iter().map(Into::into).collect();
        let note = self.operation.as_ref().map(|_| self.note(command, &on));
        self.keep(store, &self.entry(), command, (on, None), note).await
    }

    /// Writes the entry of a change that may still be withdrawn. `on` receives the time of the change, and returns the
    /// IDs of what it changes.
    ///
    /// # Errors
    /// As [`record`](Self::record).
    pub(super) async fn begin_entry(
        &self,
        store: &impl OperatorStore,
        command: &str,
        on: impl FnOnce(&str) -> Vec<String>,
    ) -> Result<Entry> {
        self.announce(store, command, |at| Ok((on(at), None))).await
    }

    /// Writes the entry of a change as [`begin_entry`](Self::begin_entry) does, with the whole record that the change
    /// writes to the ledger.
    pub(super) async fn begin_entry_with_record<R: Serialize>(
        &self,
        store: &impl OperatorStore,
        command: &str,
        change: impl FnOnce(&str) -> (Vec<String>, R),
    ) -> Result<Entry> {
        let whole = |at: &str| {
            let (on, record) = change(at);
            Ok((on, Some(serde_json::to_value(record)?)))
        };
        self.announce(store, command, whole).await
    }

    async fn announce(
        &self,
        store: &impl OperatorStore,
        command: &str,
        change: impl FnOnce(&str) -> Result<(Vec<String>, Option<Value>)>,
    ) -> Result<Entry> {
        let entry = self.entry();
        let (on, record) = change(&entry.at)?;
        let note = self.note(command, &on);
        self.keep(store, &entry, command, (on, record), Some(note.clone())).await?;
        Ok(Entry { note: Some(note), ..entry })
    }

    /// Records in the audit log that an announced change was not made. If that fails, the entry stays valid.
    pub(super) async fn withdraw(&self, store: &impl OperatorStore, announced: &Entry) {
        let Some(note) = &announced.note else { return };
        let own = announced.key.name();
        let on = vec![note.on.clone(), own.clone()];
        let command = [&note.command, " (withdrawn)"].concat();
        let note = ChangeNote { command: command.clone(), withdraws: Some(own), ..note.clone() };
        let withdrawn = self.keep(store, &self.entry(), &command, (on, None), Some(note)).await;
        self.has_entry.set(withdrawn.is_err());
    }

    fn note(&self, command: &str, on: &[String]) -> ChangeNote {
        ChangeNote {
            command: command.to_owned(),
            on: on.first().cloned().unwrap_or_default(),
            by: self.by.to_owned(),
            withdraws: None,
            operation: self.operation_hash(),
        }
    }

    pub(super) fn operation_hash(&self) -> Option<String> {
        self.operation.as_ref().map(|operation| operation.hash(self.by))
    }

    /// Returns whether this operation made the change.
    pub(super) fn has_operation_of(&self, change: &Change) -> bool {
        change.operation.is_some() && change.operation == self.operation_hash()
    }

    /// Creates an entry, without writing it.
    fn entry(&self) -> Entry {
        let now_ms = self.clock.now_ms();
        let mut random = [0; AuditKey::RANDOM_BYTES];
        self.entropy.fill(&mut random);
        Entry { key: AuditKey::new(now_ms, random), at: date_time(now_ms), note: None }
    }

    /// Writes an entry. Its metadata is the note that lists show.
    async fn keep(
        &self,
        store: &impl OperatorStore,
        Entry { key, at, .. }: &Entry,
        command: &str,
        (on, record): (Vec<String>, Option<Value>),
        note: Option<ChangeNote>,
    ) -> Result<()> {
        let (at, by, command) = (at.clone(), self.by.to_owned(), command.to_owned());
        let operation = self.operation_hash();
        let change = encode(&Change { at, by, command, on, operation, record })?;
        self.has_entry.set(true);
        Ok(store.put(key, change, &note).await?)
    }
}

/// An entry of the audit log.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// The key of the entry's record.
    pub key: AuditKey,
    /// The time of the change, an RFC 3339 date-time.
    pub at: String,
    /// The note that lists show; only for an announced change.
    note: Option<ChangeNote>,
}

/// A record with the name of the change that wrote it.
#[derive(Serialize)]
pub(super) struct Written<'r, R> {
    #[serde(flatten)]
    record: &'r R,
    change: String,
}

impl<'r, R> Written<'r, R> {
    pub fn new(record: &'r R, by: &Entry) -> Self {
        Written { record, change: by.key.name() }
    }
}

/// Returns the change that wrote a record, if the record names it.
pub(super) fn change_of(record: &[u8]) -> Option<AuditKey> {
    #[derive(Deserialize)]
    struct Written {
        change: String,
    }
    let written: Written = serde_json::from_slice(record).ok()?;
    AuditKey::parse(&written.change)
}

/// Returns whether a text is one line of 1 to `most` bytes.
pub(super) fn is_line(text: &str, most: usize) -> bool {
    (1..=most).contains(&text.len()) && !text.chars().any(char::is_control)
}

/// Returns the changes since a time, in milliseconds since 1970, newest first. Leaves out withdrawn changes and entries that
/// cannot be read. Changes of the last minute may be missing. KV cost: 1 list per 1,000 entries, 1 read per 100 changes.
///
/// # Errors
/// If the store fails.
pub async fn since(store: &impl OperatorStore, since_ms: u64) -> Result<Vec<Change>> {
    let mut entries = entries(store, since_ms).await?;
    entries.retain(|(key, _)| key.time_ms() >= since_ms);
    let keys: Vec<_> = entries.into_iter().map(|(key, _)| key).collect();
    let values = read_values(store, &keys).await?;
    Ok(values
        .into_iter()
        .flatten()
        .filter_map(|value| decode(AuditKey::KIND, &value).ok())
        .collect())
}

/// Returns the notes of the changes since a time, in milliseconds since 1970, and of some earlier changes, newest
/// first. Leaves out withdrawn changes. KV cost: 1 list per 1,000 entries, no read.
pub(super) async fn notes(
    store: &impl OperatorStore,
    since_ms: u64,
) -> Result<Vec<(AuditKey, ChangeNote)>> {
    let entries = entries(store, since_ms).await?;
    Ok(entries.into_iter().filter_map(|(key, note)| Some((key, note?))).collect())
}

type Noted = (AuditKey, Option<ChangeNote>);

/// Returns the entries of the list pages back to a time. Leaves out withdrawn entries.
async fn entries(store: &impl OperatorStore, since_ms: u64) -> Result<Vec<Noted>> {
    let mut found: Vec<Noted> = Vec::new();
    let mut pages = Pages::new(store, AuditKey::PREFIX);
    while found.last().is_none_or(|(oldest, _)| oldest.time_ms() >= since_ms)
        && let Some(page) = pages.next().await?
    {
        found.extend(page.iter().filter_map(noted));
    }
    let mut withdrawn: Vec<_> = found.iter().filter_map(withdraws).collect();
    withdrawn.sort_unstable();
    found.retain(|entry| withdraws(entry).is_none() && withdrawn.binary_search(&entry.0).is_err());
    Ok(found)
}

/// Returns the key of the entry that this entry withdraws.
fn withdraws((_, note): &Noted) -> Option<AuditKey> {
    AuditKey::parse(note.as_ref()?.withdraws.as_ref()?)
}

fn noted(KeyInfo { name, metadata, .. }: &KeyInfo) -> Option<Noted> {
    Some((AuditKey::parse(name)?, ChangeNote::deserialize(metadata).ok()))
}

/// A page of the audit log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AuditPage {
    /// The changes, newest first.
    pub changes: Vec<Change>,
    /// Number of entries of the page that cannot be read.
    pub damaged: usize,
    /// The cursor of the next page, with older changes; `None` on the last page.
    pub next: Option<String>,
}

/// Returns a page of at most `count` changes; a `count` of 0 means 1. Without the cursor `next` of the previous page,
/// these are the newest changes. Changes of the last minute may be missing. KV cost: 1 list, 1 read per 100 changes.
///
/// # Errors
/// If `next` is not a cursor, or the store fails.
pub async fn page(
    store: &impl OperatorStore,
    next: Option<&str>,
    count: usize,
) -> Result<AuditPage> {
    let position = next.map_or(Some(Position::default()), Position::parse);
    let position = position.ok_or_else(|| {
        OperatorError::Invalid(
            "this is not a valid audit cursor: begin with the newest entries".to_owned(),
        )
    })?;
    let listed = store.list(AuditKey::PREFIX, position.cursor.as_deref()).await?;
    let mut names = listed.records.iter().map(|record| &*record.name);
    let some = names.by_ref().filter(|name| position.is_before(name)).take(count.max(1));
    let some: Vec<_> = some.collect();
    let next = match (names.next(), some.last()) {
        (Some(_), Some(last)) => Some(position.after(last)),
        _ => listed.cursor.map(|cursor| position.next_page(Some(cursor))),
    };
    let keys: Vec<_> = some.iter().filter_map(|name| AuditKey::parse(name)).collect();
    let (mut changes, mut damaged) = (Vec::new(), some.len() - keys.len());
    for value in read_values(store, &keys).await?.into_iter().flatten() {
        match decode(AuditKey::KIND, &value) {
            Ok(change) => changes.push(change),
            Err(_) => damaged += 1,
        }
    }
    Ok(AuditPage { changes, damaged, next: next.map(|next| next.to_string()) })
}
