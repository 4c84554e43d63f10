//! Computes from KV's records what the ledger must contain, with integers of any size.

use crate::books::Books;
use crate::exact::{exact, quantity};
use crate::kv::{Kv, Record};
use crate::ledger_rows::rows;
use crate::months::MONTHS;
use crate::payload::REFERENCE;
use crate::rule::Wrong;
use crate::simulation::Simulation;
use crate::times::created_ms;
use futures_executor::block_on;
use impact_pledge::office::fulfilment::rows::quantities;
use impact_pledge::office::payments::rows::sums;

use impact_pledge::pledges::scope::Scope;
use impact_pledge::pledges::settlement::{Month, ScopeMonth};
use num_bigint::BigUint;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::rc::Rc;

/// An erasure replaces an offering's ID with this text if the offering's ID contains the order's number.
const ERASED: &str = "erased";
// ---- Rows ----------------------------------------------------------------------------------------

/// Compares a row with its record, and returns what is wrong.
pub fn wrong_row(row: &Value, record: &Record) -> Wrong {
    let (metadata, value) = (record.metadata_json(), record.json());
    let summary = &metadata["summary"];
    let erased = created_ms(&summary["erased"]);
    let email = summary["lookup"]["email"].as_str().filter(|_| erased.is_none());
    let reference = summary["lookup"]["order"].as_str().filter(|_| erased.is_none());
    let expected = json!({
        "mode": metadata["mode"], "unit": metadata["unit"], "created": created_ms(&value["createdAt"]),
        "currency": value["charge"]["currencyCode"], "unpriced": summary["unpriced"].as_u64().unwrap_or(0),
        "email": email, "reference": reference, "key": summary["key"], "prices": created_ms(&summary["prices"]), "erased": erased,
    });
    let members = expected.as_object().unwrap().iter();
    if let Some((name, value)) = members.into_iter().find(|(name, value)| row[*name] != **value) {
        return Some(format!("`{name}` is not {value} in {row}"));
    }
    let amount = exact(value["charge"]["amount"].as_str()?);
    let own = row["cents"].as_u64().map(|cents| format!("{cents}e-2"));
    let own = own.or_else(|| row["amount"].as_str().map(str::to_owned))?;
    if exact(&own) != amount {
        return Some(format!("the amount is not {} in {row}", value["charge"]["amount"]));
    }
    let quantities = row["quantities"].as_array().into_iter().flatten();
    let quantities: BTreeMap<_, _> = quantities.filter_map(quantity).collect();
    (quantities != pledged(value))
        .then(|| format!("the quantities are not those of {value} in {row}"))
}

/// Returns an offering's ID as a row stores it. If the ID has more than 256 bytes, it is cut, and its hash is
/// appended.
fn short(offering: &str) -> String {
    const MOST: usize = 256;
    if offering.len() <= MOST {
        return offering.to_owned();
    }
    let end = format!("…{}", base16ct::lower::encode_string(&Sha256::digest(offering)));
    let starts = offering.char_indices().map(|(at, _)| at);
    let cut = starts.take_while(|at| at + end.len() <= MOST).last().unwrap_or_default();
    let (start, _) = offering.split_at(cut);
    start.to_owned() + &end
}

/// Returns the quantities of a record by offering, as they are after an erasure. Offerings whose IDs name the
/// order are summed under the ID `erased`.
pub fn kept_quantities(value: &Value) -> BTreeMap<String, BigUint> {
    let mut kept = BTreeMap::new();
    for (offering, quantity) in pledged(value) {
        let is_personal = offering.contains(REFERENCE);
        let name = if is_personal { ERASED.to_owned() } else { offering };
        *kept.entry(name).or_default() += quantity;
    }
    kept
}

/// Returns the quantities of a record by offering.
fn pledged(value: &Value) -> BTreeMap<String, BigUint> {
    let mut sums = BTreeMap::<String, BigUint>::new();
    for pledge in value["pledges"].as_array().into_iter().flatten() {
        let impact = &pledge["impact"];
        let offering = short(impact["offeringId"].as_str().unwrap_or_default());
        *sums.entry(offering).or_default() += exact(&impact["amount"].to_string());
    }
    sums
}

