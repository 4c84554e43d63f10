//! Prevents two people from changing one record at the same moment. One change is made, and the other person
//! is shown who made it.
//!
//! Workers KV has no compare-and-set. So a change first writes its entry to the audit log. Then it waits
//! until the entries of concurrent changes are visible. If another entry is earlier, the change gives up.
//! After it has written the record, it reads the record back.
//!
//! Two concurrent changes A and B are never both made, provided that each list shows everything that was
//! written before it. Let B be the change whose entry was written later:
//!
//! - After its wait, B sees A's entry.
//! - If A also sees B's entry, both compare the entries, and the later one gives up.
//! - If A does not see B's entry, B wrote it after A's wait. B's first list did not show A's entry, so B took
//!   longer than the wait to write its own. A change that takes so long gives up if it sees any other
//!   change.

use super::error::{OperatorError, Result};
use super::records::{encode, load, read_value};
use crate::office::audit::rule as audit;
use crate::office::audit::rule::{Author, Change, Entry, Subject, Written, change_of};
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{AuditKey, ChangeNote, Key, NoMetadata, OperatorStore, StoreError};
use crate::pledges::time::{SKEW_MS, date_time};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// How late Workers KV may show a change, in minutes. Until then, a person who has not seen the change cannot
/// replace it.
const LATE_MINUTES: u64 = 2;
/// Writing a record must begin within this time after the change's audit log entry was written, in
/// milliseconds. Together with the deadline of a write, this is less than [`LATE_MINUTES`].
const MAX_AGE_MS: u64 = 30_000;

/// Identifies the version of a record that a person has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordVersion {
    /// The SHA-256 of the record's value; `None` if the record does not exist.
    hash: Option<[u8; 32]>,
    /// The key of this version's audit log entry; `None` if unknown.
    change: Option<AuditKey>,
}

impl RecordVersion {
    pub(crate) fn new(record: Option<&[u8]>) -> Self {
        RecordVersion { hash: record.map(hash), change: record.and_then(change_of) }
    }

    /// Reads the audit log entry for this version of the record; `None` if unknown. KV cost: 1 read.
    pub async fn change(&self, store: &impl OperatorStore) -> Result<Option<Change>> {
        let Some(key) = self.change else { return Ok(None) };
        match load(store, key).await {
            Err(OperatorError::Store(StoreError::Damaged(_))) => Ok(None),
            change => change,
        }
    }
}

fn hash(record: &[u8]) -> [u8; 32] {
    Sha256::digest(record).into()
}

/// A record that several people may change.
pub(crate) struct SharedRecord<'c, K> {
    pub key: K,
    /// The record's name in messages, such as ``the profile of the unit `u` ``.
    pub words: String,
    /// Returns whether a change concerns this record.
    pub is_changed_by: &'c dyn Fn(&ChangeNote) -> bool,
    /// The commands that remove the record.
    pub removed_by: &'static [&'static str],
}

/// A change that was announced in the audit log, and may now be made.
pub(crate) struct PendingChange<'t, S, C, E, K> {
    store: &'t S,
    author: &'t Author<'t, C, E>,
    of: &'t SharedRecord<'t, K>,
    seen: RecordVersion,
    entry: Entry,
}

type Noted = (AuditKey, ChangeNote);

