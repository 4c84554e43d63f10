//! A line of an export, and its form in a CSV file.

use crate::office::shared::rule::csv;
use crate::office::shared::rule::csv::BYTE_ORDER_MARK;
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
    fn name(self) -> &'static str {
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

const HEADINGS: [&str; 14] = [
    "id",
    "createdAt",
    "mode",
    "unit",
    "unitName",
    "reference",
    "offering",
    "quantity",
    "amount",
    "currencyCode",
    "unpriced",
    "erased",
    "unitPrice",
    "kind",
];

/// Returns the beginning of a CSV file: the byte order mark and the headings.
pub fn spreadsheet_head() -> String {
    [BYTE_ORDER_MARK, &csv::lines([HEADINGS])].concat()
}

/// Formats lines as CSV, with cells that are safe for a spreadsheet.
pub fn for_spreadsheet(lines: &[Line]) -> String {
    csv::lines(lines.iter().map(Line::cells))
}

impl Line {
    /// Returns the cells of the line. Amounts are numbers of the service, so a minus sign begins no formula.
    fn cells(&self) -> [String; 14] {
        let amount = |amount: &Option<String>| amount.clone().unwrap_or_default();
        [
            csv::text(&self.id),
            csv::text(&self.created_at),
            csv::text(self.scope.mode.name()),
            csv::text(&self.scope.unit),
            csv::text(&self.unit_name),
            csv::text(&self.reference),
            csv::text(&self.offering),
            csv::text(&self.quantity),
            amount(&self.amount),
            csv::text(&self.currency_code),
            self.unpriced.map(|count| count.to_string()).unwrap_or_default(),
            csv::text(self.erased.as_deref().unwrap_or_default()),
            amount(&self.unit_price),
            self.kind.name().to_owned(),
        ]
    }
}
