//! A transaction in the ledger, its position in a list, and the filter of lists.

use crate::pledges::scope::{Mode, Scope};
use crate::pledges::types::TransactionId;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Filter {
    /// Only transactions of test keys, or only those of live keys.
    pub mode: Option<Mode>,
    /// Only transactions of these units. An empty list selects nothing.
    pub units: Option<Vec<String>>,
    /// Only transactions created at this time or later, in milliseconds since 1970.
    pub from: u64,
    /// Only transactions created before this time, in milliseconds since 1970; `None` sets no limit.
    pub until: Option<u64>,
    /// Only transactions created with the API key that has this ID.
    pub key: Option<String>,
    /// Only transactions with a pledge whose offering has no price.
    pub unpriced: bool,
    /// Only transactions whose row was written after this time, in milliseconds since 1970.
    pub changed_after: Option<u64>,
}

impl Filter {
    pub fn of(scope: &Scope) -> Self {
        let (mode, units) = (Some(scope.mode), Some(vec![scope.unit.clone()]));
        Filter { mode, units, ..Filter::default() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Order {
    pub id: String,
    /// The unit and mode that the transaction belongs to.
    #[serde(flatten)]
    pub scope: Scope,
    /// When the transaction was created, in milliseconds since 1970.
    #[serde(skip)]
    pub created_ms: u64,
    /// The creation time as an RFC 3339 date-time.
    pub created_at: String,
    /// The charge, a decimal with two places.
    pub amount: String,
    pub currency_code: String,
    /// Number of the transaction's pledges whose offering had no price.
    pub unpriced: usize,
    /// The ID of the API key that created the transaction; `None` if unknown.
    pub key: Option<String>,
    /// The time of the price list by which it was charged, in milliseconds since 1970; `None` if unknown.
    #[serde(skip)]
    pub prices: Option<u64>,
    /// When the transaction's personal data was erased, an RFC 3339 date-time.
    pub erased: Option<String>,
    /// The sum of the transaction's credits, a decimal with two places; `None` if it has none. A row from Workers KV
    /// shows neither credits nor payments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credited: Option<String>,
    /// Whether the transaction's month is marked as paid.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub paid: bool,
    /// Whether an operator cancelled the transaction. Workers KV has this; in a row of the ledger it is `false`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cancelled: bool,
}

impl Order {
    pub fn place(&self) -> PageCursor {
        PageCursor { created: self.created_ms, id: self.id.clone() }
    }
}

/// A position in a list that is sorted by time and ID. Its text, `{milliseconds}-{ID}`, may be a part of a URL, because
/// an ID is not personal data.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct PageCursor {
    pub(crate) created: u64,
    pub(crate) id: String,
}

impl PageCursor {
    /// Parses the text of a position. Returns `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let (created, id) = text.split_once('-')?;
        let id = TransactionId::parse(id)?.into_string();
        Some(PageCursor { created: created.parse().ok()?, id })
    }
}

impl Display for PageCursor {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}-{}", self.created, self.id)
    }
}
