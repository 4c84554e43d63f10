//! The record of changes: who changed what, by which command, and when. It is written before the
//! change: if it cannot be written, nothing is changed.

use super::operation_id::OperationId;
use super::position::Position;
use super::{OperatorError, Pages, Result, encode, load, read_values};
use crate::handle::{Clock, Entropy};
use crate::store::{AuditKey, ChangeNote, Key as _, Listed, OperatorStore, Registered, decode};
use crate::time::date_time;
use serde::{Deserialize, Serialize};
use std::cell::Cell;

/// Most bytes of a name: those of an e-mail address.
const MAX_NAME_BYTES: usize = 254;

/// The person who changes records, with the ports that a change takes, and the ID by which it is done once.
#[derive(Debug)]
pub struct Author<'a, C, E> {
    pub(super) by: &'a str,
    pub(super) clock: &'a C,
    pub(super) entropy: &'a E,
    /// `None`: each change draws its own.
    pub(super) operation: Option<OperationId>,
    /// What earlier attempts of the operation may have done.
    pub(super) earlier: Option<Earlier>,
    /// Whether an entry of this attempt is in the audit log, or may be: without one, nothing was changed.
    has_entry: Cell<bool>,
}

/// An earlier attempt of an operation, which may have changed something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Earlier {
    /// It did not begin before, in milliseconds since 1970.
    pub since_ms: u64,
    /// Whether the person has heard that it failed.
    pub has_failed: bool,
}

/// A change. It has no secret and no personal data but the author's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// When it was made, an RFC 3339 date-time.
    pub at: String,
    /// Who made it.
    pub by: String,
    /// The command, such as `keys revoke`.
    pub command: String,
    /// The IDs of what it changed, and of a payment what was marked.
    pub on: Vec<String>,
    /// A hash of the operation's ID and the author; `None` in entries of earlier releases, and of what is no change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
}

impl<'a, C: Clock, E: Entropy> Author<'a, C, E> {
    /// Takes a name: one line of 1 to 254 bytes.
    ///
    /// # Errors
    /// For any other text.
    pub fn new(by: &'a str, clock: &'a C, entropy: &'a E) -> Result<Self> {
        if is_line(by, MAX_NAME_BYTES) {
            let has_entry = Cell::default();
            return Ok(Author { by, clock, entropy, operation: None, earlier: None, has_entry });
        }
        Err(OperatorError::Invalid(format!(
            "the name of who changes records is one line of 1 to {MAX_NAME_BYTES} bytes"
        )))
    }

    /// As this operation: its changes are done once, however often they are asked for. One ID stands for one change.
    #[must_use]
    pub fn with_operation(self, operation: OperationId) -> Self {
        Author { operation: Some(operation), ..self }
    }

    /// Whether they act as one operation.
    pub fn has_operation(&self) -> bool {
        self.operation.is_some()
    }

    /// The author of a step of the operation, at this position.
    pub fn of_step(&self, position: &str) -> Self {
        let operation = self.operation.as_ref().map(|operation| operation.step(position));
        Author { operation, ..self.anew() }
    }

    /// The author of one attempt of an operation.
    pub(super) fn attempt(&self, operation: OperationId, earlier: Option<Earlier>) -> Self {
        Author { operation: Some(operation), earlier, ..self.anew() }
    }

    /// The same person, who has changed nothing yet.
    fn anew(&self) -> Self {
        let (by, clock, entropy) = (self.by, self.clock, self.entropy);
        Author { by, clock, entropy, operation: None, earlier: None, has_entry: Cell::default() }
    }

    /// Whether this attempt may have changed something.
    pub(super) fn has_entry(&self) -> bool {
        self.has_entry.get()
    }

    /// When the person wanted the change that is made now, in milliseconds since 1970: when they opened the form for it, or
    /// when its first attempt began. `None` if that is now.
    pub(super) fn wanted_ms(&self) -> Option<u64> {
        let sent_ms = self.operation.as_ref().and_then(OperationId::sent_ms);
        sent_ms.into_iter().chain(self.earlier.map(|earlier| earlier.since_ms)).min()
    }

    /// Whether an earlier attempt of the operation has made a change, by the name of its entry.
    pub(super) async fn has_made(&self, store: &impl OperatorStore, change: &str) -> Result<bool> {
        let Some(key) = AuditKey::parse(change) else { return Ok(false) };
        let change: Option<Change> = load(store, key).await?;
        Ok(change.is_some_and(|change| self.has_operation_of(&change)))
    }

    /// Their name.
    pub fn by(&self) -> &str {
        self.by
    }

    /// The author and the time, for a record that is made now.
    pub(super) fn registered(&self) -> Registered {
        Registered { created: date_time(self.clock.now_ms()), by: self.by.to_owned() }
    }

