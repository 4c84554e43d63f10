//! Writes the records of updates in Workers KV, which timelines read, from the ledger's rows.
//!
//! Two people may publish at the same moment. So each change in the ledger increments a revision
//! number. A writer reads the revision together with the rows, writes the record, and then reads
//! the revision again. If the revision has changed meanwhile, the writer starts again. So the last
//! write contains the last change.
//!
//! A record with an update that the ledger lacks is not overwritten. The database that had the
//! update is lost, so the updates have to be restored first.
//!
//! A writer may stop halfway, for example because its isolate ends. Later, [`heal`] compares the
//! records with the rows, and writes those that differ.

use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::records::read_value;
use crate::office::updates::rows::records as update_records;
use crate::office::updates::rows::records::Published;
use crate::office::updates::rows::updates::Pledges;
use crate::pledges::service::Clock;
use crate::pledges::store::{Key as _, NoMetadata, OperatorStore, StoreError, UpdatesKey};
use crate::pledges::version::VERSION;
use serde::{Deserialize, Serialize};

/// Maximum number of attempts to write a record during concurrent changes.
const MAX_ROUNDS: usize = 5;
/// Time after which a record is compared with its rows again, in milliseconds.
const TRUSTED_MS: u64 = 60 * 60_000;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Compared {
    pub compared: usize,
    /// Number of records that differed, and were written again.
    pub written: usize,
}

/// Writes the record with the published updates for these pledges, or removes it if no update is published.
/// Ledger cost: 2 calls, and 1 more if an update is withdrawn. KV cost: 1 read and 1 write. If somebody changes the same updates meanwhile, starts again at
/// the same cost.
///
/// # Errors
/// If the record has updates that the ledger lacks, or the ledger or the store fails, or the updates change during every
/// attempt. The record may then be outdated. The ledger marks it as outdated until it is written.
pub(super) async fn compile(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    clock: &impl Clock,
    pledges: &Pledges,
) -> Result<()> {
    for _ in 0..MAX_ROUNDS {
        let Some(published) = update_records::published(ledger, pledges).await? else {
            return Ok(());
        };
        check_known(store, ledger, pledges, &published).await?;
        match record(&published) {
            Some(record) => store.put(&key(pledges), record, &NoMetadata).await?,
            None => store.remove(&key(pledges)).await?,
        }
        if update_records::compiled(ledger, pledges, published.revision, clock.now_ms()).await? {
            return Ok(());
        }
    }
    Err(StoreError::Busy.into())
}

/// Refuses to change a record with updates that the ledger lacks.
///
/// # Errors
/// If the record has such updates, or the ledger or the store fails.
pub(super) async fn check(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    pledges: &Pledges,
) -> Result<()> {
    let published = update_records::published(ledger, pledges).await?;
    check_known(store, ledger, pledges, &published.unwrap_or_default()).await
}

async fn check_known(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    pledges: &Pledges,
    published: &Published,
) -> Result<()> {
    let stored = read_value(store, key(pledges)).await?;
    let shown = stored.as_deref().map(ids_of).unwrap_or_default();
    let known = ids_of(record(published).unwrap_or_default().as_slice());
    let others: Vec<_> = shown.into_iter().filter(|id| !known.contains(id)).collect();
    match others.is_empty() || update_records::missing(ledger, &others).await?.is_empty() {
        true => Ok(()),
        false => Err(lost(pledges)),
    }
}

/// Returns the IDs of the updates in a record; none if the record is damaged.
pub(super) fn ids_of(record: &[u8]) -> Vec<String> {
    #[derive(Deserialize)]
    struct Shown {
        updates: Vec<Update>,
    }
    #[derive(Deserialize)]
    struct Update {
        id: String,
    }
    let shown = serde_json::from_slice(record).map(|Shown { updates }| updates);
    shown.unwrap_or_default().into_iter().map(|update| update.id).collect()
}