impl<K: Key<Metadata = NoMetadata> + Copy> SharedRecord<'_, K> {
    /// Announces a change in the audit log, then waits until the change may be made. `seen` is the version of
    /// the record that the person saw. `on` gets the time of the change, and returns the IDs that the entry
    /// names. KV cost: 2 lists, 1 write; 1 more write if the change is refused.
    ///
    /// # Errors
    /// - If somebody else changes the record at the same moment, or has changed it within the last minutes.
    /// - If the store fails.
    ///
    /// After an error, the record is unchanged. Only the audit log may have new entries.
    pub async fn begin<'t, S: OperatorStore, C: Clock, E: Entropy, T: Into<Subject>>(
        &'t self,
        store: &'t S,
        author: &'t Author<'t, C, E>,
        seen: RecordVersion,
        command: &str,
        on: impl FnOnce(&str) -> T,
    ) -> Result<PendingChange<'t, S, C, E, K>> {
        let began_ms = author.clock.now_ms();
        let before = self.changes(store, author, began_ms).await?;
        self.check_recent(&before, seen, began_ms)?;
        let entry = author.begin_entry(store, command, on).await?;
        let took_ms = author.clock.now_ms().saturating_sub(began_ms);
        let turn = PendingChange { store, author, of: self, seen, entry };
        let is_late = took_ms >= u64::from(store.settle_ms());
        match turn.wait(&before, is_late).await {
            Ok(()) => Ok(turn),
            Err(error) => Err(turn.withdraw(error).await),
        }
    }

    /// Returns the changes of this record that KV shows now, at least those of the last [`LATE_MINUTES`]. If
    /// `author` is a person of a shop, operators are not named.
    async fn changes(
        &self,
        store: &impl OperatorStore,
        author: &Author<'_, impl Clock, impl Entropy>,
        now_ms: u64,
    ) -> Result<Vec<Noted>> {
        let mut changes = audit::notes(store, late_ms(now_ms)).await?;
        changes.retain(|(_, note)| (self.is_changed_by)(note));
        for (_, note) in &mut changes {
            note.by = author.name_of(&note.by, note.by_shop).to_owned();
        }
        Ok(changes)
    }

    /// Returns an error if the record was changed in the last [`LATE_MINUTES`] and the person has not seen
    /// that change. Ignores changes whose time is far in the future because of a wrong clock.
    fn check_recent(&self, changes: &[Noted], seen: RecordVersion, now_ms: u64) -> Result<()> {
        let recent = late_ms(now_ms)..=now_ms + SKEW_MS;
        let times = changes.iter().map(|(key, _)| key.time_ms());
        let Some(last_ms) = times.filter(|time_ms| recent.contains(time_ms)).max() else {
            return Ok(());
        };
        let is_seen = |note: &ChangeNote| {
            seen.change.map(AuditKey::time_ms) >= Some(last_ms)
                || (seen.hash.is_none() && self.removed_by.contains(&&*note.command))
        };
        let mut last = changes.iter().filter(|(key, _)| key.time_ms() == last_ms);
        match last.clone().any(|(_, note)| is_seen(note)) {
            true => Ok(()),
            false => last.next().map_or(Ok(()), |unseen| Err(self.changed_lately(unseen))),
        }
    }

    fn changed_lately(&self, (key, note): &Noted) -> OperatorError {
        let (words, by, at) = (&self.words, &note.by, date_time(key.time_ms()));
        OperatorError::invalid(format!(
            "your change was not saved: {by} changed {words} at {at}, less than {LATE_MINUTES} minutes \
             ago. You have not seen that change yet. It shows everywhere within {LATE_MINUTES} \
             minutes. Check it then, and begin again"
        ))
    }

    fn lost_to_entry(&self, (key, note): &Noted) -> OperatorError {
        self.lost_to(&note.by, &date_time(key.time_ms()))
    }

    fn lost_to(&self, by: &str, at: &str) -> OperatorError {
        let words = &self.words;
        OperatorError::invalid(format!(
            "your change was not saved: {by} changed {words} at {at}, while you were changing it. Check the \
             current version, and begin again"
        ))
    }
}

fn late_ms(now_ms: u64) -> u64 {
    now_ms.saturating_sub(LATE_MINUTES * 60_000)
}