/// Checks that the ledger has exactly one row for each record, with the record's values, after the last
/// reconciliation pass.
pub fn the_ledger_is_what_kv_has(simulation: &Simulation, books: &Books) -> Wrong {
    let mut rows = rows(&books.database);
    for (name, record) in simulation.kv.last_of("transaction:") {
        let id = name.trim_start_matches("transaction:");
        let Some(row) = rows.remove(id) else { return Some(format!("{id} is missing")) };
        if let Some(wrong) = wrong_row(&row, &record) {
            return Some(wrong);
        }
    }
    rows.into_keys().next().map(|id| format!("{id} has no record"))
}

// ---- Sums ----------------------------------------------------------------------------------------

/// Sums by month, unit, mode and currency: the number of transactions, the number of unpriced pledges, and
/// the charges.
pub type Charges = BTreeMap<[String; 4], (u64, u64, BigUint)>;
/// Sums by month, mode and offering: the number of transactions, and the quantities.
pub type Pledged = BTreeMap<[String; 3], (u64, BigUint)>;

/// Sums the charges of KV's records.
pub fn charges_of(kv: &Kv) -> Charges {
    let mut charges = Charges::new();
    for ([month, unit, mode], record) in records(kv) {
        let (metadata, value) = (record.metadata_json(), record.json());
        let group = [month, unit, mode, text(&value["charge"]["currencyCode"])];
        let unpriced = metadata["summary"]["unpriced"].as_u64().unwrap_or(0);
        let sum = charges.entry(group).or_default();
        *sum = (sum.0 + 1, sum.1 + unpriced, &sum.2 + exact(&text(&value["charge"]["amount"])));
    }
    charges
}

/// Sums the quantities of KV's records.
pub fn pledged_of(kv: &Kv) -> Pledged {
    let mut sums = Pledged::new();
    for ([month, _, mode], record) in records(kv) {
        for (offering, quantity) in pledged(record.json()) {
            let sum = sums.entry([month.clone(), mode.clone(), offering]).or_default();
            *sum = (sum.0 + 1, &sum.1 + quantity);
        }
    }
    sums
}

/// Returns the records of all transactions with their month, unit and mode.
fn records(kv: &Kv) -> impl Iterator<Item = ([String; 3], Rc<Record>)> {
    kv.last_of("transaction:").into_iter().filter_map(|(_, record)| {
        let month = created_ms(&record.json()["createdAt"]).and_then(Month::at)?;
        let metadata = record.metadata_json();
        Some(([month.to_string(), text(&metadata["unit"]), text(&metadata["mode"])], record))
    })
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Checks that the ledger's sums count each transaction once, and are exact.
pub fn sums_are_those_of_kv(simulation: &Simulation, books: &Books) -> Wrong {
    let (charges, quantities) = (charges_of(&simulation.kv), pledged_of(&simulation.kv));
    let sqlite = books.database.sqlite();
    let months: Vec<_> = MONTHS.iter().filter_map(|month| Month::parse(month)).collect();
    let found = block_on(sums::sums(sqlite, None, None, &months)).unwrap().into_iter().map(|sum| {
        let ScopeMonth { scope: Scope { unit, mode }, month } = sum.of;
        let shop = [month.to_string(), unit, mode.name().to_owned(), sum.currency_code];
        (shop, (sum.transactions, sum.unpriced as u64, exact(&sum.amount)))
    });
    let wrong = difference(&charges, &found.collect());
    let found = block_on(quantities::quantities(sqlite, None, None, &months, 1_000)).unwrap();
    let found = found.into_iter().map(|sum| {
        let group = [sum.month.to_string(), sum.mode.name().to_owned(), sum.offering];
        (group, (sum.transactions, exact(&sum.quantity)))
    });
    wrong.or_else(|| difference(&quantities, &found.collect()))
}

pub fn difference<K: Ord + std::fmt::Debug, V: PartialEq>(
    expected: &BTreeMap<K, V>,
    found: &BTreeMap<K, V>,
) -> Wrong {
    let mut keys = expected.keys().chain(found.keys());
    let wrong = keys.find(|key| expected.get(key) != found.get(key))?;
    Some(format!("the sum of {wrong:?} is another one"))
}
