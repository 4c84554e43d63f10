//! Transactions, as those who answer the phone and those who keep the accounts see them.
//!
//! The scripts list metadata page by page. What it does not say is read of the records themselves:
//! each command names the `unread` ones that it needs, and is asked again with their values.

use super::{Outcome, without_position};
use crate::auth::Mode;
use crate::charge::Catalogue;
use crate::decimal::{Decimal, text_as_money};
use crate::pledge::{CurrencyCode, RetrievedPledgeTransaction, TransactionId};
use crate::store::{Key as _, StoreError, Summary, TransactionKey};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;

const PREFIX: &str = "transaction:";

/// A record as the scripts carry it.
#[derive(Deserialize)]
pub(super) struct Record {
    pub name: String,
    #[serde(default)]
    pub metadata: Value,
    pub value: Option<String>,
}

/// What the commands know of a record without its value. Records from before version 1 have
/// version 0 and an empty summary.
#[derive(Deserialize)]
pub(super) struct Metadata {
    #[serde(default)]
    pub version: u32,
    pub mode: Mode,
    pub unit: String,
    #[serde(default)]
    pub summary: Summary,
}

impl Record {
    pub fn id(&self) -> &str {
        self.name.strip_prefix(PREFIX).unwrap_or(&self.name)
    }

    pub fn metadata(&self) -> Outcome<Metadata> {
        Metadata::deserialize(&self.metadata).map_err(|error| self.damaged(&error))
    }

    /// # Errors
    /// If the value is damaged; the text quotes nothing of it.
    pub fn transaction(&self) -> Outcome<Option<RetrievedPledgeTransaction<'_>>> {
        let value = self.value.as_deref();
        value.map(serde_json::from_str).transpose().map_err(|error| self.damaged(&error))
    }

    fn damaged(&self, error: &serde_json::Error) -> Box<dyn std::error::Error> {
        let StoreError::Damaged(problem) = StoreError::damaged("transaction", error) else {
            return self.id().into();
        };
        format!("{}: {problem}", self.id()).into()
    }
}

impl Metadata {
    /// Whether time and charge are known.
    pub fn has_charge(&self) -> bool {
        let Summary { created_at, amount, currency_code, .. } = &self.summary;
        created_at.is_some() && amount.is_some() && currency_code.is_some()
    }

    /// The summary with what the record itself says of time and charge.
    pub fn completed(&self, transaction: Option<&RetrievedPledgeTransaction<'_>>) -> Summary {
        let mut summary = self.summary.clone();
        if let Some(transaction) = transaction.filter(|_| !self.has_charge()) {
            summary.created_at = Some(transaction.created_at.to_string());
            summary.amount = text_as_money(&transaction.charge.amount);
            summary.currency_code = Some(transaction.charge.currency_code);
        }
        summary
    }
}

/// Which transactions are meant.
#[derive(Deserialize)]
struct Scope {
    unit: Option<String>,
    mode: Option<Mode>,
}

impl Scope {
    fn has(&self, metadata: &Metadata) -> bool {
        self.unit.as_ref().is_none_or(|unit| *unit == metadata.unit)
            && self.mode.is_none_or(|mode| mode == metadata.mode)
    }
}

/// Names of records that could not be used.
#[derive(Default, Serialize)]
pub(super) struct Rest {
    /// Their values are needed.
    pub unread: Vec<String>,
    /// They are damaged.
    pub damaged: Vec<String>,
}

/// Acts on each of the records, with its value where that is needed.
pub(super) fn each<'r>(
    records: &'r [Record],
    is_meant: impl Fn(&Metadata) -> bool,
    needs_value: impl Fn(&Metadata) -> bool,
    mut act: impl FnMut(&'r Record, &Metadata, Option<&RetrievedPledgeTransaction<'r>>),
) -> Rest {
    let mut rest = Rest::default();
    for record in records {
        let read = record.metadata().and_then(|metadata| Ok((metadata, record.transaction()?)));
        match read {
            Err(_) => rest.damaged.push(record.name.clone()),
            Ok((metadata, _)) if !is_meant(&metadata) => {}
            Ok((metadata, None)) if needs_value(&metadata) => rest.unread.push(record.name.clone()),
            Ok((metadata, transaction)) => act(record, &metadata, transaction.as_ref()),
        }
    }
    rest
}

