//! The tables by which the bodies of shop systems are read. The npm package has the same tables in JavaScript.
//!
//! A field has several [paths](super::path), of which the first with a usable value counts. A sum has several
//! [formulas](super::formula).

use super::event::Ignored;
use super::order::Payment;
use serde::Serialize;

/// Maximum number of lines of an order, of its refunds, and of lines in a refund.
pub const MAX_LINES: usize = 5_000;
/// Maximum number of attributes of an order or a line.
pub const MAX_ATTRIBUTES: usize = 100;
/// Maximum number of characters of an ID.
pub const MAX_ID: usize = 100;
/// Maximum number of characters of other texts.
pub const MAX_TEXT: usize = 1_000;
/// Maximum number of digits of an amount before its point, which `f64` still holds exactly, and of decimal places.
pub const MAX_DIGITS: usize = 15;
pub const MAX_PLACES: usize = 20;

/// The currencies whose amounts at Stripe have no decimal places.
///
/// These are those of ISO 4217, but amounts in ISK and UGX have two places although these currencies have none.
/// Source: <https://docs.stripe.com/currencies>, "Zero-decimal currencies" and "Special cases".
pub const NO_PLACES: &[&str] = &[
    "BIF", "CLP", "DJF", "GNF", "JPY", "KMF", "KRW", "MGA", "PYG", "RWF", "VND", "VUV", "XAF",
    "XOF", "XPF",
];
/// The currencies whose amounts at Stripe have three decimal places.
pub const THREE_PLACES: &[&str] = &["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"];

type Paths = &'static [&'static str];
/// Conditions of which one must hold.
type Conditions = &'static [&'static str];
type Formulas = &'static [&'static str];

/// The table of one system.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Table {
    /// Whether amounts are whole numbers of the smallest unit of the currency.
    pub is_minor: bool,
    /// The kinds of bodies. The first counts whose conditions all hold, and that has what is read.
    pub bodies: &'static [BodyTable],
    pub order: OrderTable,
    pub sums: SumTable,
    pub lines: LineTable,
    pub refunds: RefundTable,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BodyTable {
    /// Conditions that must all hold.
    pub when: &'static [&'static str],
    pub kind: BodyKind,
    /// The path of the order, the refund or the order's ID.
    pub at: &'static str,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum BodyKind {
    Order,
    Refund,
    OrderId,
    #[serde(untagged)]
    Ignored(Ignored),
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderTable {
    pub id: Paths,
    pub number: Paths,
    pub currency: Paths,
    pub created: Paths,
    pub email: Paths,
    pub first_name: Paths,
    pub last_name: Paths,
    pub name: Paths,
    pub language: Paths,
    pub status: Paths,
    /// What the order's payment is. The first counts of which a condition holds, else [`Payment::Unpaid`].
    pub payments: &'static [(Payment, Conditions)],
    /// When the order is a test.
    pub test: Conditions,
    pub attributes: &'static [Attributes],
}

/// Where attributes are.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Attributes {
    /// The path of a list of objects, or of an object whose members are the attributes.
    pub at: &'static str,
    /// The path of the name in an object of the list; empty for an object.
    pub name: &'static str,
    /// The path of the text in an object of the list.
    pub text: &'static str,
}

/// The formulas of the [sums](super::Sums).
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SumTable {
    pub total: Formulas,
    pub goods_with_tax: Formulas,
    pub goods_without_tax: Formulas,
    pub discounted_with_tax: Formulas,
    pub discounted_without_tax: Formulas,
    pub shipping_with_tax: Formulas,
    pub shipping_without_tax: Formulas,
    pub gift_cards: Formulas,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LineTable {
    /// The path of the lines.
    pub at: &'static str,
    pub id: Paths,
    pub sku: Paths,
    /// The paths of the IDs of the product and its variant. Each may have one.
    pub products: Paths,
    pub title: Paths,
    pub quantity: Paths,
    pub gift_card: Conditions,
    pub tip: Conditions,
    pub deduction: Conditions,
    pub attributes: &'static [Attributes],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RefundTable {
    /// The path of the refunds in an order. The empty path is the order itself: it tells what was refunded in all.
    /// `None` if an order has no refunds.
    pub at: Option<&'static str>,
    /// The paths of the order's ID in a refund that comes alone.
    pub order: Paths,
    pub id: Paths,
    /// The path of the refunded lines.
    pub lines: &'static str,
    pub line: Paths,
    pub quantity: Paths,
    pub sum: Formulas,
    pub currency: Paths,
    pub whole: Conditions,
}
