//! The rules for credits. `credits.rs` has two further rules, about what an answer says and about the month in
//! which a credit is booked. It checks them when an answer arrives.

use crate::books::Books;
use crate::case::transaction_name;
use crate::exact::exact;
use crate::kv::Kv;
use crate::ledger_rows::{Row, Rows};
use crate::ledger_sums::kept_quantities;
use crate::months::{ENDS, SHOP, settlement};
use crate::rule::Wrong;
use num_bigint::BigUint;
use serde_json::Value;
use std::collections::BTreeMap;

/// Checks that a transaction's credits exceed neither its charge nor its quantities. If concurrent create
/// requests wrote the transaction with different charges, the highest charge counts.
pub fn no_order_is_credited_beyond_itself(kv: &Kv, rows: &Rows) -> Wrong {
    let mut orders = BTreeMap::<String, (BigUint, BTreeMap<String, BigUint>)>::new();
    for row in rows.values() {
        let (amount, quantities) = orders.entry(row.text("id")).or_default();
        *amount += row.amount();
        for (offering, quantity) in row.quantities() {
            *quantities.entry(offering).or_default() += quantity;
        }
    }
    let versions = kv.versions.borrow();
    orders.into_iter().find_map(|(id, (amount, quantities))| {
        let versions = versions.get(&format!("transaction:{id}")).into_iter().flatten();
        let records: Vec<_> = versions.filter_map(|version| version.held.as_ref()).collect();
        let charge = |json: &Value| exact(json["charge"]["amount"].as_str().unwrap_or("0"));
        let charge = records.iter().map(|record| charge(record.json())).max()?;
        if amount > charge {
            return Some(format!("more than the charge of {id} is credited"));
        }
        let pledged = kept_quantities(records.last()?.json());
        let none = BigUint::default();
        let mut beyond = quantities
            .iter()
            .filter(|(offering, quantity)| *quantity > pledged.get(*offering).unwrap_or(&none));
        beyond
            .next()
            .map(|(offering, _)| format!("more {offering} of {id} is credited than pledged"))
    })
}

/// Checks that a credit never changes after it was written.
pub fn no_credit_changes(before: &Rows, rows: &Rows) -> Wrong {
    let changed = before.iter().find(|(operation, row)| rows.get(*operation) != Some(row))?;
    Some(format!("{changed:?} is {:?}", rows.get(changed.0)))
}

/// Checks the credits of each month that is marked as paid. Their sum must equal the sum that the payment
/// states. Skips months with a credited order that a list has omitted by mistake, or that was damaged when
/// it was read: the order is then not in the ledger, and its credit does not count.
pub fn a_settled_month_has_the_credits_that_it_states(books: &Books, rows: &Rows) -> Wrong {
    let (kv, payments) = (&books.kv, books.database.published.borrow());
    ENDS.iter().map(|(month, _)| settlement(SHOP, month)).find_map(|name| {
        let payment = payments.get(&name)?.last()?.content.as_ref()?;
        let shop = name.trim_start_matches("settlement:");
        let sums = payment["sums"].as_array().cloned().unwrap_or_default();
        let stated = |currency: &str| {
            let sum = sums.iter().find(|sum| sum["currencyCode"] == currency);
            exact(sum.and_then(|sum| sum["credits"]["credited"].as_str()).unwrap_or("0"))
        };
        let is_hidden = |row: &Row| kv.hidden_ms(&transaction_name(&row.text("id"))).is_some();
        if rows.values().any(|row| row.shop_month() == shop && is_hidden(row)) {
            return None;
        }
        let wrong = ["EUR", "USD"].into_iter().find(|currency| {
            booked(rows, shop, currency).unwrap_or_default() != stated(currency)
        })?;
        Some(format!("the credits of {name} in {wrong} are not those of {sums:?}"))
    })
}

/// Checks that the ledger contains no credit whose requests were all refused.
pub fn no_refused_credit_is_there(books: &Books, rows: &Rows) -> Wrong {
    let wanted = books.credits.borrow();
    let refused = wanted.iter().filter(|wanted| wanted.is_refused());
    let mut there = refused.map(|wanted| wanted.operation()).filter(|own| rows.contains_key(own));
    there.next().map(|operation| format!("{:?} is", rows.get(&operation)))
}

/// Returns the sum of the credits that reduce what a shop owes for a month; `None` if no credit does.
pub fn booked(rows: &Rows, shop: &str, currency: &str) -> Option<BigUint> {
    let own = rows.values().filter(|row| row.is_booked(shop, currency));
    own.map(Row::amount).reduce(|sum, amount| sum + amount)
}
