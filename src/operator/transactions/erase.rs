//! Erasure of personal data (GDPR, article 17). The data for accounting is kept.

use super::Record;
use crate::api::TIMELINE_PATH;
use crate::charge::PriceList;
use crate::idempotency::{Replay, ReplayHash, Terms};
use crate::ledger::{self, Entry, Ledger, LedgerError, Origin};
use crate::notify::Marker;
use crate::operator::audit::Author;
use crate::operator::once::{Done, StoredAsIs, once};
use crate::operator::{OperatorError, Result, load, put_record, secret};
use crate::pledge::{
    ERASED_EMAIL, NotificationService, PledgeDetail, Recipient, RetrievedPledgeTransaction,
    TransactionId, Trigger,
};
use crate::quantities::{MAX_MESSAGE_BYTES, Quantities};
use crate::scope::Mode;
use crate::service::{Clock, Entropy};
use crate::store::{
    ErasedKey, Key as _, MAILED_DAYS, MailedKey, NoMetadata, NotificationKey, OperatorStore,
    PriceListKey, Recorded, ReplayKey, StoredValue as _, Summary, TransactionKey,
    TransactionMetadata, decode,
};
use crate::time::{DAY_MS, age_ms, date_time, day_of};
use crate::version::Version;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::mem;

pub(super) const ERASE: &str = "transactions erase";
/// The text that replaces a reference, or an offering that names the recipient.
const ERASED: &str = "erased";

/// Minimum age of a transaction and its replay record for an erasure, in milliseconds. A repeated create request that
/// does not see the replay record writes the transaction again. Workers KV shows a write after about 60 s.
const SEEN_AFTER_MS: u64 = ERASABLE_MINUTES * 60_000;
/// Minimum age of a transaction for an erasure, in minutes.
pub const ERASABLE_MINUTES: u64 = 5;

/// Checks that a transaction can be erased, and writes nothing.
///
/// # Errors
/// If the transaction is damaged or too young.
pub fn check_erasable(clock: &impl Clock, record: &Record) -> Result<()> {
    let created_at = record.transaction()?.created_at;
    refuse_young(record, &created_at, clock.now_ms(), "was created")
}

/// Refuses an erasure while a repeated create request could still bring back the erased data.
fn refuse_young(record: &Record, time: &str, now_ms: u64, event: &str) -> Result<()> {
    let age_ms = age_ms(time, now_ms)
        .ok_or_else(|| record.damaged_by("its time is not a valid date-time"))?;
    if age_ms >= SEEN_AFTER_MS {
        return Ok(());
    }
    let seconds = (SEEN_AFTER_MS - age_ms).div_ceil(1_000);
    Err(OperatorError::Invalid(format!(
        "it {event} less than {ERASABLE_MINUTES} minutes ago, so a repeated create could bring it back. Nothing was \
         erased: try again in {seconds} s"
    )))
}

/// A transaction that was erased.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Erased {
    /// The transaction's ID.
    pub id: String,
    /// The transaction's unit.
    pub unit: String,
    /// Test or live.
    pub mode: Mode,
    /// When the transaction was first erased, an RFC 3339 date-time.
    pub at: String,
    /// When the transaction was erased before, an RFC 3339 date-time; `None` if this is its first erasure.
    pub before: Option<String>,
}

impl StoredAsIs for Erased {}

/// The record that stops restores from bringing back the personal data of a transaction.
#[derive(Serialize)]
struct ErasedMarker<'t> {
    /// When the transaction was erased, an RFC 3339 date-time.
    erased: &'t str,
}

/// Permanently replaces the recipient and all texts of a transaction. Also removes the hash of the address that its
/// notifications were sent to, and marks the transaction as erased, in its record and in the ledger if one is bound. May be
/// repeated.
///
/// A repeated create request writes the texts again unless it finds the replay record. So the replay record must be
/// visible everywhere before the erasure.
///
/// # Errors
/// If the transaction is damaged or too young; if its replay record was missing, and is written only now; if the store
/// fails; or if the ledger fails after the record was rewritten.
pub async fn erase(
    store: &impl OperatorStore,
    ledger: Option<&dyn Ledger>,
    author: &Author<'_, impl Clock, impl Entropy>,
    record: &Record,
) -> Result<Done<Erased>> {
    let work = async |author: &Author<'_, _, _>| erase_now(store, ledger, author, record).await;
    once(store, ledger, author, (ERASE, &record.id.as_str()), work).await
}

