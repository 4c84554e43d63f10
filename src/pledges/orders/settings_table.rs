//! The table of a connection's settings. The check of settings and their JSON Schema come from it.

use super::json::Json;
use super::settings_field::{Checker, Field, Shape, optional, required};
use super::settings_issue::SettingsIssue;
use crate::pledges::schema::NOTIFICATION_TYPES;

/// The settings as a whole.
pub(super) struct SettingsTable(pub(super) &'static [Field]);

/// Maximum number of issues that are listed.
const MAX_ISSUES: usize = 20;

impl SettingsTable {
    /// Returns all issues of the settings, at most [`MAX_ISSUES`].
    pub(super) fn check(&self, json: &Json<'_>) -> Vec<SettingsIssue> {
        let mut checker = Checker { issues: Vec::new(), most: MAX_ISSUES };
        checker.check(json, &Shape::Object(self.0), "");
        checker.issues
    }
}

const TEXT: Shape = Shape::Text { most: 1_000 };
const SHORT_TEXT: Shape = Shape::Text { most: 100 };
const TEMPLATE: Shape = Shape::Text { most: 500 };
const BOOLEAN: Shape = Shape::Boolean;

pub(super) static SETTINGS: SettingsTable = SettingsTable(&[
    required(
        "rules",
        Shape::List(&Shape::Object(RULE), 50),
        "The rules. Each that matches an order makes one pledge.",
    ),
    optional(
        "paid",
        Shape::List(&SHORT_TEXT, 50),
        "The statuses of the shop system that count as paid. By default, those that the system itself means by paid.",
    ),
    optional(
        "reference",
        TEMPLATE,
        "The template of the reference. `{number}` and `{id}` stand for those of the order. Default: `{number}`.",
    ),
    optional(
        "trigger",
        Shape::Object(TRIGGER),
        "How the action that caused the pledges is described. Its date is that of the order.",
    ),
    optional(
        "notifications",
        Shape::List(&Shape::Choice(NOTIFICATION_TYPES), 3),
        "The services that notify the buyer. By default none.",
    ),
    optional(
        "language",
        Shape::Language,
        "The language of all details, such as `de`. By default, that of each order.",
    ),
    optional(
        "creditsRefunds",
        BOOLEAN,
        "Whether a refund in the shop credits its pledges. Default: true.",
    ),
]);

static TRIGGER: &[Field] = &[
    optional("phrase", TEXT, "A short verb phrase, such as `placed an order`."),
    optional(
        "externalUrl",
        TEMPLATE,
        "The template of the address of the order. `{number}` and `{id}` stand for those of the order.",
    ),
];

static RULE: &[Field] = &[
    required("offeringId", SHORT_TEXT, "The ID of the offering."),
    required("basis", Shape::OneOf(BASES), "What the rule counts: exactly one of its members."),
    optional(
        "sum",
        Shape::Object(SUM),
        "The sum that the rule reads. The bases `sum` and `percent` need it. For the other bases, its `from` decides whether the rule pledges.",
    ),
    optional(
        "cap",
        Shape::Integer { least: 1, most: 1_000_000 },
        "The largest amount for one order. Default: 1,000.",
    ),
    optional(
        "fractions",
        Shape::Integer { least: 0, most: 6 },
        "Number of decimal places to which the amount is rounded down. Default: 0, for whole units.",
    ),
    optional("detail", Shape::Object(DETAIL), "The description of the pledge."),
    optional(
        "translations",
        Shape::Map(&Shape::Object(DETAIL), 50),
        "The description in other languages, by language tag, such as `de`. A member that is absent is taken from `detail`.",
    ),
];

static BASES: &[Field] = &[
    optional("order", Shape::Object(ORDER), "An amount for each order."),
    optional("item", Shape::Object(ITEM), "An amount for each item of the order."),
    optional("sum", Shape::Object(EACH), "An amount for each full part of the sum."),
    optional(
        "percent",
        Shape::Object(PERCENT),
        "A percentage of the sum, divided by the price of one unit.",
    ),
    optional("choice", Shape::Object(CHOICE), "The whole number that the buyer chose."),
];

static ORDER: &[Field] =
    &[required("amount", Shape::Positive, "The amount for each order, such as `1`.")];

static ITEM: &[Field] = &[
    required("amount", Shape::Positive, "The amount for each item, such as `1`."),
    optional("skus", Shape::List(&SHORT_TEXT, 1_000), "Only items with these SKUs count."),
    optional(
        "products",
        Shape::List(&SHORT_TEXT, 1_000),
        "Only items with these IDs of a product or variant count.",
    ),
];

static EACH: &[Field] = &[
    required("every", Shape::Positive, "The part of the sum, such as `10.00`."),
    required("amount", Shape::Positive, "The amount for each full part, such as `1`."),
];

static PERCENT: &[Field] = &[
    required("percent", Shape::Positive, "The percentage of the sum, such as `1.5`."),
    required(
        "price",
        Shape::Positive,
        "The price of one unit, in the currency of the sum, such as `0.50`.",
    ),
];

static CHOICE: &[Field] = &[required(
    "attribute",
    SHORT_TEXT,
    "The name of the attribute of the order or of its lines that has the number.",
)];

static SUM: &[Field] = &[
    required(
        "currency",
        Shape::Currency,
        "The currency of the sum, such as `EUR`. The rule skips orders in other currencies.",
    ),
    optional("tax", BOOLEAN, "Whether tax counts. Default: true."),
    optional("shipping", BOOLEAN, "Whether shipping counts. Default: false."),
    optional("discounts", BOOLEAN, "Whether discounts are deducted. Default: true."),
    optional(
        "giftCards",
        BOOLEAN,
        "Whether the part that was paid with gift cards or store credit counts. Default: true. Gift cards that the buyer bought never count.",
    ),
    optional(
        "from",
        Shape::Positive,
        "The smallest sum for which the rule pledges, such as `20.00`.",
    ),
];

static DETAIL: &[Field] = &[
    optional("name", TEXT, "Name of the item."),
    optional("description", TEXT, "Description of the item."),
    optional("nounSingular", TEXT, "Singular noun for the item category."),
    optional("nounPlural", TEXT, "Plural noun for the item category."),
    optional("image", Shape::Uri, "The URL of an image."),
    optional("externalId", TEXT, "The shop's ID of the item."),
    optional("externalUrl", Shape::Uri, "The URL of the item."),
];
