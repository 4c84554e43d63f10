//! The stored record of a transaction.

use crate::office::orders::rows::order::Order;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::refused::RefusalCode;
use crate::office::system::rows::receive::RecordedKey;
use crate::pledges::store::{
    Key as _, OperatorStore, Recorded, StoreError, StoredValue as _, TransactionKey,
};
use crate::pledges::time::parse_ms;
use crate::pledges::types::{NotificationService, RetrievedPledgeTransaction, TransactionId};
use serde_json::Value;
use std::fmt::Display;
use strum::IntoEnumIterator as _;

#[derive(Clone, Debug)]
pub struct Record {
    pub(crate) id: TransactionId,
    pub(super) value: Vec<u8>,
    pub(super) metadata: Value,
}

/// Reads the record of a transaction. KV cost: 1 read.
///
/// # Errors
/// If `id` is malformed, the transaction does not exist, or the store fails.
pub async fn get(store: &impl OperatorStore, id: &str) -> Result<Record> {
    let id = TransactionId::parse(id.trim()).ok_or_else(|| {
        OperatorError::at(
            "id",
            RefusalCode::Invalid,
            "this is not the ID of a transaction. Such an ID begins with `ptran_`: copy it from a list \
             or from an answer of the API",
        )
    })?;
    let stored = store.get(&RecordedKey(&id)).await?.ok_or_else(|| {
        let problem = format!(
            "there is no transaction {id} in this environment: check the ID and the environment"
        );
        OperatorError::at("id", RefusalCode::NotFound, problem)
    })?;
    let value = stored.value.read(TransactionKey::READ_MS).await?;
    Ok(Record { id, value, metadata: stored.metadata })
}

impl Record {
    pub fn id(&self) -> &str {
        self.id.as_str()
    }

    /// Fails if the metadata is damaged.
    pub fn unit(&self) -> Result<String> {
        Ok(self.metadata()?.scope.unit)
    }

    pub(crate) fn metadata(&self) -> Result<Recorded> {
        let recorded = Recorded::from_metadata(self.id.clone(), &self.metadata);
        recorded.map_err(|error| self.damaged(&error))
    }

    pub(crate) fn transaction(&self) -> Result<RetrievedPledgeTransaction<'_>> {
        serde_json::from_slice(&self.value).map_err(|error| self.damaged(&error))
    }

    /// Returns the notification services that the create request asked for, in the order of the contract.
    pub(crate) fn services(&self) -> Result<Vec<NotificationService>> {
        let notifications = self.transaction()?.notifications.unwrap_or_default();
        let is_asked = |service: &NotificationService| {
            notifications.iter().any(|notification| notification.kind == service.name())
        };
        Ok(NotificationService::iter().filter(is_asked).collect())
    }

    pub(super) fn damaged(&self, error: &serde_json::Error) -> OperatorError {
        self.damaged_by(OperatorError::from(StoreError::damaged(TransactionKey::KIND, error)))
    }

    pub(crate) fn damaged_by(&self, problem: impl Display) -> OperatorError {
        OperatorError::invalid(format!("{}: {problem}", self.id))
    }
}

/// Makes a row of a transaction list from a record's metadata. Returns `None` if the metadata lacks the
/// creation time or the charge.
pub(super) fn order(recorded: Recorded) -> Option<Order> {
    let Recorded { id, scope, summary } = recorded;
    let created_at = summary.created_at?;
    Some(Order {
        id: id.into_string(),
        scope,
        created_ms: parse_ms(&created_at)?,
        created_at,
        amount: summary.amount?,
        currency_code: summary.currency_code?.code().to_owned(),
        unpriced: summary.unpriced.unwrap_or_default(),
        key: summary.key,
        prices: summary.prices.as_deref().and_then(parse_ms),
        erased: summary.erased,
        credited: None,
        paid: false,
        cancelled: false,
    })
}
