//! The rows of the ledger, as the rules read them.

use crate::database::{Database, json};
use crate::exact::{exact, quantity};
use crate::times::virtual_ms;
use futures_executor::block_on;
use impact_pledge::office::system::rows::state;
use num_bigint::BigUint;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use support::ledger::SqliteLedger;

/// Returns when the last complete reconciliation pass began, in milliseconds of virtual time.
pub fn completed_ms(database: &Database) -> Option<u64> {
    block_on(state::state(database.sqlite())).unwrap().completed.map(virtual_ms)
}

/// Returns the rows of all transactions by ID.
pub fn rows(database: &Database) -> BTreeMap<String, Value> {
    rows_of(database.sqlite())
}

/// As [`rows`], in the middle of a commit.
pub fn rows_of(sqlite: &SqliteLedger) -> BTreeMap<String, Value> {
    let rows = json(
        sqlite,
        "SELECT json_object('id', t.id, 'mode', mode, 'unit', unit, 'created', created, 'currency', currency,
  'cents', cents, 'amount', amount, 'unpriced', unpriced, 'email', email, 'reference', reference, 'key', k.id, 'prices', prices,
  'erased', erased, 'changed', changed, 'quantities', json(quantities))
FROM transactions t JOIN scopes USING (scope) LEFT JOIN keys k USING (key)",
    );
    rows.into_iter().map(|row| (row["id"].as_str().unwrap().to_owned(), row)).collect()
}

/// A credit as the ledger's database stores it.
#[derive(Clone, Debug, PartialEq)]
pub struct Row(Value);

/// Returns all credits of the ledger, by the hashes of their operation IDs.
pub fn credit_rows(database: &Database) -> Rows {
    credits_of(database.sqlite())
}

/// As [`credit_rows`], in the middle of a commit.
pub fn credits_of(sqlite: &SqliteLedger) -> Rows {
    let rows = json(
        sqlite,
        "SELECT json_object('operation', operation, 'id', id, 'number', number, 'mode', mode, 'unit', unit,
  'order_month', order_month, 'booked_month', booked_month, 'currency', currency, 'charge_cents', charge_cents,
  'charge_amount', charge_amount, 'cents', cents, 'amount', amount, 'quantities', json(quantities), 'change', change,
  'at', at) FROM credits",
    );
    rows.into_iter().map(|row| (text(&row["operation"]), Row(row))).collect()
}

/// Returns the payments of all months that are marked as paid, by their names.
pub fn payments_of(sqlite: &SqliteLedger) -> BTreeMap<String, Value> {
    let payments = "SELECT json_array(name, json(content)) FROM published
WHERE name LIKE 'settlement:%' AND content IS NOT NULL";
    let payments = json(sqlite, payments).into_iter();
    payments.map(|row| (text(&row[0]), row[1].clone())).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

impl Row {
    pub fn text(&self, member: &str) -> String {
        text(&self.0[member])
    }

    /// Returns the credited amount.
    pub fn amount(&self) -> BigUint {
        let cents = self.0["cents"].as_u64().map(|cents| format!("{cents}e-2"));
        exact(&cents.unwrap_or_else(|| self.text("amount")))
    }

    pub fn quantities(&self) -> impl Iterator<Item = (String, BigUint)> {
        self.0["quantities"].as_array().into_iter().flatten().filter_map(quantity)
    }

    /// Whether the credit counts: an order without a row counts in no month, and so does its credit in the same month.
    pub fn is_counted(&self, rows: &BTreeMap<String, Value>) -> bool {
        self.text("booked_month") != self.text("order_month") || rows.contains_key(&self.text("id"))
    }

    /// Returns the month whose dues the credit reduces, in the form `mode:unit:month`.
    pub fn shop_month(&self) -> String {
        let [mode, unit, month] = ["mode", "unit", "booked_month"].map(|member| self.text(member));
        format!("{mode}:{unit}:{month}")
    }

    /// Whether the credit reduces what a shop owes for a month in this currency.
    pub fn is_booked(&self, shop_month: &str, currency: &str) -> bool {
        self.shop_month() == shop_month && self.text("currency") == currency
    }
}

pub type Rows = BTreeMap<String, Row>;

/// What the rules remember from the previous check.
#[derive(Default)]
pub struct Watch {
    /// When the transaction of each row was created, in milliseconds since 1970.
    pub rows: BTreeMap<String, u64>,
    /// The rows that were removed.
    pub removed: BTreeSet<String>,
    /// The rows that were found to equal their records in KV. Each has two times: when the row was changed, and
    /// when its record arrived in KV.
    pub right: RefCell<BTreeMap<String, (u64, u64)>>,
    pub credits: Rows,
    /// How many times the ledger had been emptied at the previous check.
    pub emptied: usize,
}
