//! A transaction in the ledger, its place in a list, and the filter of lists.

use crate::pledge::TransactionId;
use crate::scope::Mode;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};

/// A filter of transactions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Filter {
    /// Only those of test keys, or only those of live keys.
    pub mode: Option<Mode>,
    /// Only those of these units. An empty list selects nothing.
    pub units: Option<Vec<String>>,
    /// Only those created at this time or later, in milliseconds since 1970.
    pub from: u64,
    /// Only those created before this time, in milliseconds since 1970; `None`: no bound.
    pub until: Option<u64>,
    /// Only those created with this API key, by its ID.
    pub key: Option<String>,
    /// Only those with a pledge whose offering has no price.
    pub unpriced: bool,
    /// Only those whose row was written after this time, in milliseconds since 1970.
    pub changed_after: Option<u64>,
}

/// A transaction in the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Order {
    /// Its ID.
    pub id: String,
    /// Whether a test key or a live key created it.
    pub mode: Mode,
    /// The unit that it belongs to.
    pub unit: String,
    /// When it was created, in milliseconds since 1970.
    #[serde(skip)]
    pub created_ms: u64,
    /// The creation time as an RFC 3339 date-time.
    pub created_at: String,
    /// The charge, a decimal with two places.
    pub amount: String,
    /// The code of the charge's currency.
    pub currency_code: String,
    /// Number of its pledges whose offering had no price.
    pub unpriced: usize,
    /// The ID of the API key that created it; `None` if unknown.
    pub key: Option<String>,
    /// When its personal data was erased, an RFC 3339 date-time.
    pub erased: Option<String>,
}

impl Order {
    /// Returns its place in a list.
    pub fn place(&self) -> PageCursor {
        PageCursor { created: self.created_ms, id: self.id.clone() }
    }
}

/// A place in a list that is sorted by time and ID. Its text, `{milliseconds}-{ID}`, may stand in a URL: an ID is not
/// personal data.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct PageCursor {
    pub(super) created: u64,
    pub(super) id: String,
}

impl PageCursor {
    /// Parses the text of a place. Returns `None` for any other text.
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
