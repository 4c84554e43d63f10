//! The settings of a shop's connection: how an order becomes pledges.

use super::json::Json;
use super::settings_issue::SettingsIssue;
use super::settings_table::SETTINGS;
use crate::pledges::decimal::Decimal;
use crate::pledges::types::NotificationService;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The default of [`Rule::cap`].
pub const DEFAULT_CAP: u32 = 1_000;

/// The settings of a connection. [`parse`](Self::parse) reads them from JSON, and refuses what the
/// [JSON Schema](super::settings_schema) does not allow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderSettings {
    pub rules: Vec<Rule>,
    /// The statuses of the shop system that count as paid; `None` for the system's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paid: Option<Vec<String>>,
    /// The template of the reference. `{number}` and `{id}` stand for those of the order.
    #[serde(default = "number")]
    pub reference: String,
    #[serde(default, skip_serializing_if = "TriggerSettings::is_empty")]
    pub trigger: TriggerSettings,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notifications: Vec<NotificationService>,
    /// The language of all pledges' details; `None` for the language of each order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Whether a refund in the shop credits its pledges.
    #[serde(default = "yes")]
    pub credits_refunds: bool,
}

/// How the pledges' trigger is described.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TriggerSettings {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phrase: Option<String>,
    /// The template of an address. `{number}` and `{id}` stand for those of the order, with percent-encoding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_url: Option<String>,
}

impl TriggerSettings {
    fn is_empty(&self) -> bool {
        *self == TriggerSettings::default()
    }
}

/// A rule that pledges towards one offering.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    pub offering_id: String,
    pub basis: Basis,
    /// The sum that the rule reads. The bases `sum` and `percent` need it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sum: Option<SumRule>,
    /// The largest amount for one order.
    #[serde(default = "default_cap")]
    pub cap: u32,
    /// Number of decimal places to which the amount is rounded down.
    #[serde(default)]
    pub fractions: u8,
    #[serde(default)]
    pub detail: RuleDetail,
    /// The detail in other languages, by language tag. A member that is absent is taken from `detail`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub translations: BTreeMap<String, RuleDetail>,
}

/// What a rule multiplies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Basis {
    /// An amount for each order.
    Order { amount: Decimal },
    /// An amount for each item: of all goods if both lists are empty, else of those listed.
    Item {
        amount: Decimal,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        skus: Vec<String>,
        /// IDs of products or variants.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        products: Vec<String>,
    },
    /// An amount for each full `every` of the sum.
    Sum { every: Decimal, amount: Decimal },
    /// A percentage of the sum, divided by the price of one unit in the currency of the sum.
    Percent { percent: Decimal, price: Decimal },
    /// The whole number in an attribute of the order, plus those in attributes of its lines.
    Choice { attribute: String },
}

/// The sum that a rule reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SumRule {
    /// The currency of the rule. Orders in other currencies are refused.
    pub currency: String,
    /// Whether tax counts.
    #[serde(default = "yes")]
    pub tax: bool,
    /// Whether shipping counts.
    #[serde(default)]
    pub shipping: bool,
    /// Whether discounts are deducted.
    #[serde(default = "yes")]
    pub discounts: bool,
    /// Whether the part that was paid with gift cards or store credit counts.
    #[serde(default = "yes")]
    pub gift_cards: bool,
    /// The smallest sum for which the rule pledges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Decimal>,
}

/// The description of a pledge (§2.5). Members have the names of the contract.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RuleDetail {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noun_singular: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noun_plural: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_url: Option<String>,
}

impl OrderSettings {
    /// Returns whether a rule reads the items of an order.
    pub fn reads_items(&self) -> bool {
        self.rules.iter().any(|rule| matches!(rule.basis, Basis::Item { .. }))
    }

    /// Parses the JSON of settings.
    ///
    /// # Errors
    /// All issues of the settings, at most 20.
    pub fn parse(json: &str) -> Result<Self, Vec<SettingsIssue>> {
        let tree =
            Json::parse(json.as_bytes()).map_err(|error| vec![SettingsIssue::of_body(error)])?;
        let issues = SETTINGS.check(&tree);
        if !issues.is_empty() {
            return Err(issues);
        }
        let settings = serde_json::from_str(json);
        settings.map_err(|error| {
            vec![SettingsIssue { path: String::new(), message: error.to_string() }]
        })
    }

    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() // texts and numbers never fail
    }
}

impl RuleDetail {
    /// Returns the detail with the members that it lacks taken from another.
    pub(super) fn or(&self, other: &RuleDetail) -> RuleDetail {
        let choose =
            |own: &Option<String>, other: &Option<String>| own.as_ref().or(other.as_ref()).cloned();
        RuleDetail {
            name: choose(&self.name, &other.name),
            description: choose(&self.description, &other.description),
            noun_singular: choose(&self.noun_singular, &other.noun_singular),
            noun_plural: choose(&self.noun_plural, &other.noun_plural),
            image: choose(&self.image, &other.image),
            external_id: choose(&self.external_id, &other.external_id),
            external_url: choose(&self.external_url, &other.external_url),
        }
    }
}

fn number() -> String {
    "{number}".to_owned()
}

fn yes() -> bool {
    true
}

fn default_cap() -> u32 {
    DEFAULT_CAP
}
