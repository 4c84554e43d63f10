//! An order in one shape for all shop systems. All amounts are exact decimals in the main unit of the currency.

use crate::pledges::decimal::Decimal;
use serde::{Deserialize, Serialize};
use std::ops::Not;
use strum::{EnumString, IntoStaticStr};

/// An order as a shop system described it at one time.
///
/// Every text is bounded: IDs have at most 100 characters of printable ASCII, other texts at most 1,000 characters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Order {
    /// The ID of the order in its system. It never changes.
    pub id: String,
    /// The number that the shop shows to people, such as `#1001`.
    pub number: String,
    /// The code of ISO 4217 in upper case, such as `EUR`: the currency of all amounts.
    pub currency: String,
    /// When the order was placed, an RFC 3339 date-time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_name: Option<String>,
    /// The buyer's full name, if the system tells it as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The buyer's language as the system writes it, such as `de-DE`. Stripe's may be `auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// The status in the words of the system, such as `processing`; empty if there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub status: String,
    pub payment: Payment,
    /// Whether the system says that this is a test order.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub is_test: bool,
    pub sums: Sums,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<Line>,
    /// Names and texts that the shop or the buyer added to the order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refunds: Vec<Refund>,
}

/// Whether the buyer paid.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, EnumString, IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Payment {
    Paid,
    #[default]
    Unpaid,
    Cancelled,
    /// The whole order was refunded.
    Refunded,
    /// The order was not placed yet.
    Draft,
}

/// The sums of an order. What a system does not tell is `None`. The table of each system has its formulas.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sums {
    /// What the whole order costs: goods after discounts, shipping, fees and tax.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<Decimal>,
    /// The goods before discounts, without gift cards that the buyer bought.
    #[serde(default)]
    pub goods: TaxedSum,
    /// The goods after discounts, without gift cards that the buyer bought.
    #[serde(default)]
    pub discounted: TaxedSum,
    /// Shipping after discounts.
    #[serde(default)]
    pub shipping: TaxedSum,
    /// The part of the total that the buyer paid with gift cards or store credit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gift_cards: Option<Decimal>,
}

/// One sum, with and without the tax on it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaxedSum {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with_tax: Option<Decimal>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_tax: Option<Decimal>,
}

/// One line of an order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Line {
    /// The line's ID, unique in its order.
    pub id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sku: Option<String>,
    /// The IDs of the product and of its variant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub products: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The ordered quantity. A negative quantity is read as 0.
    pub quantity: Decimal,
    #[serde(default)]
    pub kind: LineKind,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<(String, String)>,
}

/// What a line sells. Only goods pledge.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, EnumString, IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum LineKind {
    #[default]
    Goods,
    GiftCard,
    Tip,
    /// A line with a negative price, such as a discount.
    Deduction,
}

/// A refund, or all refunds of an order where the system only tells their sum.
///
/// A later state of the same refund has the same ID, and larger quantities or a larger sum.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Refund {
    pub id: String,
    /// The lines' IDs with the refunded quantities.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<(String, Decimal)>,
    /// What the buyer got back; `None` if the system does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sum: Option<Decimal>,
    /// The currency of the sum, if the refund tells it. A sum in another currency than that of the order does not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// Whether the whole order was refunded or cancelled.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub is_whole: bool,
}
