//! Replaces the texts of a transaction for an erasure.

use crate::office::orders::rows::entry;
use crate::pledges::charge::PriceList;

use crate::office::orders::rule::names::names_person;
use crate::office::orders::rule::record::Record;
use crate::office::shared::rule::error::Result;
use crate::pledges::quantities::{MAX_MESSAGE_BYTES, Quantities};
use crate::pledges::scope::Mode;
use crate::pledges::store::{
    Key as _, OperatorStore, PriceListKey, Recorded, Summary, TransactionMetadata, decode,
};
use crate::pledges::time::date_time;
use crate::pledges::types::{
    ERASED_EMAIL, PledgeDetail, Recipient, RetrievedPledgeTransaction, Trigger,
};
use serde::Deserialize;
use std::borrow::Cow;
use std::mem;

/// The text that replaces a reference, or an offering that names the recipient.
const ERASED: &str = "erased";

/// Returns a transaction's value and metadata as an erasure would store them. Writes nothing.
///
/// # Errors
/// If the transaction is damaged, or the store fails.
pub(crate) async fn without_texts(
    store: &impl OperatorStore,
    record: &Record,
    now_ms: u64,
) -> Result<(Vec<u8>, TransactionMetadata)> {
    let price_lists = price_lists(store, &record.metadata()?.scope.unit).await?;
    let mut transaction = record.transaction()?;
    erase_texts(&mut transaction, &price_lists);
    let value = serde_json::to_vec(&transaction)?;
    let mut metadata = erased_metadata(record, record.metadata()?, now_ms)?;
    metadata.bytes = value.len();
    let impacts = transaction.pledges.iter().map(|pledge| &pledge.impact);
    metadata.summary.quantities = Quantities::of(impacts, MAX_MESSAGE_BYTES);
    metadata.fit(); // may take out the quantities, which the record has too
    Ok((value, metadata))
}

/// Returns the quantities that a transaction has after an erasure, in the form of the ledger's rows. An
/// offering that names the recipient is renamed to `erased`. KV cost: 1 read.
///
/// # Errors
/// If the transaction is damaged, or the store fails.
pub(crate) async fn quantities_to_keep(
    store: &impl OperatorStore,
    record: &Record,
) -> Result<Quantities> {
    let price_lists = price_lists(store, &record.metadata()?.scope.unit).await?;
    let mut transaction = record.transaction()?;
    erase_texts(&mut transaction, &price_lists);
    Ok(entry::stored_quantities(transaction.pledges.iter().map(|pledge| &pledge.impact)))
}

/// Returns the price lists of both modes, and the unit's own price lists. Leaves out damaged ones. KV cost: 1
/// read.
async fn price_lists(store: &impl OperatorStore, unit: &str) -> Result<Vec<PriceList>> {
    let of = [Mode::Test, Mode::Live];
    let of = of.map(|mode| [PriceListKey::of_mode(mode), PriceListKey::of_unit(mode, unit)]);
    let values = store.get_values(&of.concat()).await?;
    let read = |value: Vec<u8>| decode(PriceListKey::KIND, &value).ok();
    Ok(values.into_iter().flatten().filter_map(read).collect())
}

/// Replaces all texts that come from the shop or name the recipient. Keeps the timeline's URL and, for
/// accounting, amounts, times, the charge and the offerings. The ID of an offering is replaced only if it
/// names the recipient and is in no price list.
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

/// Returns whether an offering's ID contains an e-mail address, the reference, or a name of the recipient, such as
/// the surname.
fn is_personal(offering: &str, reference: &str, recipient: &Recipient<'_>) -> bool {
    if names_person(offering, recipient) {
        return true;
    }
    let offering = offering.to_lowercase();
    let may_have = |text: &&str| (1..=offering.len()).contains(&text.len()); // skips texts that are too long, before they are converted
    let names = [&recipient.first_name, &recipient.name].into_iter().flatten().map(AsRef::as_ref);
    let mut texts = names.chain([reference, "@"]).filter(may_have);
    texts.any(|text| offering.contains(&text.to_lowercase()))
}

/// Returns the metadata without the hashes for searches, and without members that only later releases know.
/// Both may be personal. The quantities may still name the person, so the caller must replace them.
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