/// A transaction in a list.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    id: String,
    mode: Mode,
    unit: String,
    created_at: Option<String>,
    amount: Option<String>,
    currency_code: Option<CurrencyCode>,
    /// Number of pledges whose offering had no price.
    unpriced: usize,
    /// When it was erased.
    erased: Option<String>,
}

impl Row {
    fn new(record: &Record, metadata: &Metadata, summary: Summary) -> Self {
        Row {
            id: record.id().to_owned(),
            mode: metadata.mode,
            unit: metadata.unit.clone(),
            created_at: summary.created_at,
            amount: summary.amount,
            currency_code: summary.currency_code,
            unpriced: summary.unpriced.unwrap_or_default(),
            erased: summary.erased,
        }
    }
}

/// An ID → the name of its record.
pub(super) fn name(id: &str) -> Outcome {
    let id = TransactionId::parse(id.trim())
        .ok_or("this is not the ID of a transaction: `ptran_` and 24 characters")?;
    Ok(TransactionKey(&id).name().into())
}

// ---- Find ----------------------------------------------------------------------------------------

#[derive(Deserialize)]
struct Sought {
    #[serde(flatten)]
    scope: Scope,
    reference: Option<String>,
    email: Option<String>,
    hashes: Vec<String>,
    records: Vec<Record>,
}

/// `{unit, mode?, reference | email, hashes, records}` → `{rows, unread, damaged}`.
pub(super) fn find(input: &str) -> Outcome {
    let sought: Sought = serde_json::from_str(input)?;
    let mut rows = Vec::new();
    let is_meant = |metadata: &Metadata| sought.scope.has(metadata);
    let rest = each(&sought.records, is_meant, lacks_hashes, |record, metadata, transaction| {
        if sought.fits(metadata, transaction) {
            rows.push(Row::new(record, metadata, metadata.completed(transaction)));
        }
    });
    Ok(json!({ "rows": rows, "unread": rest.unread, "damaged": rest.damaged }))
}

/// Whether only the record itself says whose it is.
pub(super) fn lacks_hashes(metadata: &Metadata) -> bool {
    metadata.summary.lookup.is_none() && metadata.summary.erased.is_none()
}

impl Sought {
    fn fits(
        &self,
        metadata: &Metadata,
        transaction: Option<&RetrievedPledgeTransaction<'_>>,
    ) -> bool {
        if let Some(hashes) = &metadata.summary.lookup {
            return self.hashes.contains(&hashes.reference) || self.hashes.contains(&hashes.email);
        }
        let Some(transaction) = transaction else { return false };
        let recipient = transaction.pledges.first().map(|pledge| &*pledge.recipient.email);
        let is_email =
            |email: &String| recipient.is_some_and(|own| own.eq_ignore_ascii_case(email));
        self.reference.as_ref().is_some_and(|reference| *reference == transaction.reference)
            || self.email.as_ref().is_some_and(is_email)
    }
}

// ---- Show ----------------------------------------------------------------------------------------

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct View {
    record: Record,
    /// Whole texts, rather than their first characters.
    reveal: bool,
    /// The timeline's address, which holds the edit key.
    timeline: bool,
}

/// `{record, reveal, timeline}` → what is known of a transaction.
pub(super) fn show(input: &str) -> Outcome {
    let View { record, reveal, timeline } = serde_json::from_str(input)?;
    let metadata = record.metadata()?;
    let mut transaction = record.transaction()?.ok_or("its value is missing")?;
    let row = Row::new(&record, &metadata, metadata.completed(Some(&transaction)));
    if !timeline {
        transaction.timeline_url = None;
    }
    if !reveal {
        mask(&mut transaction);
    }
    Ok(json!({
        "row": row,
        "version": metadata.version,
        "findable": metadata.summary.lookup.is_some(),
        "repeatable": metadata.summary.replay.is_some(),
        "transaction": transaction,
    }))
}

