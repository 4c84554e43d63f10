//! A credit as a person requests it, and as it is shown.

use crate::office::credits::rows::CreditRow;
use crate::office::shared::rule::once::StoredAsIs;
use crate::pledges::quantities::Quantities;
use crate::pledges::scope::Scope;
use crate::pledges::settlement::Month;
use crate::pledges::time::date_time;
use serde::{Deserialize, Serialize};

/// A credit as a person enters it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreditRequest {
    pub transaction: String,
    /// The part to credit; `None` credits all that is left of the charge and of the quantities.
    pub part: Option<Part>,
    /// Why the credit is made: one line of 1 to [`MAX_REASON_BYTES`](super::reason::MAX_REASON_BYTES) bytes. It must
    /// not name the recipient.
    pub reason: String,
    /// Whether the transaction's timeline tells the buyer that the transaction was cancelled. This is allowed
    /// only if `part` is `None`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tell_buyer: bool,
    /// Whether the transaction was charged with its month. Needed only if the transaction may have
    /// been recorded after its month was marked as paid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was_charged: Option<bool>,
    /// The number of credits that the transaction had when the person confirmed this credit; `None` if nobody
    /// confirmed it. If the transaction has another number of credits now, this credit is refused: two people
    /// may be crediting the same returned goods.
    ///
    /// A retry may state another number, and is still the same operation.
    #[serde(skip)]
    pub seen: Option<u32>,
}

impl CreditRequest {
    /// Returns this request with `seen` set, for a person who has confirmed the credit that
    /// [`check`](crate::office::credits::rule::check) returned.
    #[must_use]
    pub fn confirmed(self, credit: &Credit) -> Self {
        CreditRequest { seen: credit.number.checked_sub(1), ..self }
    }
}

/// A part of a transaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// A decimal of at most two places, such as `1234.50`.
    pub amount: String,
    /// The credited quantities, at most one for each offering. Quantities that are not credited are still to be
    /// delivered.
    pub quantities: Vec<OfferingQuantity>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferingQuantity {
    pub offering: String,
    /// A decimal, such as `2.5` or `1e21`.
    pub quantity: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Credit {
    /// The hash of the operation that made the credit, as in the audit log.
    pub operation: String,
    pub transaction: String,
    /// The credit's number among the credits of the transaction, from 1.
    pub number: u32,
    /// The transaction's scope.
    #[serde(flatten)]
    pub scope: Scope,
    /// The month in which the transaction was created, in UTC.
    pub order_month: Month,
    /// The month whose sum the credit reduces. This is the month of the transaction or, if that month was
    /// already settled, a later one.
    pub booked_month: Month,
    pub currency_code: String,
    /// The charge of the transaction, a decimal with two places.
    pub charge: String,
    /// The credited amount, a decimal with two places.
    pub amount: String,
    pub quantities: Vec<OfferingQuantity>,
    pub reason: String,
    pub by: String,
    /// When the credit was made, an RFC 3339 date-time.
    pub at: String,
}

impl StoredAsIs for Credit {}

impl From<CreditRow> for Credit {
    fn from(row: CreditRow) -> Self {
        let (charge, amount, at) = (row.charge(), row.amount(), date_time(row.at));
        let CreditRow { operation, id, number, scope, order_month, booked_month, .. } = row;
        Credit {
            operation,
            transaction: id,
            number,
            scope,
            order_month,
            booked_month,
            currency_code: row.currency,
            charge,
            amount,
            quantities: stated(&row.quantities),
            reason: row.reason,
            by: row.author,
            at,
        }
    }
}

/// Returns the quantities as decimals.
pub(super) fn stated(quantities: &Quantities) -> Vec<OfferingQuantity> {
    let each = quantities.iter().map(|(offering, quantity)| OfferingQuantity {
        offering: offering.to_owned(),
        quantity: quantity.decimal().to_exact(),
    });
    each.collect()
}

impl Credit {
    /// Returns words such as `5.00 of 12.00 USD, quantities: 2 tree and 1 reef`.
    pub fn in_words(&self) -> String {
        let Credit { amount, charge, currency_code, .. } = self;
        let quantities = match self.quantities_in_words() {
            words if words.is_empty() => "none".to_owned(),
            words => words,
        };
        format!("{amount} of {charge} {currency_code}, quantities: {quantities}")
    }

    /// Describes the credit for the audit log: the words of [`in_words`](Self::in_words), the booked month
    /// and the reason.
    pub(super) fn entry_in_words(&self) -> String {
        format!("{}, booked in {}: {}", self.in_words(), self.booked_month, self.reason)
    }

    /// Returns words such as `2 tree and 1 reef`; empty for no quantities.
    pub fn quantities_in_words(&self) -> String {
        let each = self.quantities.iter().take(MAX_IN_WORDS);
        let mut words: Vec<_> = each.map(|it| format!("{} {}", it.quantity, it.offering)).collect();
        let more = self.quantities.len().saturating_sub(MAX_IN_WORDS);
        words.extend((more > 0).then(|| format!("{more} more")));
        words.join(" and ")
    }
}

/// Maximum number of offerings that a text about a credit names.
const MAX_IN_WORDS: usize = 5;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Credits {
    /// The credits, oldest first.
    pub credits: Vec<Credit>,
    pub left: Left,
}

/// What is left of a transaction after its credits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Left {
    pub currency_code: String,
    /// The amount, a decimal with two places.
    pub amount: String,
    pub quantities: Vec<OfferingQuantity>,
    /// Whether a part can be credited. A charge above 2^53 - 1 cents can only be credited in full.
    pub divisible: bool,
}

impl Left {
    pub fn is_nothing(&self) -> bool {
        self.amount == "0.00" && self.quantities.is_empty()
    }
}
