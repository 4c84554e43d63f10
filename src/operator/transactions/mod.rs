//! Transactions, for support and accounting.
//!
//! Lists are read from metadata alone: time, charge and hashes, without personal data.

mod erase;
mod export;
mod find;
mod person;
mod restore;
mod show;
mod usage;

pub use super::position::Position;
pub use erase::{ERASABLE_MINUTES, Erased, check_erasable, erase};
pub use export::{Line, Lines, for_spreadsheet, spreadsheet_head};
pub use find::{By, Found, FoundStep, Size, find, find_step, size_of_all};
pub use person::{PersonStep, erase_person_step};
pub use restore::{about, erase_restored, is_erased, marked};
pub(in crate::operator) use show::masked;
pub use show::{Shown, View, reveal};
pub(super) use usage::Total;
pub use usage::{Report, Settled, Sum, Usage, UsageQuery};

use super::{OperatorError, Result};
use crate::auth::check_id;
use crate::decimal::{Decimal, text_as_money};
use crate::pledge::{CurrencyCode, EMAIL, RetrievedPledgeTransaction, TransactionId};
use crate::scope::{Mode, Scope};
use crate::store::{
    Key, Listed, OperatorStore, Recorded, StoreError, StoredValue as _, TransactionKey,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt::Display;

/// Selects transactions by unit and mode.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Wanted {
    /// Only this unit's.
    pub unit: Option<String>,
    /// Only those of test keys, or of live keys.
    pub mode: Option<Mode>,
}

impl Wanted {
    /// Checks the unit's ID.
    ///
    /// # Errors
    /// If it is out of bounds.
    pub fn check(&self) -> Result<()> {
        let unit = self.unit.as_deref();
        unit.map_or(Ok(()), check_id).map_err(OperatorError::Invalid)
    }

    /// Whether a record is selected. Its name does not tell: the 40-bit hashes of shops can be equal.
    fn has(&self, recorded: &Recorded) -> bool {
        self.unit.as_ref().is_none_or(|unit| *unit == recorded.unit)
            && self.mode.is_none_or(|mode| mode == recorded.mode)
    }

    /// The prefixes of the names of all records that are selected.
    pub(super) fn prefixes(&self) -> Vec<String> {
        match &self.unit {
            Some(unit) => scopes(unit, self.mode).iter().map(TransactionKey::shop_prefix).collect(),
            None => vec![TransactionKey::PREFIX.to_owned()],
        }
    }
}

fn scopes(unit: &str, mode: Option<Mode>) -> Vec<Scope> {
    let modes = mode.map_or(vec![Mode::Test, Mode::Live], |mode| vec![mode]);
    modes.into_iter().map(|mode| Scope { mode, unit: unit.to_owned() }).collect()
}

/// A transaction in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    /// Its ID.
    pub id: String,
    /// Whether a test or a live key made it.
    pub mode: Mode,
    /// The unit that it belongs to.
    pub unit: String,
    /// Creation time, an RFC 3339 date-time.
    pub created_at: String,
    /// The charge, a decimal with two places.
    pub amount: String,
    /// The currency of `amount`.
    pub currency_code: CurrencyCode,
    /// Number of pledges whose offering had no price.
    pub unpriced: usize,
    /// When its personal data was erased, an RFC 3339 date-time.
    pub erased: Option<String>,
}

impl Row {
    /// `None` if the metadata lacks time or charge.
    fn new(recorded: Recorded) -> Option<Self> {
        let Recorded { id, mode, unit, summary } = recorded;
        Some(Row {
            id: id.into_string(),
            mode,
            unit,
            created_at: summary.created_at?,
            amount: summary.amount?,
            currency_code: summary.currency_code?,
            unpriced: summary.unpriced.unwrap_or_default(),
            erased: summary.erased,
        })
    }
}

/// Damaged records, which a list leaves out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Damaged {
    /// Their number.
    pub count: u64,
    /// The name of the first.
    pub first: Option<String>,
}

impl Damaged {
    pub(super) fn add(&mut self, name: String) {
        self.extend(Damaged { count: 1, first: Some(name) });
    }

    pub(super) fn extend(&mut self, Damaged { count, first }: Damaged) {
        self.count += count;
        self.first = self.first.take().or(first);
    }
}

// ---- Lists ---------------------------------------------------------------------------------------

/// The transactions that are selected, page by page.
pub(super) struct Listing<'s, S> {
    store: &'s S,
    prefixes: Vec<String>,
    /// Where the next page begins; `None` after the last one.
    pub position: Option<Position>,
    wanted: Wanted,
    pub damaged: Damaged,
    /// Number of records that were listed.
    pub listed: usize,
}

impl<'s, S: OperatorStore> Listing<'s, S> {
    /// Begins a list, or goes on with it.
    pub fn new(
        store: &'s S,
        mut prefixes: Vec<String>,
        wanted: Wanted,
        from: Option<&Position>,
    ) -> Self {
        prefixes.dedup(); // the 40-bit hashes of both modes can be equal
        let position = from.cloned().unwrap_or_default();
        let position = Some(position).filter(|position| position.list < prefixes.len());
        Listing { store, prefixes, position, wanted, damaged: Damaged::default(), listed: 0 }
    }