/// Leaves of the recipient and of texts as much as tells a caller's from another's. The reference
/// stays: it is what the shop calls the order.
fn mask(transaction: &mut RetrievedPledgeTransaction<'_>) {
    let trigger = &mut transaction.trigger;
    [&mut trigger.phrase, &mut trigger.external_url].into_iter().for_each(shorten);
    for pledge in &mut transaction.pledges {
        let recipient = &mut pledge.recipient;
        let (local, domain) = recipient.email.rsplit_once('@').unwrap_or((&recipient.email, ""));
        recipient.email = Cow::Owned(format!("{}@{}", beginning(local), beginning(domain)));
        [&mut recipient.first_name, &mut recipient.name].into_iter().for_each(shorten);
        for detail in &mut pledge.details {
            [
                &mut detail.name,
                &mut detail.description,
                &mut detail.noun_singular,
                &mut detail.noun_plural,
                &mut detail.image,
                &mut detail.external_id,
                &mut detail.external_url,
            ]
            .into_iter()
            .for_each(shorten);
        }
    }
}

fn shorten(text: &mut Option<Cow<'_, str>>) {
    if let Some(text) = text {
        *text = Cow::Owned(beginning(text));
    }
}

/// `A…` of `Ada`.
fn beginning(text: &str) -> String {
    text.chars().take(1).chain(['…']).collect()
}

// ---- Export --------------------------------------------------------------------------------------

#[derive(Deserialize)]
struct Export {
    #[serde(flatten)]
    scope: Scope,
    /// Such as `2026-11`, in UTC.
    month: String,
    records: Vec<Record>,
    /// Of the pages before.
    sums: Vec<Sum>,
}

/// What the transactions of a unit and mode come to in a currency.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sum {
    unit: String,
    mode: Mode,
    currency_code: CurrencyCode,
    transactions: u64,
    unpriced: usize,
    amount: String,
}

/// `{unit?, mode?, month, records, sums}` → `{rows, sums, unread, damaged}`.
pub(super) fn export(input: &str) -> Outcome {
    let Export { scope, month, records, sums } = serde_json::from_str(input)?;
    let mut rows = Vec::new();
    let mut damaged = Vec::new();
    let needs_value = |metadata: &Metadata| !metadata.has_charge();
    let rest = each(
        &records,
        |metadata| scope.has(metadata),
        needs_value,
        |record, metadata, transaction| {
            let summary = metadata.completed(transaction);
            if !summary.created_at.as_ref().is_some_and(|time| time.starts_with(&month)) {
                return;
            }
            match summary.amount.as_deref().and_then(charge) {
                Some(amount) => rows.push((Row::new(record, metadata, summary), amount)),
                None => damaged.push(record.name.clone()),
            }
        },
    );
    let sums = added(sums, &rows);
    let rows: Vec<_> = rows.into_iter().map(|(row, _)| row).collect();
    damaged.extend(rest.damaged);
    Ok(json!({ "rows": rows, "sums": sums, "unread": rest.unread, "damaged": damaged }))
}

/// A charge as a plain decimal: an exponent could ask for gigabytes.
fn charge(text: &str) -> Option<Decimal> {
    text_as_money(text).and_then(|money| Decimal::parse(&money))
}

/// The sums of the pages before and of these rows, in the order of unit, mode and currency.
fn added(before: Vec<Sum>, rows: &[(Row, Decimal)]) -> Vec<Sum> {
    let key = |unit: &str, mode: Mode, currency: CurrencyCode| {
        (unit.to_owned(), mode.is_live(), json!(currency).to_string())
    };
    let of_sum = |sum: Sum| {
        let amount = charge(&sum.amount).into_iter().collect();
        (key(&sum.unit, sum.mode, sum.currency_code), (sum, amount))
    };
    let mut groups: BTreeMap<_, (Sum, Vec<Decimal>)> = before.into_iter().map(of_sum).collect();
    for (row, amount) in rows {
        let Some(currency_code) = row.currency_code else { continue };
        let (sum, amounts) =
            groups.entry(key(&row.unit, row.mode, currency_code)).or_insert_with(|| {
                let (unit, mode) = (row.unit.clone(), row.mode);
                let amount = String::new();
                (Sum { unit, mode, currency_code, transactions: 0, unpriced: 0, amount }, vec![])
            });
        sum.transactions += 1;
        sum.unpriced += row.unpriced;
        amounts.push(amount.clone());
    }
    let sum =
        |(sum, amounts): (Sum, Vec<Decimal>)| Sum { amount: total(amounts).to_money(), ..sum };
    groups.into_values().map(sum).collect()
}

