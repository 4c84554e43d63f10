//! A transaction in the ledger, its position in a list, and the filter of lists.

use crate::pledges::decimal::Decimal;
use crate::pledges::scope::{Mode, Scope};
use crate::pledges::types::TransactionId;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use strum::{EnumIter, EnumString, IntoStaticStr, VariantNames};

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
    /// Only transactions in this state.
    pub state: Option<TransactionState>,
    /// Only transactions with a charge of at least `least` and at most `greatest` cents, whatever the currency. A charge
    /// above 2^53 - 1 cents is larger than any limit.
    pub least: Option<u64>,
    pub greatest: Option<u64>,
    /// Only transactions with these IDs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ids: Option<Vec<String>>,
    /// Only transactions whose row was written after this time, in milliseconds since 1970.
    pub changed_after: Option<u64>,
}

/// A state of transactions by which lists are filtered. A transaction can have several.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    EnumIter,
    EnumString,
    IntoStaticStr,
    VariantNames,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum TransactionState {
    /// Its month is marked as paid.
    Paid,
    /// Its month is not marked as paid.
    Unpaid,
    /// A part or all of it was credited.
    Credited,
    /// The buyer was told that it was cancelled. Workers KV has this: the ledger does not filter by it.
    Cancelled,
    /// An e-mail or message failed in the last 30 days, and was neither sent nor dismissed since. Workers KV has this: the ledger does not
    /// filter by it.
    Failed,
    /// The offering of one of its pledges had no price.
    Unpriced,
    /// Its personal data was erased.
    Erased,
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
    /// Returns the charge less the credits, a decimal with two places.
    pub fn net(&self) -> String {
        let Some(credited) = &self.credited else { return self.amount.clone() };
        let amounts = [&self.amount, credited].map(|text| Decimal::parse(text));
        match amounts {
            [Some(amount), Some(credited)] => {
                amount.minus(&credited).unwrap_or_default().to_money()
            }
            _ => self.amount.clone(),
        }
    }

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