/// Erases a transaction as [`erase`] does, as a part of another operation.
pub(super) async fn erase_now(
    store: &impl OperatorStore,
    ledger: Option<&dyn Ledger>,
    author: &Author<'_, impl Clock, impl Entropy>,
    record: &Record,
) -> Result<Erased> {
    check_erasable(author.clock, record)?;
    let metadata = record.metadata()?;
    let (value, access) = without_texts(store, record, author.clock.now_ms()).await?;
    author.record(store, ERASE, [record.id.to_string()]).await?;
    if let Some(replay) = replay_key(record, &metadata)? {
        ensure_replay(store, author.clock, record, &replay).await?;
    }
    let at = access.summary.erased.clone().unwrap_or_default();
    put_record(store, &ErasedKey(&record.id), &ErasedMarker { erased: &at }).await?;
    let services = record.services()?;
    for service in &services {
        forget_counts(store, record, *service, author.clock.now_ms()).await?; // needs the address, which is erased below
    }
    let row = row_of(&record.id, &value, &access);
    store.put(&TransactionKey(&record.id), value, &access).await?;
    for service in services {
        store.remove(&NotificationKey(&record.id, service)).await?;
    }
    if let Some((ledger, row)) = ledger.zip(row) {
        let written = ledger::write(ledger, &[row], Origin::Message, author.clock.now_ms()).await;
        written.map_err(|error| left_in_ledger(record, &error))?;
    }
    let Recorded { id, mode, unit, summary } = metadata;
    Ok(Erased { id: id.to_string(), unit, mode, at, before: summary.erased })
}

/// Returns the ledger's row for the record that was written. It is not read from Workers KV, which may still show the
/// old record. `None` if the record lacks data that a row needs: then the ledger has no row.
fn row_of(id: &TransactionId, value: &[u8], metadata: &TransactionMetadata) -> Option<Entry> {
    let transaction: RetrievedPledgeTransaction<'_> = serde_json::from_slice(value).ok()?;
    let impacts = transaction.pledges.iter().map(|pledge| &pledge.impact);
    let recorded = Recorded::new(id.clone(), metadata.clone(), None);
    Entry::of_pledges(&recorded, impacts)
}

fn left_in_ledger(record: &Record, error: &LedgerError) -> OperatorError {
    OperatorError::Invalid(format!(
        "the record of {} is erased, but its row in the ledger is not ({error}): erase it again",
        record.id
    ))
}

/// Returns the value and the metadata of a transaction's record after an erasure.
///
/// # Errors
/// If the transaction is damaged, or the store fails.
pub(super) async fn without_texts(
    store: &impl OperatorStore,
    record: &Record,
    now_ms: u64,
) -> Result<(Vec<u8>, TransactionMetadata)> {
    let price_lists = price_lists(store, &record.metadata()?.unit).await?;
    let mut transaction = record.transaction()?;
    erase_texts(&mut transaction, &price_lists);
    let value = serde_json::to_vec(&transaction)?;
    let mut metadata = erased_metadata(record, record.metadata()?, now_ms)?;
    metadata.bytes = Some(value.len());
    let impacts = transaction.pledges.iter().map(|pledge| &pledge.impact);
    metadata.summary.quantities = Quantities::of(impacts, MAX_MESSAGE_BYTES);
    metadata.fit(); // may take out the quantities, which the record has too
    Ok((value, metadata))
}

/// Returns the quantities of a transaction as an erasure keeps them, without offerings that name the recipient, in the
/// form of the ledger's rows. KV cost: 1 read.
///
/// # Errors
/// If the transaction is damaged, or the store fails.
pub(in crate::operator) async fn quantities_to_keep(
    store: &impl OperatorStore,
    record: &Record,
) -> Result<Quantities> {
    let price_lists = price_lists(store, &record.metadata()?.unit).await?;
    let mut transaction = record.transaction()?;
    erase_texts(&mut transaction, &price_lists);
    Ok(ledger::stored_quantities(transaction.pledges.iter().map(|pledge| &pledge.impact)))
}

/// Returns the price lists of both modes, and the unit's own; not those that are damaged. KV cost: 1 read.
async fn price_lists(store: &impl OperatorStore, unit: &str) -> Result<Vec<PriceList>> {
    let of = [Mode::Test, Mode::Live];
    let of = of.map(|mode| [PriceListKey::of_mode(mode), PriceListKey::of_unit(mode, unit)]);
    let values = store.get_values(&of.concat()).await?;
    let read = |value: Vec<u8>| decode(PriceListKey::KIND, &value).ok();
    Ok(values.into_iter().flatten().filter_map(read).collect())
}

/// Returns the key of the replay record; `None` if the create request had no idempotency key.
fn replay_key(record: &Record, metadata: &Recorded) -> Result<Option<ReplayKey>> {
    let Some(hash) = &metadata.summary.replay else { return Ok(None) };
    let hash = ReplayHash::from_hex(hash)
        .ok_or_else(|| record.damaged_by("its metadata has no valid hash of the replay record"))?;
    Ok(Some(ReplayKey(hash)))
}

// ---- The replay record ---------------------------------------------------------------------------

/// A replay record that an erasure writes for an interrupted create request, with the time of the write.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AddedReplay {
    #[serde(flatten)]
    replay: Replay,
    added_at: String,
}

/// The member of a replay record that an erasure reads.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FoundReplay {
    added_at: Option<String>,
}