impl<S, C, E, K> PendingChange<'_, S, C, E, K>
where
    S: OperatorStore,
    C: Clock,
    E: Entropy,
    K: Key<Metadata = NoMetadata> + Copy,
{
    /// Returns the time of the change, an RFC 3339 date-time.
    pub fn at(&self) -> &str {
        &self.entry.at
    }

    async fn changes(&self) -> Result<Vec<Noted>> {
        self.of.changes(self.store, self.author, self.author.clock.now_ms()).await
    }

    /// Waits until the entries of concurrent changes are visible. Fails if one of them is earlier than this
    /// change's entry. If `is_late`, fails if there is any concurrent change.
    async fn wait(&self, before: &[Noted], is_late: bool) -> Result<()> {
        self.store.pause(self.store.settle_ms()).await;
        let mut others = self.changes().await?;
        others.retain(|(key, _)| {
            *key != self.entry.key && before.iter().all(|(known, _)| known != key)
        });
        match others.iter().min_by_key(|(key, _)| *key) {
            Some(first) if is_late || first.0 < self.entry.key => Err(self.of.lost_to_entry(first)),
            _ => Ok(()),
        }
    }

    /// Runs `first`, then writes the record and reads it back. KV cost: 2 reads, 1 write.
    ///
    /// # Errors
    /// - If the record is no longer the version that was seen, or `first` fails. Then the record was not
    ///   written.
    /// - If the record that is read back is somebody else's newer version.
    /// - If the store fails. In this case, the record may have been written.
    pub async fn write(
        self,
        record: &impl Serialize,
        first: impl AsyncFnOnce() -> Result<()>,
    ) -> Result<()> {
        let record = encode(&Written::new(record, &self.entry))?;
        let written = Some(hash(&record));
        self.prepare(first).await?;
        self.store.put(&self.of.key, record, &NoMetadata).await?;
        self.confirm(written).await
    }

    /// Removes the record instead of writing it. Otherwise works as [`write`](Self::write) does.
    pub async fn remove(self, first: impl AsyncFnOnce() -> Result<()>) -> Result<()> {
        self.prepare(first).await?;
        self.store.remove(&self.of.key).await?;
        self.confirm(None).await
    }

    async fn prepare(&self, first: impl AsyncFnOnce() -> Result<()>) -> Result<()> {
        let prepared = match self.check_unchanged().await {
            Ok(()) => first().await,
            changed => changed,
        };
        match prepared {
            Ok(()) => Ok(()),
            Err(error) => Err(self.withdraw(error).await),
        }
    }

    async fn check_unchanged(&self) -> Result<()> {
        let now = self.read().await?;
        if !self.is_seen(now) {
            return Err(self.lost_to_writer_of(now).await?);
        }
        let age_ms = self.author.clock.now_ms().saturating_sub(self.entry.key.time_ms());
        if age_ms < MAX_AGE_MS {
            return Ok(());
        }
        Err(OperatorError::invalid(format!(
            "nothing was changed: Workers KV needed more than {} s to answer. Try again later",
            MAX_AGE_MS / 1_000
        )))
    }

    /// Reads the record back, and fails if somebody else has written a newer version. Accepts the versions
    /// before the write too, because Workers KV may answer from a cache.
    async fn confirm(&self, written: Option<[u8; 32]>) -> Result<()> {
        self.store.pause(self.store.settle_ms()).await;
        let now = self.read().await?;
        if now.hash == written || self.is_seen(now) {
            return Ok(());
        }
        let error = self.lost_to_writer_of(now).await?;
        Err(self.withdraw(error).await)
    }

    /// Returns whether a record is the version that was seen, or an older one.
    fn is_seen(&self, now: RecordVersion) -> bool {
        now.hash == self.seen.hash || now.change.is_some() && now.change <= self.seen.change
    }

    async fn read(&self) -> Result<RecordVersion> {
        let record = read_value(self.store, self.of.key).await?;
        Ok(RecordVersion::new(record.as_deref()))
    }

    /// Returns the error that names the person who wrote the record. If the record is gone or names nobody,
    /// the error names the author of the last change in the audit log.
    async fn lost_to_writer_of(&self, record: RecordVersion) -> Result<OperatorError> {
        if let Some(Change { by, by_shop, at, .. }) = record.change(self.store).await? {
            return Ok(self.of.lost_to(self.author.name_of(&by, by_shop), &at));
        }
        let mut others = self.changes().await?;
        others.retain(|(key, _)| *key != self.entry.key);
        let last = others.iter().max_by_key(|(key, _)| *key);
        Ok(last.map_or_else(
            || self.of.lost_to("somebody else", "the same moment"),
            |it| self.of.lost_to_entry(it),
        ))
    }

    /// Records in the audit log that the change was not made, then returns the error. If the audit log
    /// cannot be written, others have to wait some minutes before they can change the record.
    async fn withdraw(&self, error: OperatorError) -> OperatorError {
        self.author.withdraw(self.store, &self.entry).await;
        error
    }
}
