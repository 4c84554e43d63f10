//! Transactions, for support and accounting.
//!
//! Lists come from the ledger and have times, charges and IDs, without personal data.

mod brief;
mod erase;
mod export;
mod find;
mod list;
mod person;
mod restore;
mod show;

pub use brief::{Brief, briefs};
pub(in crate::operator) use erase::quantities_to_keep;
pub use erase::{ERASABLE_MINUTES, Erased, check_erasable, erase};
pub use export::{Export, Line, for_spreadsheet, spreadsheet_head};
pub use find::{Found, SearchKey, find};
pub use list::{ListQuery, TransactionPage, list};
pub use person::{ErasureCursor, PersonStep, erase_person_step};
pub use restore::{about, erase_restored, is_erased, marked};
pub(in crate::operator) use show::masked;
pub use show::{TransactionView, ViewOptions, reveal};

use super::{OperatorError, Result};
use crate::auth::check_id;
use crate::ledger::Order;
use crate::pledge::{EMAIL, RetrievedPledgeTransaction, TransactionId};
use crate::scope::{Mode, Scope};
use crate::store::{Key, OperatorStore, Recorded, StoreError, StoredValue as _, TransactionKey};
use crate::time::parse_ms;
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;
use std::fmt::Display;

/// Selects transactions by unit and mode.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct TransactionFilter {
    /// Only transactions of this unit.
    pub unit: Option<String>,
    /// Only transactions of this mode.
    pub mode: Option<Mode>,
}

impl TransactionFilter {
    /// Checks the unit's ID.
    ///
    /// # Errors
    /// If the ID is not valid.
    pub fn check(&self) -> Result<()> {
        let unit = self.unit.as_deref();
        unit.map_or(Ok(()), check_id).map_err(OperatorError::Invalid)
    }

    /// Returns whether a record is selected. Its name is not enough, because the 40-bit hashes of two shops can be equal.
    fn has(&self, recorded: &Recorded) -> bool {
        self.unit.as_ref().is_none_or(|unit| *unit == recorded.unit)
            && self.mode.is_none_or(|mode| mode == recorded.mode)
    }

    /// Returns the unit as a filter for the ledger; `None` for all units.
    pub(super) fn units(&self) -> Option<Vec<String>> {
        self.unit.clone().map(|unit| vec![unit])
    }

    /// Returns the selected modes.
    pub(super) fn modes(&self) -> Vec<Mode> {
        self.mode.map_or(vec![Mode::Test, Mode::Live], |mode| vec![mode])
    }

    /// Returns the shops of the unit; `None` for all units.
    pub(super) fn shops(&self) -> Option<Vec<Scope>> {
        let unit = self.unit.as_ref()?;
        let shop = |mode| Scope { mode, unit: unit.clone() };
        Some(self.modes().into_iter().map(shop).collect())
    }
}

/// Converts a record's metadata to a transaction in a list; `None` if it lacks the time or the charge.
fn order(recorded: Recorded) -> Option<Order> {
    let Recorded { id, mode, unit, summary } = recorded;
    let created_at = summary.created_at?;
    Some(Order {
        id: id.into_string(),
        mode,
        unit,
        created_ms: parse_ms(&created_at)?,
        created_at,
        amount: summary.amount?,
        currency_code: summary.currency_code?.code().to_owned(),
        unpriced: summary.unpriced.unwrap_or_default(),
        key: summary.key,
        erased: summary.erased,
    })
}

// ---- One record ----------------------------------------------------------------------------------

/// The stored record of a transaction.
#[derive(Clone, Debug)]
pub struct Record {
    pub(in crate::operator) id: TransactionId,
    value: Vec<u8>,
    metadata: Value,
}

/// A [`TransactionKey`] whose metadata is read as JSON, so that members of later releases are kept.
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

/// Reads the record of a transaction. KV cost: 1 read.
///
/// # Errors
/// If `id` is malformed, the transaction does not exist, or the store fails.
pub async fn get(store: &impl OperatorStore, id: &str) -> Result<Record> {
    let id = TransactionId::parse(id.trim()).ok_or_else(|| {
        OperatorError::Invalid(
            "this is not the ID of a transaction, which begins with `ptran_`: copy it from a list \
             or from an answer of the API"
                .to_owned(),
        )
    })?;
    let stored = store.get(&RecordKey(&id)).await?.ok_or_else(|| {
        OperatorError::Invalid(format!(
            "there is no transaction {id} here: check that it belongs to this environment"
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

    /// Returns whether the create request asked for an e-mail.
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