/// Checks that the replay record is visible everywhere. If the record is missing, writes it and fails; further calls
/// fail until the record is visible everywhere.
async fn ensure_replay(
    store: &impl OperatorStore,
    clock: &impl Clock,
    record: &Record,
    key: &ReplayKey,
) -> Result<()> {
    let now_ms = clock.now_ms();
    let Some(stored) = store.get(key).await? else {
        let replay = AddedReplay { replay: missing_replay(record)?, added_at: date_time(now_ms) };
        store.put(key, serde_json::to_vec(&replay)?, &NoMetadata).await?;
        return Err(OperatorError::Invalid(format!(
            "the create of {} was interrupted before its replay record was written. It is written \
             now, but nothing is erased yet: try again in {ERASABLE_MINUTES} minutes",
            record.id
        )));
    };
    let replay: FoundReplay =
        decode(ReplayKey::KIND, &stored.value.read(ReplayKey::READ_MS).await?)?;
    match replay.added_at {
        Some(time) => refuse_young(record, &time, now_ms, "got its missing replay record"),
        None => Ok(()),
    }
}

fn missing_replay(record: &Record) -> Result<Replay> {
    let transaction = record.transaction()?;
    let url = transaction.timeline_url.as_deref().unwrap_or_default();
    let (origin, _) = url
        .split_once(TIMELINE_PATH)
        .ok_or_else(|| record.damaged_by("its timeline address is missing"))?;
    let terms = Terms {
        created_at: transaction.created_at.to_string(),
        amount: transaction.charge.amount.to_string(),
        currency_code: transaction.charge.currency_code.to_string(),
        origin: origin.to_owned(),
    };
    Ok(Replay { id: record.id.to_string(), terms, version: Version })
}

// ---- The notifications ---------------------------------------------------------------------------

/// Removes the records that count a service's notifications of this transaction, because they have the hash of the
/// address. If an earlier erasure has removed the address, the hash is taken from the notification record, because a
/// notification that was being sent during that erasure may have been counted.
async fn forget_counts(
    store: &impl OperatorStore,
    record: &Record,
    service: NotificationService,
    now_ms: u64,
) -> Result<()> {
    let marker: Option<Marker> = load(store, NotificationKey(&record.id, service)).await?;
    let marked = marker.and_then(|marker| marker.address);
    let transaction = record.transaction()?;
    let email = transaction.pledges.first().map(|pledge| &*pledge.recipient.email);
    let secret = secret::recorded(store).await?;
    let own = secret.zip(email.filter(|email| *email != ERASED_EMAIL));
    let own = own.map(|(secret, email)| secret.address(email));
    let mut addresses: Vec<_> = [marked, own].into_iter().flatten().collect();
    addresses.dedup();
    for address in addresses {
        for back in 0..=u64::from(MAILED_DAYS) {
            let time = date_time(now_ms.saturating_sub(back * DAY_MS));
            let (day, id) = (day_of(&time), &record.id);
            let key = MailedKey { day, address: &address, service, id };
            store.remove(&key).await?;
        }
    }
    Ok(())
}

// ---- The transaction -----------------------------------------------------------------------------

/// Replaces all texts of the shop and the recipient. Keeps the timeline's address. Also keeps offerings, amounts, times
/// and the charge for accounting: the timeline shows only these from then on. An offering that names the recipient is
/// kept only if a price list has it.
fn erase_texts(transaction: &mut RetrievedPledgeTransaction<'_>, price_lists: &[PriceList]) {
    let reference = mem::replace(&mut transaction.reference, Cow::Borrowed(ERASED));
    transaction.trigger = Trigger { date: transaction.trigger.date.take(), ..Trigger::default() };
    for pledge in &mut transaction.pledges {
        let offering = &mut pledge.impact.offering_id;
        let is_listed = price_lists.iter().any(|each| each.lists(offering));
        if !is_listed && is_personal(offering, &reference, &pledge.recipient) {
            *offering = Cow::Borrowed(ERASED);
        }
        pledge.recipient = Recipient { email: Cow::Borrowed(ERASED_EMAIL), ..Recipient::default() };
        pledge.details.iter_mut().for_each(|detail| *detail = PledgeDetail::default());
    }
}

/// Returns whether an offering's ID contains an e-mail address, a name of the recipient or the reference.
fn is_personal(offering: &str, reference: &str, recipient: &Recipient<'_>) -> bool {
    let offering = offering.to_lowercase();
    let may_have = |text: &&str| (1..=offering.len()).contains(&text.len()); // skips texts that are too long, before they are converted
    let names = [&recipient.first_name, &recipient.name].into_iter().flatten().map(AsRef::as_ref);
    let mut texts = names.chain([reference, "@"]).filter(may_have);
    texts.any(|text| offering.contains(&text.to_lowercase()))
}

/// Returns the metadata without hashes and without members of later releases, which may be personal. Its quantities may
/// still name the person, so the caller replaces them with the quantities of the erased transaction.
fn erased_metadata(
    record: &Record,
    metadata: Recorded,
    now_ms: u64,
) -> Result<TransactionMetadata> {
    let mut access = TransactionMetadata::deserialize(&record.metadata)
        .map_err(|error| record.damaged(&error))?;
    let before = metadata.summary;
    access.summary = Summary {
        lookup: None,
        erased: before.erased.or_else(|| Some(date_time(now_ms))),
        ..before
    };
    Ok(access)
}