    /// The transactions of the next page; `None` after the last page.
    async fn next(&mut self) -> Result<Option<Vec<Recorded>>> {
        let Some(position) = self.position.clone() else { return Ok(None) };
        let Some(prefix) = self.prefixes.get(position.list) else { return Ok(None) };
        let page = self.store.list(prefix, position.cursor.as_deref()).await?;
        let next = position.next_page(page.cursor);
        self.position = Some(next).filter(|next| next.list < self.prefixes.len());
        self.listed += page.records.len();
        let rest = page.records.into_iter().filter(|record| position.is_before(&record.name));
        Ok(Some(rest.filter_map(|record| self.read(record)).collect()))
    }

    /// The rows of the next page with their charges; `None` after the last page. What lacks time or charge
    /// is damaged.
    pub async fn next_rows(&mut self) -> Result<Option<Vec<(Decimal, Row)>>> {
        let Some(page) = self.next().await? else { return Ok(None) };
        let mut rows = Vec::with_capacity(page.len());
        for recorded in page {
            let name = TransactionKey(&recorded.id).name();
            match Row::new(recorded).and_then(|row| Some((charge(&row.amount)?, row))) {
                Some(row) => rows.push(row),
                None => self.damaged.add(name),
            }
        }
        Ok(Some(rows))
    }

    fn read(&mut self, Listed { name, metadata, .. }: Listed) -> Option<Recorded> {
        let id = TransactionKey::parse(&name);
        let Some(recorded) = id.and_then(|id| Recorded::from_metadata(id, &metadata).ok()) else {
            self.damaged.add(name);
            return None;
        };
        Some(recorded).filter(|recorded| self.wanted.has(recorded))
    }
}

/// Parses a charge. It must be a plain decimal: an exponent could need gigabytes.
fn charge(text: &str) -> Option<Decimal> {
    text_as_money(text).and_then(|money| Decimal::parse(&money))
}

// ---- One record ----------------------------------------------------------------------------------

/// The record of a transaction, as it is stored.
#[derive(Clone, Debug)]
pub struct Record {
    pub(in crate::operator) id: TransactionId,
    value: Vec<u8>,
    metadata: Value,
}

/// A [`TransactionKey`] that reads metadata whole, with members of later releases.
struct RecordKey<'k>(&'k TransactionId);

impl Key for RecordKey<'_> {
    type Metadata = Value;
    const KIND: &'static str = TransactionKey::KIND;
    const PREFIX: &'static str = TransactionKey::PREFIX;
    const MAX_BYTES: usize = TransactionKey::MAX_BYTES;
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0.as_str())
    }
    fn bytes(metadata: &Value) -> usize {
        let bytes = metadata.get("bytes").and_then(Value::as_u64);
        bytes.and_then(|bytes| bytes.try_into().ok()).unwrap_or(Self::MAX_BYTES)
    }
}

/// Reads the record of a transaction.
///
/// # Errors
/// If `id` is malformed, there is no such transaction, or the store fails.
pub async fn get(store: &impl OperatorStore, id: &str) -> Result<Record> {
    let id = TransactionId::parse(id.trim()).ok_or_else(|| {
        OperatorError::Invalid(
            "this is not the ID of a transaction, which begins with `ptran_`: take it from a list \
             or an answer"
                .to_owned(),
        )
    })?;
    let stored = store.get(&RecordKey(&id)).await?.ok_or_else(|| {
        OperatorError::Invalid(format!(
            "there is no transaction {id} here: is it one of this place?"
        ))
    })?;
    let value = stored.value.read(TransactionKey::READ_MS).await?;
    Ok(Record { id, value, metadata: stored.metadata })
}

impl Record {
    pub(in crate::operator) fn metadata(&self) -> Result<Recorded> {
        let recorded = Recorded::from_metadata(self.id.clone(), &self.metadata);
        recorded.map_err(|error| self.damaged(&error))
    }

    pub(in crate::operator) fn transaction(&self) -> Result<RetrievedPledgeTransaction<'_>> {
        serde_json::from_slice(&self.value).map_err(|error| self.damaged(&error))
    }

    /// Whether the create asked for an e-mail.
    pub(in crate::operator) fn asks_for_mail(&self) -> Result<bool> {
        let notifications = self.transaction()?.notifications.unwrap_or_default();
        Ok(notifications.iter().any(|notification| notification.kind == EMAIL))
    }

    fn damaged(&self, error: &serde_json::Error) -> OperatorError {
        self.damaged_by(OperatorError::from(StoreError::damaged(TransactionKey::KIND, error)))
    }

    pub(in crate::operator) fn damaged_by(&self, problem: impl Display) -> OperatorError {
        OperatorError::Invalid(format!("{}: {problem}", self.id))
    }
}
