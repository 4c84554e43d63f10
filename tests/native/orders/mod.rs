//! Tests how orders of shop systems are read, and what they pledge.

mod properties;
mod read;
mod refunds;
mod rules;
mod settings;
mod verify;

use crate::fixtures;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File<R> {
    about: String,
    /// Orders by name, which rows refer to.
    #[serde(default)]
    orders: BTreeMap<String, Value>,
    rows: Vec<R>,
}

/// Calls `check` for each row of a folder in `tests/fixtures/orders`, with the name of its file and that file's orders.
#[track_caller]
fn each_row<R: DeserializeOwned>(folder: &str, check: impl Fn(&str, &Orders, R)) {
    let files = fixtures::files::<File<R>>(&format!("orders/{folder}"));
    assert!(files.iter().all(|(_, file)| !file.about.is_empty() && !file.rows.is_empty()));
    for (name, file) in files {
        let orders = Orders(file.orders);
        file.rows.into_iter().for_each(|row| check(&name, &orders, row));
    }
}

struct Orders(BTreeMap<String, Value>);

impl Orders {
    /// Returns the order with this name, after changes of its members by JSON Pointer. `null` removes a member.
    #[track_caller]
    fn get(&self, name: &str, changes: &BTreeMap<String, Value>) -> Value {
        let mut order = self.0[name].clone();
        for (pointer, value) in changes {
            fixtures::put(
                &mut order,
                pointer,
                Some(value.clone()).filter(|value| !value.is_null()),
            );
        }
        order
    }
}
