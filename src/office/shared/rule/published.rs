//! Changes records that several people may change: price lists, profiles, payments of months, and memberships of teams.
//! The ledger's row is the record, and decides whose change is made. Then the copy in Workers KV is written, which the API
//! reads. If that fails, or a late write replaces the copy, the cron
//! [writes it again](crate::office::system::rule::publish).
//!
//! A price list or profile that was never changed in this database has no row. Then the copy is the record.

use super::commit::Commit;
use super::error::{OperatorError, Result};
use super::once::Outcome;
use super::records::read_value;
use crate::office::audit::rule::{Author, Change, Entry, change_named, change_of};
use crate::office::shared::rows::port::{Ledger, Statement};
use crate::office::shared::rows::published as rows;
use crate::office::shared::rows::published::{NewVersion, PublishedRow};
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{AuditKey, CopyMetadata, Key, OperatorStore, Registered, Tombstone};
use crate::pledges::time::date_time;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;

/// Identifies the version of a record that a person has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordVersion {
    /// The SHA-256 of the record; `None` if there is none.
    hash: Option<[u8; 32]>,
    /// The key of this version's audit log entry; `None` if unknown.
    change: Option<AuditKey>,
}

impl RecordVersion {
    pub(crate) fn new(record: Option<&[u8]>) -> Self {
        let hash = record.map(|record| Sha256::digest(record).into());
        RecordVersion { hash, change: record.and_then(change_of) }
    }

    pub(crate) fn of(row: &PublishedRow) -> Self {
        let change = AuditKey::parse(&row.change);
        RecordVersion { change, ..RecordVersion::new(content(row)) }
    }

    /// Reads the audit log entry for this version of the record; `None` if unknown. Ledger cost: 1 query.
    ///
    /// # Errors
    /// If the ledger fails.
    pub async fn change(&self, ledger: &dyn Ledger) -> Result<Option<Change>> {
        match self.change {
            Some(key) => change_named(ledger, key).await,
            None => Ok(None),
        }
    }
}

pub(crate) fn content(row: &PublishedRow) -> Option<&[u8]> {
    row.content.as_deref().map(|content| content.get().as_bytes())
}

/// Returns the newest version of a record. If the ledger does not answer, this is the copy in Workers KV, which may be a
/// minute old: a change that is based on an old version is refused. Ledger cost: 1 query. KV cost: 1 read without a row.
pub(crate) async fn latest<K: Key>(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    key: K,
) -> Result<(Option<Vec<u8>>, RecordVersion)> {
    if let Ok(Some(row)) = rows::get(ledger, &key.name()).await {
        return Ok((content(&row).map(<[u8]>::to_vec), RecordVersion::of(&row)));
    }
    let record = read_value(store, key).await?;
    let version = RecordVersion::new(record.as_deref());
    Ok((record, version))
}

/// A new version of a record.
pub(crate) struct Replacement {
    /// The name of the record in Workers KV.
    pub name: String,
    /// The version that it replaces.
    pub seen: RecordVersion,
    /// The record; `None` removes it.
    pub record: Option<Vec<u8>>,
}

/// Replaces records together, in the database transaction of a change. `words` name the records in messages, such as ``the profile of the unit `u` ``.
///
/// # Errors
/// - If one of the records is no longer the version that was seen. Nothing was changed.
/// - As [`Commit::make`].
pub(crate) async fn replace<C: Clock, E: Entropy>(
    commit: &Commit<'_, C, E>,
    entry: &Entry,
    outcome: &impl Outcome,
    words: &str,
    replacements: Vec<Replacement>,
) -> Result<()> {
    replace_with(commit, entry, outcome, words, (replacements, Vec::new())).await
}

/// Replaces records as [`replace`] does, and makes further changes in the same database transaction.
pub(crate) async fn replace_with<C: Clock, E: Entropy>(
    commit: &Commit<'_, C, E>,
    entry: &Entry,
    outcome: &impl Outcome,
    words: &str,
    (replacements, further): (Vec<Replacement>, Vec<Statement>),
) -> Result<()> {
    let versions = versions(&commit.author, entry, replacements)?;
    let statements = rows::changing(&versions)?.into_iter().chain(further);
    match commit.make(entry, outcome, statements).await? {
        true => Ok(()),
        false => Err(lost_to(commit.ledger, &commit.author, words, &versions).await?),
    }
}

