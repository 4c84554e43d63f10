//! Transactions, as those who answer the phone and those who keep the accounts see them.
//!
//! The scripts list metadata page by page. What it does not say is read of the records themselves:
//! each command names the `unread` ones that it needs, and is asked again with their values.

use super::{Outcome, without_position};
use crate::decimal::text_as_money;
use crate::pledge::{CurrencyCode, RetrievedPledgeTransaction, TransactionId};
use crate::scope::Mode;
use crate::store::{Key as _, StoreError, Summary, TransactionKey};
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
pub(super) struct Wanted {
    unit: Option<String>,
    mode: Option<Mode>,
}

impl Wanted {
    pub fn has(&self, metadata: &Metadata) -> bool {
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
pub(super) struct Row {
    pub id: String,
    pub mode: Mode,
    pub unit: String,
    pub created_at: Option<String>,
    pub amount: Option<String>,
    pub currency_code: Option<CurrencyCode>,
    /// Number of pledges whose offering had no price.
    pub unpriced: usize,
    /// When it was erased.
    pub erased: Option<String>,
}

impl Row {
    pub fn new(record: &Record, metadata: &Metadata, summary: Summary) -> Self {
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
        .ok_or("this is not the ID of a transaction: `ptran_` and 42 characters")?;
    Ok(TransactionKey(&id).name().into())
}

/// Reads the input of a command, which a script made: where in it a problem is helps nobody.
pub(super) fn parse<'i, T: Deserialize<'i>>(input: &'i str) -> Outcome<T> {
    serde_json::from_str(input).map_err(|error| without_position(error).into())
}
