//! Compares copies in Workers KV with their rows in the ledger, and writes those again that are missing or old.

use crate::office::audit::rows as audit;
use crate::office::audit::rule::change_of;
use crate::office::prices::rule as prices;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rows::published as rows;
use crate::office::shared::rows::published::PublishedRow;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::published;
use crate::office::shared::rule::published::CopyKey;
use crate::office::system::rows::state::SHOWN_AFTER_MS;
use crate::pledges::service::Clock;
use crate::pledges::settlement::ScopeMonth;
use crate::pledges::store::{
    AuditKey, ConnectionKey, CopyMetadata, Key, MemberKey, OperatorStore, PriceListKey, ProfileKey,
    SettlementKey, StoreError, StoredValue as _,
};
use crate::pledges::time::DAY_MS;
use serde::Serialize;

/// What a comparison did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Republished {
    /// Number of copies that Workers KV shows as they are in the ledger.
    pub confirmed: usize,
    /// Number of copies that were written again.
    pub written: usize,
    /// Number of copies that have a newer change than their rows, one that the audit log lacks. They were left as they are.
    pub unknown: usize,
}

/// How often each copy is compared, in milliseconds.
const COMPARED_MS: u64 = DAY_MS;
/// How long after a change its copy can be confirmed, in milliseconds. By then no older copy of the record is on its way:
/// the change itself takes up to a minute, the write of an older copy begins up to 30 s later and may take two minutes, and
/// a read may show what KV had a minute before.
const FINAL_AFTER_MS: u64 = 5 * 60_000;
/// Maximum number of rounds of one call. The rows of a round are in memory together.
const ROUNDS: usize = 20;

/// Compares copies, `most` at a time and at most 20 times as many. Compares each copy once a day. Until it is confirmed,
/// also compares the copy of a record that was changed more than two minutes ago: by then Workers KV shows the copy, if it
/// was written. Writes a copy again that is not shown. Confirms a copy that is shown if its record was changed more than
/// five minutes ago. A copy is only written after its change was committed, so one with a newer change that the audit log
/// lacks shows that the database was set back: such a copy is left as it is. KV cost: 1 read for each copy, and at most 2
/// writes. Ledger cost: 3 queries for each round, and 1 for each copy with a newer change.
///
/// # Errors
/// If the ledger or the store fails. The next call begins again.
pub async fn republish(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    clock: &impl Clock,
    most: usize,
) -> Result<Republished> {
    let mut all = Republished::default();
    for _ in 0..ROUNDS {
        let Republished { confirmed, written, unknown } =
            compare(store, ledger, clock, most).await?;
        all.confirmed += confirmed;
        all.written += written;
        all.unknown = unknown; // they are compared in each round
        if confirmed < most {
            break; // these were all, or some have to be compared again later
        }
    }
    Ok(all)
}

async fn compare(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    clock: &impl Clock,
    most: usize,
) -> Result<Republished> {
    let read_ms = clock.now_ms();
    let before = read_ms.saturating_sub(SHOWN_AFTER_MS);
    let compared = read_ms.saturating_sub(COMPARED_MS);
    let is_final = |row: &PublishedRow| row.at < read_ms.saturating_sub(FINAL_AFTER_MS);
    let (mut shown, mut written, mut unknown) = (Vec::new(), Vec::new(), 0);
    for row in rows::to_compare(ledger, before, compared, most).await? {
        let Some(record) = Copied::parse(&row.name) else { continue };
        match record.shown(store, &row).await? {
            Shown::Row => shown.extend(Some(row).filter(is_final)),
            Shown::Newer(change) if audit::get(ledger, &change).await?.is_none() => unknown += 1,
            Shown::Newer(_) | Shown::Other => {
                let is_written = record.publish(store, clock, (&row, read_ms)).await?;
                written.extend(Some(row).filter(|_| is_written));
            }
        }
    }
    rows::confirm(ledger, &shown, read_ms).await?;
    rows::confirm(ledger, &written, 0).await?;
    Ok(Republished { confirmed: shown.len(), written: written.len(), unknown })
}