fn lost(pledges: &Pledges) -> OperatorError {
    let Pledges { mode, month, offering } = pledges;
    OperatorError::invalid(format!(
        "timelines show updates about {offering} of {month} ({}) that the database lacks, so these updates were not \
         replaced. Run `transactions restore` with a backup. If no backup has them, delete the \
         record `{}` in Workers KV",
        mode.name(),
        key(pledges).name()
    ))
}

fn key(Pledges { mode, month, offering }: &Pledges) -> UpdatesKey {
    UpdatesKey::new(*mode, offering, *month)
}

/// Returns the value of a record; `None` if nothing is published.
fn record(Published { updates, .. }: &Published) -> Option<Vec<u8>> {
    let updates = updates.get();
    let record =
        || [r#"{"version":"#, &VERSION.to_string(), r#","updates":"#, updates, "}"].concat();
    (updates != "[]").then(|| record().into_bytes())
}

/// Compares at most `most` records in KV with their rows in the ledger, and writes those that differ.
/// Compares outdated records first, then those that were not compared for an hour. Ledger cost: 1 query, and
/// 2 to 4 calls for each record. KV cost: 1 read for each record, and 1 read and 1 write for each that differs.
///
/// # Errors
/// If a record has updates that the ledger lacks, or the ledger or the store fails.
pub async fn heal(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    clock: &impl Clock,
    most: usize,
) -> Result<Compared> {
    let before = clock.now_ms().saturating_sub(TRUSTED_MS);
    compare_due(store, ledger, clock, before, most).await?.end()
}

/// Compares all records in KV with their rows in the ledger, and writes those that differ. Costs as much for
/// each record as [`heal`].
///
/// # Errors
/// If a record has updates that the ledger lacks, or the ledger or the store fails.
pub async fn compare(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    clock: &impl Clock,
) -> Result<Compared> {
    const STEP: usize = 100;
    let (began_ms, mut all) = (clock.now_ms(), Step::default());
    loop {
        let step = compare_due(store, ledger, clock, began_ms, STEP).await?;
        all.compared += step.compared;
        all.written += step.written;
        all.refused = all.refused.or(step.refused);
        if step.compared < STEP {
            return all.end();
        }
    }
}

#[derive(Default)]
struct Step {
    compared: usize,
    written: usize,
    refused: Option<OperatorError>,
}

impl Step {
    fn end(self) -> Result<Compared> {
        let Step { compared, written, refused } = self;
        refused.map_or(Ok(Compared { compared, written }), Err)
    }
}

/// Compares at most `most` records that were last compared before this time. Writes those that
/// differ from their rows. If a record must not be written, continues with the next one.
async fn compare_due(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    clock: &impl Clock,
    before: u64,
    most: usize,
) -> Result<Step> {
    let due = update_records::due(ledger, before, most).await?;
    let mut step = Step { compared: due.len(), ..Step::default() };
    for pledges in &due {
        match mend(store, ledger, clock, pledges).await {
            Ok(is_written) => step.written += usize::from(is_written),
            Err(refused @ OperatorError::Invalid(_)) => step.refused = Some(refused),
            Err(error) => return Err(error),
        }
    }
    Ok(step)
}

/// Compares a record with its rows in the ledger, and writes it if it differs. Returns whether it was
/// written.
async fn mend(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    clock: &impl Clock,
    pledges: &Pledges,
) -> Result<bool> {
    let published = update_records::published(ledger, pledges).await?;
    let expected = published.as_ref().and_then(record);
    let revision = published.map(|published| published.revision).unwrap_or_default();
    let stored = read_value(store, key(pledges)).await?;
    if stored == expected
        && update_records::compiled(ledger, pledges, revision, clock.now_ms()).await?
    {
        return Ok(false);
    }
    let compiled = compile(store, ledger, clock, pledges).await;
    if let Err(OperatorError::Invalid(_)) = compiled {
        // The record is compared again after `TRUSTED_MS`, or after its updates change.
        update_records::compiled(ledger, pledges, revision, clock.now_ms()).await?;
    }
    compiled.map(|()| true)
}