/// Returns the new versions of records.
pub(crate) fn versions<C: Clock, E: Entropy>(
    author: &Author<'_, C, E>,
    entry: &Entry,
    replacements: Vec<Replacement>,
) -> Result<Vec<NewVersion>> {
    replacements.into_iter().map(|replacement| replacement.into_version(author, entry)).collect()
}

/// How long after a read of its row a copy may be written, in milliseconds. A later write could replace the copy of a
/// newer row after the cron has confirmed that one.
const FRESH_MS: u64 = 30_000;

/// Writes a copy as its row has it, if the row was read or written less than 30 s ago. Otherwise the cron writes it.
/// The copy of a removed row is a tombstone. Returns whether the copy was written. KV cost: 1 write.
///
/// # Errors
/// If the store fails.
pub(crate) async fn publish<K: Key>(
    store: &impl OperatorStore,
    clock: &impl Clock,
    key: &K,
    (row, read_ms): (&PublishedRow, u64),
) -> Result<bool> {
    if clock.now_ms().saturating_sub(read_ms) >= FRESH_MS {
        return Ok(false);
    }
    let value = match content(row) {
        Some(record) => record.to_vec(),
        None => serde_json::to_vec(&tombstone(row))?,
    };
    let metadata = CopyMetadata { change: row.change.clone(), removed: row.content.is_none() };
    store.put(&CopyKey(key), value, &metadata).await?;
    Ok(true)
}

fn tombstone(row: &PublishedRow) -> Tombstone {
    let PublishedRow { change, author: by, by_shop, at, .. } = row.clone();
    Tombstone { removed: true, change, by, by_shop, at: date_time(at) }
}

/// The key of a copy, with the metadata that copies have.
pub(crate) struct CopyKey<'k, K>(pub &'k K);

impl<K: Key> Key for CopyKey<'_, K> {
    type Metadata = CopyMetadata;
    const KIND: &'static str = K::KIND;
    const PREFIX: &'static str = K::PREFIX;
    const CACHE_SECONDS: Option<u32> = K::CACHE_SECONDS;
    const READ_MS: u32 = K::READ_MS;
    fn suffix(&self) -> Cow<'_, str> {
        self.0.suffix()
    }
}

impl Replacement {
    fn into_version<C: Clock, E: Entropy>(
        self,
        author: &Author<'_, C, E>,
        entry: &Entry,
    ) -> Result<NewVersion> {
        let Replacement { name, seen, record } = self;
        let Registered { by, by_shop, .. } = author.registered();
        let content = record.map(|record| serde_json::from_slice::<Box<RawValue>>(&record));
        let row = PublishedRow {
            name,
            content: content.transpose()?,
            change: entry.key.name(),
            author: by,
            by_shop,
            at: entry.key.time_ms(),
        };
        Ok(NewVersion { seen: seen.change.map(|change| change.name()), row })
    }
}

/// Returns the error that names the person whose change was first.
async fn lost_to<C: Clock, E: Entropy>(
    ledger: &dyn Ledger,
    author: &Author<'_, C, E>,
    words: &str,
    versions: &[NewVersion],
) -> Result<OperatorError> {
    let names: Vec<_> = versions.iter().map(|version| version.row.name.clone()).collect();
    let now = rows::get_all(ledger, &names).await?;
    let is_other = |now: &&PublishedRow| {
        let own = versions.iter().find(|version| version.row.name == now.name);
        own.is_some_and(|own| own.seen.as_ref() != Some(&now.change))
    };
    let (by, at) = match now.iter().find(is_other) {
        Some(first) => {
            (author.name_of(&first.author, first.by_shop), format!(" at {}", date_time(first.at)))
        }
        None => ("somebody else", String::new()),
    };
    Ok(OperatorError::invalid(format!(
        "your change was not saved: {by} changed {words}{at}, after you read it. Check the current version, and begin \
         again"
    )))
}