/// Writes the copy of a record as its row has it, as [`published::publish`] does.
///
/// # Errors
/// If the store fails.
pub(crate) async fn publish(
    store: &impl OperatorStore,
    clock: &impl Clock,
    (row, read_ms): (&PublishedRow, u64),
) -> Result<bool> {
    match Copied::parse(&row.name) {
        Some(record) => record.publish(store, clock, (row, read_ms)).await,
        None => Ok(false),
    }
}

/// Writes the copies of records as the ledger has them. If this fails, the cron writes them. Ledger cost: 1 query. KV cost:
/// 1 write for each record, 2 for a price list.
///
/// # Errors
/// If the ledger or the store fails, or is too slow.
pub(crate) async fn publish_all(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    clock: &impl Clock,
    names: &[String],
) -> Result<()> {
    let (read_ms, rows) = (clock.now_ms(), rows::get_all(ledger, names).await?);
    for row in &rows {
        if !publish(store, clock, (row, read_ms)).await? {
            return Err(StoreError::Unavailable.into());
        }
    }
    Ok(())
}

/// A record that has a copy in Workers KV.
enum Copied<'r> {
    Prices(PriceListKey<'r>),
    Profile(ProfileKey<'r>),
    Payment(ScopeMonth),
    Member(MemberKey<'r>),
    Connection(ConnectionKey),
}

impl<'r> Copied<'r> {
    fn parse(name: &'r str) -> Option<Self> {
        PriceListKey::parse(name)
            .map(Copied::Prices)
            .or_else(|| ProfileKey::parse(name).map(Copied::Profile))
            .or_else(|| SettlementKey::parse(name).map(Copied::Payment))
            .or_else(|| MemberKey::parse(name).map(Copied::Member))
            .or_else(|| ConnectionKey::parse(name).map(Copied::Connection))
    }

    async fn shown(&self, store: &impl OperatorStore, row: &PublishedRow) -> Result<Shown> {
        match self {
            Copied::Prices(of) => shown(store, of, row).await,
            Copied::Profile(key) => shown(store, key, row).await,
            Copied::Payment(of) => shown(store, &SettlementKey(of), row).await,
            Copied::Member(key) => shown(store, key, row).await,
            Copied::Connection(key) => shown(store, key, row).await,
        }
    }

    async fn publish(
        &self,
        store: &impl OperatorStore,
        clock: &impl Clock,
        row: (&PublishedRow, u64),
    ) -> Result<bool> {
        match self {
            Copied::Prices(of) => prices::publish(store, clock, *of, row).await,
            Copied::Profile(key) => published::publish(store, clock, key, row).await,
            Copied::Payment(of) => published::publish(store, clock, &SettlementKey(of), row).await,
            Copied::Member(key) => published::publish(store, clock, key, row).await,
            Copied::Connection(key) => published::publish(store, clock, key, row).await,
        }
    }
}

/// What Workers KV shows of a record.
enum Shown {
    /// The record as its row has it.
    Row,
    /// A record whose last change, of this name in the audit log, is later than that of the row.
    Newer(String),
    /// An older record, or none.
    Other,
}

/// Returns what Workers KV shows of a record. The metadata of the copy says so. A copy that a restore has written may have
/// no metadata: then its value is compared.
async fn shown<K: Key>(store: &impl OperatorStore, key: &K, row: &PublishedRow) -> Result<Shown> {
    let Some(copy) = store.get(&CopyKey(key)).await? else { return Ok(Shown::Other) };
    let CopyMetadata { change, removed } = copy.metadata;
    let is_shown = match published::content(row) {
        content if !change.is_empty() => change == row.change && removed == content.is_none(),
        None => false,
        Some(content) => {
            let value = copy.value.read(K::READ_MS).await?;
            value == content || change_of(&value).is_some_and(|change| change.name() == row.change)
        }
    };
    let is_newer = AuditKey::parse(&change).is_some_and(|change| change.time_ms() > row.at);
    Ok(match is_shown {
        true => Shown::Row,
        false if is_newer => Shown::Newer(change),
        false => Shown::Other,
    })
}
