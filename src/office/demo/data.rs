//! The demo's shops, recipients, pledges and prices.

use crate::office::shops::rule::units::ProfileMembers;
use crate::pledges::charge::PriceList;
use crate::pledges::scope::Scope;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

#[derive(Deserialize)]
pub(super) struct Demo {
    pub(super) teams: BTreeMap<String, Vec<String>>,
    pub(super) profiles: BTreeMap<String, ProfileMembers>,
    /// Two price lists: an old one, and the one that applies today.
    pub(super) prices: (PriceList, PriceList),
    /// The shops. The demo's transactions use them in turn.
    pub(super) shops: Vec<Shop>,
    pub(super) earlier: EarlierOrder,
    pub(super) people: Vec<Box<RawValue>>,
    pub(super) baskets: Baskets,
}

/// An order from the previous month. The demo shop links to its timeline.
#[derive(Deserialize)]
pub(super) struct EarlierOrder {
    pub(super) shop: Shop,
    pub(super) reference: String,
    pub(super) recipient: Box<RawValue>,
    pub(super) pledges: Box<RawValue>,
}

/// The pledges that the demo's orders contain, by the shop's language.
pub(super) type Baskets = BTreeMap<String, Vec<Box<RawValue>>>;

#[derive(Deserialize)]
pub(super) struct Shop {
    pub(super) key: String,
    #[serde(flatten)]
    pub(super) scope: Scope,
    /// The prefix of the shop's order references.
    pub(super) order: String,
    #[serde(default = "english")]
    pub(super) language: String,
    /// What a buyer did, such as `placed an order`.
    #[serde(default = "placed_an_order")]
    pub(super) phrase: String,
}

fn english() -> String {
    "en".to_owned()
}

fn placed_an_order() -> String {
    "placed an order".to_owned()
}

impl Shop {
    pub(super) fn reference(&self, number: u64) -> String {
        format!("{}-{}", self.order, 1001 + number)
    }
}
