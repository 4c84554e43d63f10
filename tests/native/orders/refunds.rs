use super::each_row;
use impact_pledge::pledges::orders::{Frozen, Order, OrderSettings, Refund, differences, freeze};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    order: String,
    #[serde(default)]
    at: BTreeMap<String, Value>,
    settings: Value,
    /// The refunds of each later event, with what all refunds until then credit.
    events: Vec<Event>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Event {
    refunds: Vec<Refund>,
    /// Whether the event changes what is known.
    changes: bool,
    refunded: Value,
}

#[test]
fn every_refund_credits_what_was_pledged_for_it() {
    each_row("refunds", |file, orders, row: Row| {
        let name = format!("{file}: {}", row.name);
        let order: Order = serde_json::from_value(orders.get(&row.order, &row.at)).expect(&name);
        let settings = OrderSettings::parse(&row.settings.to_string()).expect(&name);
        let mut frozen = freeze(&order, &settings, "hash".to_owned());
        for (index, event) in row.events.iter().enumerate() {
            assert_eq!(frozen.merge(&event.refunds), event.changes, "{name}, event {index}");
            let text = serde_json::to_string(&frozen).unwrap();
            frozen = serde_json::from_str::<Frozen>(&text).unwrap();
            assert_eq!(json!(frozen.refunded()), event.refunded, "{name}, event {index}");
        }
    });
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Changed {
    name: String,
    order: String,
    settings: Value,
    /// The changes of the later order.
    later: BTreeMap<String, Value>,
    #[serde(default)]
    other_person: bool,
    differences: Vec<String>,
}

#[test]
fn every_change_of_an_order_is_named() {
    each_row("differences", |file, orders, row: Changed| {
        let name = format!("{file}: {}", row.name);
        let read = |changes| {
            serde_json::from_value::<Order>(orders.get(&row.order, changes)).expect(&name)
        };
        let settings = OrderSettings::parse(&row.settings.to_string()).expect(&name);
        let none = BTreeMap::new();
        let frozen = freeze(&read(&none), &settings, "hash".to_owned());
        let later = read(&row.later);
        let person = if row.other_person { "other" } else { "hash" };
        let found = differences(&frozen, &later, person);
        let found: Vec<_> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found, row.differences, "{name}");
    });
}

#[test]
fn what_is_frozen_has_no_personal_data() {
    each_row("differences", |_, orders, row: Changed| {
        let order: Order =
            serde_json::from_value(orders.get(&row.order, &BTreeMap::new())).unwrap();
        let settings = OrderSettings::parse(&row.settings.to_string()).unwrap();
        let text = serde_json::to_string(&freeze(&order, &settings, "hash".to_owned())).unwrap();
        for personal in ["ada@example.org", "Ada", "Happy birthday", "A.E."] {
            assert!(!text.contains(personal), "{personal}: {text}");
        }
    });
}
