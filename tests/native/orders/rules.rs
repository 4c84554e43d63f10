use super::each_row;
use impact_pledge::pledges::orders::{OrderSettings, pledge};
use impact_pledge::pledges::types::PledgeTransactionRequest;
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
    /// Replaces the order's lines by so many copies of its first line.
    lines: Option<u32>,
    settings: Value,
    #[serde(default)]
    live: bool,
    body: Option<Value>,
    quantities: Option<Value>,
    #[serde(default)]
    capped: Vec<Value>,
    #[serde(default)]
    skipped: Vec<Value>,
    reason: Option<Value>,
    says: Option<String>,
}

#[test]
fn every_order_makes_its_pledge() {
    each_row("rules", |file, orders, row: Row| {
        let name = format!("{file}: {}", row.name);
        let mut order = orders.get(&row.order, &row.at);
        if let Some(count) = row.lines {
            let line = |id: u32| {
                let mut line = order["lines"][0].clone();
                line["id"] = id.to_string().into();
                line
            };
            order["lines"] = (0..count).map(line).collect();
        }
        let order = serde_json::from_value(order).expect(&name);
        let settings = OrderSettings::parse(&row.settings.to_string()).expect(&name);
        match pledge(&order, &settings, row.live) {
            Ok(pledge) => {
                assert_eq!(row.reason, None, "{name}: {pledge:?}");
                let body: Value = serde_json::from_str(&pledge.body).unwrap();
                assert!(row.body.is_none_or(|expected| expected == body), "{name}: {body}");
                assert_eq!(
                    row.quantities.map_or(json!(pledge.quantities), |expected| expected),
                    json!(pledge.quantities),
                    "{name}"
                );
                assert_eq!(json!(row.capped), json!(pledge.capped), "{name}");
                assert_eq!(json!(row.skipped), json!(pledge.skipped), "{name}");
                assert!(
                    PledgeTransactionRequest::parse(pledge.body.as_bytes(), 1).is_ok(),
                    "{name}"
                );
            }
            Err(reason) => {
                assert_eq!(row.reason, Some(json!(reason)), "{name}");
                assert_eq!(
                    row.says.unwrap_or_else(|| reason.to_string()),
                    reason.to_string(),
                    "{name}"
                );
            }
        }
    });
}
