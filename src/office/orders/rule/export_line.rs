//! A line of an export.

use crate::pledges::scope::Scope;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// A pledge of a transaction.
    Transaction,
    /// A credit that is booked in the month. Its amount is negative.
    Credit,
    /// The excess of earlier months' credits that is carried into the month. Its amount is negative.
    Carried,
    /// The excess of the month's credits, which is carried to a later month.
    CarriedForward,
}

impl LineKind {
    pub fn name(self) -> &'static str {
        match self {
            LineKind::Transaction => "transaction",
            LineKind::Credit => "credit",
            LineKind::Carried => "carried",
            LineKind::CarriedForward => "carriedForward",
        }
    }
}

/// A line of an export, for one pledge of a transaction, or for a deduction. Only the first line of a transaction has the
/// charge. So in each currency, the column of amounts adds up to what is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub kind: LineKind,
    /// The ID of the transaction, or of the credited one; empty for a carried amount.
    pub id: String,
    /// When the transaction was created, or the credit made, an RFC 3339 date-time; empty for a
    /// carried amount.
    pub created_at: String,
    pub scope: Scope,
    /// The name that the unit's timelines show; empty if the unit has no name.
    pub unit_name: String,
    /// The transaction's reference; empty if the record cannot be read.
    pub reference: String,
    /// The offering's ID; empty if the record cannot be read.
    pub offering: String,
    /// The quantity, formatted as in JSON; empty if the record cannot be read.
    pub quantity: String,
    /// The unit price by which the pledge was charged, a decimal; `None` if it had no price, or is unknown.
    pub unit_price: Option<String>,
    /// The charge of the transaction, a decimal with two places, on the transaction's first line; `None` on its other
    /// lines. Negative for a deduction, such as `-2.50`.
    pub amount: Option<String>,
    pub currency_code: String,
    /// Number of the transaction's unpriced pledges, on the transaction's first line; `None` on its other lines.
    pub unpriced: Option<usize>,
    /// When the personal data was erased, an RFC 3339 date-time.
    pub erased: Option<String>,
}