fn total(amounts: Vec<Decimal>) -> Decimal {
    let one = Decimal::parse("1");
    Decimal::sum_of_products(amounts.into_iter().zip(one.iter().cycle()))
}

// ---- Offerings without a price -------------------------------------------------------------------

/// Prices of each mode, if they are set.
#[derive(Deserialize)]
pub(super) struct Catalogues {
    test: Option<Catalogue>,
    live: Option<Catalogue>,
}

impl Catalogues {
    pub fn of(&self, mode: Mode) -> Option<&Catalogue> {
        match mode {
            Mode::Test => self.test.as_ref(),
            Mode::Live => self.live.as_ref(),
        }
    }
}

#[derive(Deserialize)]
struct Check {
    #[serde(flatten)]
    scope: Scope,
    catalogues: Catalogues,
    records: Vec<Record>,
}

/// Most characters that are shown of an offering.
const MAX_SHOWN: usize = 100;

/// An offering that transactions have, and the catalogue of their mode has not.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Unpriced {
    mode: Mode,
    offering_id: String,
    pledges: usize,
    first: String,
    last: String,
}

/// `{mode?, catalogues, records}` → `{offerings, priced, unread, damaged}`; `priced` counts the
/// transactions whose offerings all have a price by now.
pub(super) fn unpriced(input: &str) -> Outcome {
    let Check { scope, catalogues, records } = serde_json::from_str(input)?;
    let mut offerings = BTreeMap::new();
    let mut priced = 0;
    let is_meant = |metadata: &Metadata| {
        let may_be_unpriced = metadata.version == 0 || metadata.summary.unpriced.is_some();
        may_be_unpriced && scope.has(metadata) && catalogues.of(metadata.mode).is_some()
    };
    let rest = each(
        &records,
        is_meant,
        |_| true,
        |_, metadata, transaction| {
            let (Some(transaction), Some(catalogue)) = (transaction, catalogues.of(metadata.mode))
            else {
                return;
            };
            let pledges = transaction.pledges.iter().map(|pledge| &pledge.impact);
            let missing = pledges.filter(|impact| catalogue.unpriced([*impact].into_iter()) > 0);
            let missing: Vec<_> = missing.collect();
            priced += usize::from(missing.is_empty() && metadata.summary.unpriced.is_some());
            for impact in missing {
                let time = &*transaction.created_at;
                let key = (metadata.mode.is_live(), &*impact.offering_id);
                let found =
                    offerings.entry((key.0, key.1.to_owned())).or_insert_with(|| Unpriced {
                        mode: metadata.mode,
                        offering_id: shown(key.1),
                        pledges: 0,
                        first: time.to_owned(),
                        last: time.to_owned(),
                    });
                found.pledges += 1;
                found.first = time.min(&*found.first).to_owned();
                found.last = time.max(&*found.last).to_owned();
            }
        },
    );
    let offerings: Vec<_> = offerings.into_values().collect();
    let Rest { unread, damaged } = rest;
    Ok(json!({ "offerings": offerings, "priced": priced, "unread": unread, "damaged": damaged }))
}

fn shown(offering: &str) -> String {
    let mut chars = offering.chars();
    let mut text: String = chars.by_ref().take(MAX_SHOWN).collect();
    if chars.next().is_some() {
        text.push('…');
    }
    text
}

/// A record or nothing of a command's input that is one record.
pub(super) fn parse<'i, T: Deserialize<'i>>(input: &'i str) -> Outcome<T> {
    serde_json::from_str(input).map_err(|error| without_position(error).into())
}
