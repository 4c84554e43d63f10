//! A payment as a person enters it, and as it is recorded.

use crate::office::shared::rule::coverage::{Coverage, DamagedRecords};
use crate::office::shared::rule::once::StoredAsIs;
use crate::pledges::settlement::{PaidAt, ScopeMonth, Settlement};
use crate::pledges::types::CurrencyCode;
use serde::{Deserialize, Serialize};

/// An amount as a person enters it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatedAmount {
    /// A decimal of at most two places, such as `1234.50`.
    pub amount: String,
    /// The currency of the amount; `None` means the only currency of the month.
    pub currency_code: Option<CurrencyCode>,
}

/// A payment as a person enters it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Payment {
    /// The month that was paid.
    pub of: ScopeMonth,
    pub amounts: Vec<StatedAmount>,
    pub paid_at: PaidAt,
    /// The invoice number: one line of 1 to 80 bytes.
    pub invoice: String,
    /// The number of unpriced pledges that the person accepts. An unpriced pledge costs nothing, because its
    /// offering had no price.
    pub accept_unpriced: usize,
}

/// A month that is marked as paid, or that can be marked as paid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paid {
    #[serde(flatten)]
    pub of: ScopeMonth,
    #[serde(flatten)]
    pub settlement: Settlement,
}

impl StoredAsIs for Paid {}

/// A payment that passed all checks, so that the month can be marked as paid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckedPayment {
    #[serde(flatten)]
    pub paid: Paid,
    /// The shop's damaged records, of any month. They have no row in the ledger, so no sum includes them.
    pub damaged: DamagedRecords,
    #[serde(skip)]
    pub(super) coverage: Coverage,
}
