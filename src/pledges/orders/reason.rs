//! Why an order, or a rule, pledges nothing.

use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};

/// The reason why an order pledges nothing, or why a rule was skipped. `Display` writes a sentence for the people of
/// the shop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "camelCase")]
pub enum Unpledged {
    /// The order is not paid: its status in the words of the shop system.
    Unpaid {
        status: String,
    },
    Draft,
    Cancelled,
    Refunded,
    /// The connection is live, and the order is a test.
    Test,
    /// The order has no e-mail address.
    NoAddress,
    /// The settings have no rules.
    NoRules,
    /// No rule pledges for this order.
    NothingMatches,
    /// A rule reads a sum in another currency than that of the order.
    Currency {
        rule: String,
        order: String,
    },
    /// The shop system did not tell a part of the sum that a rule reads.
    SumUnknown {
        part: SumPart,
    },
    /// The create request breaks a rule of the contract.
    Invalid {
        /// The JSON Pointer of the value.
        path: String,
        message: String,
    },
}

/// A part of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SumPart {
    Goods,
    Shipping,
    GiftCards,
}

impl Display for Unpledged {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Unpledged::Unpaid { status } => {
                write!(out, "The order is not paid: its status is “{status}”.")
            }
            Unpledged::Draft => out.write_str("The order is a draft."),
            Unpledged::Cancelled => out.write_str("The order was cancelled."),
            Unpledged::Refunded => out.write_str("The order was refunded."),
            Unpledged::Test => {
                out.write_str("This is a test order, and the connection makes live pledges.")
            }
            Unpledged::NoAddress => out.write_str("The order has no e-mail address."),
            Unpledged::NoRules => out.write_str("The connection has no rules yet."),
            Unpledged::NothingMatches => out.write_str("No rule pledges anything for this order."),
            Unpledged::Currency { rule, order } => {
                write!(out, "The order is in {order}, and the rule reads sums in {rule}.")
            }
            Unpledged::SumUnknown { part } => write!(
                out,
                "The shop system does not tell {} of this order, which the rule reads.",
                part.phrase()
            ),
            Unpledged::Invalid { path, message } => {
                write!(out, "The pledge would be invalid: {path} {message}.")
            }
        }
    }
}

impl SumPart {
    fn phrase(self) -> &'static str {
        match self {
            SumPart::Goods => "the sum of the goods with this tax and these discounts",
            SumPart::Shipping => "the cost of shipping",
            SumPart::GiftCards => "how much was paid with gift cards",
        }
    }
}