    /// Writes the entry of a change, which may be made once this is `Ok`.
    ///
    /// # Errors
    /// If the entry may not have been kept: then leave everything as it is.
    pub async fn record(
        &self,
        store: &impl OperatorStore,
        command: &str,
        on: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<()> {
        let on: Vec<String> = on.into_iter().map(Into::into).collect();
        let note = self.operation.as_ref().map(|_| self.note(command, &on));
        self.keep(store, &self.entry(), command, on, note).await
    }

    /// Writes the entry of a change that may still be withdrawn, on what `on` returns for its time.
    ///
    /// # Errors
    /// As [`record`](Self::record).
    pub(super) async fn announce(
        &self,
        store: &impl OperatorStore,
        command: &str,
        on: impl FnOnce(&str) -> Vec<String>,
    ) -> Result<Entry> {
        let entry = self.entry();
        let on = on(&entry.at);
        let note = self.note(command, &on);
        self.keep(store, &entry, command, on, Some(note.clone())).await?;
        Ok(Entry { note: Some(note), ..entry })
    }

    /// Says in the audit log that an announced change was not made. Where that fails, the entry stays as it is.
    pub(super) async fn withdraw(&self, store: &impl OperatorStore, announced: &Entry) {
        let Some(note) = &announced.note else { return };
        let own = announced.key.name();
        let on = vec![note.on.clone(), own.clone()];
        let command = [&note.command, " (withdrawn)"].concat();
        let note = ChangeNote { command: command.clone(), withdraws: Some(own), ..note.clone() };
        let withdrawn = self.keep(store, &self.entry(), &command, on, Some(note)).await;
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

    fn operation_hash(&self) -> Option<String> {
        self.operation.as_ref().map(|operation| operation.hash(self.by))
    }

    /// Whether a change is one of this operation.
    pub(super) fn has_operation_of(&self, change: &Change) -> bool {
        change.operation.is_some() && change.operation == self.operation_hash()
    }

    /// A new entry, which is not written yet.
    fn entry(&self) -> Entry {
        let now_ms = self.clock.now_ms();
        let mut random = [0; AuditKey::RANDOM_BYTES];
        self.entropy.fill(&mut random);
        Entry { key: AuditKey::new(now_ms, random), at: date_time(now_ms), note: None }
    }

    /// Writes an entry, with what a list shows of it.
    async fn keep(
        &self,
        store: &impl OperatorStore,
        Entry { key, at, .. }: &Entry,
        command: &str,
        on: Vec<String>,
        note: Option<ChangeNote>,
    ) -> Result<()> {
        let (at, by, command) = (at.clone(), self.by.to_owned(), command.to_owned());
        let change = encode(&Change { at, by, command, on, operation: self.operation_hash() })?;
        self.has_entry.set(true);
        Ok(store.put(key, change, &note).await?)
    }
}

/// An entry of the audit log.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// Its key.
    pub key: AuditKey,
    /// The time of the change, an RFC 3339 date-time.
    pub at: String,
    /// What a list shows of it, where it was announced.
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

/// The change that wrote a record, where that says so.
pub(super) fn change_of(record: &[u8]) -> Option<AuditKey> {
    #[derive(Deserialize)]
    struct Written {
        change: String,
    }
    let written: Written = serde_json::from_slice(record).ok()?;
    AuditKey::parse(&written.change)
}

/// Whether a text is one line of 1 byte to so many.
pub(super) fn is_line(text: &str, most: usize) -> bool {
    (1..=most).contains(&text.len()) && !text.chars().any(char::is_control)
}

/// The changes since a time, in milliseconds since 1970, the newest first. Leaves out those that were withdrawn, and
/// entries that cannot be read. Those of the last minute may be missing.
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

/// The notes of the changes since a time, in milliseconds since 1970, and of some before, the newest first. Leaves out
/// those that were withdrawn. KV cost: 1 list per 1,000 entries, no read.
pub(super) async fn notes(
    store: &impl OperatorStore,
    since_ms: u64,
) -> Result<Vec<(AuditKey, ChangeNote)>> {
    let entries = entries(store, since_ms).await?;
    Ok(entries.into_iter().filter_map(|(key, note)| Some((key, note?))).collect())
}

type Noted = (AuditKey, Option<ChangeNote>);

/// The entries of the pages that reach back to a time, without those that were withdrawn.
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

/// The entry that this one withdraws.
fn withdraws((_, note): &Noted) -> Option<AuditKey> {
    AuditKey::parse(note.as_ref()?.withdraws.as_ref()?)
}

fn noted(Listed { name, metadata, .. }: &Listed) -> Option<Noted> {
    Some((AuditKey::parse(name)?, ChangeNote::deserialize(metadata).ok()))
}

/// Some of the changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AuditPage {
    /// The newest first.
    pub changes: Vec<Change>,
    /// Number of records among them that cannot be read.
    pub damaged: usize,
    /// Leads to older changes; `None` if these are the oldest.
    pub next: Option<String>,
}

/// At most so many changes, and at least one, from one list call: the newest, or those that `next` of
/// the page before leads to. Those of the last minute may be missing.
///
/// # Errors
/// If `next` is not such a text, or the store fails.
pub async fn page(
    store: &impl OperatorStore,
    next: Option<&str>,
    count: usize,
) -> Result<AuditPage> {
    let position = next.map_or(Some(Position::default()), Position::parse);
    let position = position.ok_or_else(|| {
        OperatorError::Invalid(
            "this is no place in the record of changes: begin with the newest ones".to_owned(),
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
