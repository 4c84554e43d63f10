//! A month's transactions and their sums, for the accounts.

use super::Outcome;
use super::transactions::{Metadata, Record, Row, Wanted, each};
use crate::decimal::{Decimal, text_as_money};
use crate::pledge::CurrencyCode;
use crate::scope::Mode;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Export {
    #[serde(flatten)]
    wanted: Wanted,
    /// Such as `2026-11`, in UTC.
    month: String,
    records: Vec<Record>,
    /// Of the pages before.
    sums: Vec<Sum>,
}

/// What the transactions of a unit and mode come to in a currency.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sum {
    unit: String,
    mode: Mode,
    currency_code: CurrencyCode,
    transactions: u64,
    unpriced: usize,
    amount: String,
}

/// `{unit?, mode?, month, records, sums}` → `{rows, sums, unread, damaged}`.
pub(super) fn export(input: &str) -> Outcome {
    let Export { wanted, month, records, sums } = serde_json::from_str(input)?;
    let mut rows = Vec::new();
    let mut damaged = Vec::new();
    let needs_value = |metadata: &Metadata| !metadata.has_charge();
    let rest = each(
        &records,
        |metadata| wanted.has(metadata),
        needs_value,
        |record, metadata, transaction| {
            let summary = metadata.completed(transaction);
            if !summary.created_at.as_ref().is_some_and(|time| time.starts_with(&month)) {
                return;
            }
            match summary.amount.as_deref().and_then(charge) {
                Some(amount) => rows.push((Row::new(record, metadata, summary), amount)),
                None => damaged.push(record.name.clone()),
            }
        },
    );
    let sums = added(sums, &rows);
    let rows: Vec<_> = rows.into_iter().map(|(row, _)| row).collect();
    damaged.extend(rest.damaged);
    Ok(json!({ "rows": rows, "sums": sums, "unread": rest.unread, "damaged": damaged }))
}

/// A charge as a plain decimal: an exponent could ask for gigabytes.
fn charge(text: &str) -> Option<Decimal> {
    text_as_money(text).and_then(|money| Decimal::parse(&money))
}

/// The sums of the pages before and of these rows, in the order of unit, mode and currency.
fn added(before: Vec<Sum>, rows: &[(Row, Decimal)]) -> Vec<Sum> {
    let key = |unit: &str, mode: Mode, currency: CurrencyCode| {
        (unit.to_owned(), mode.is_live(), json!(currency).to_string())
    };
    let of_sum = |sum: Sum| {
        let amount = charge(&sum.amount).into_iter().collect();
        (key(&sum.unit, sum.mode, sum.currency_code), (sum, amount))
    };
    let mut groups: BTreeMap<_, (Sum, Vec<Decimal>)> = before.into_iter().map(of_sum).collect();
    for (row, amount) in rows {
        let Some(currency_code) = row.currency_code else { continue };
        let (sum, amounts) =
            groups.entry(key(&row.unit, row.mode, currency_code)).or_insert_with(|| {
                let (unit, mode) = (row.unit.clone(), row.mode);
                let amount = String::new();
                (Sum { unit, mode, currency_code, transactions: 0, unpriced: 0, amount }, vec![])
            });
        sum.transactions += 1;
        sum.unpriced += row.unpriced;
        amounts.push(amount.clone());
    }
    let sum =
        |(sum, amounts): (Sum, Vec<Decimal>)| Sum { amount: total(amounts).to_money(), ..sum };
    groups.into_values().map(sum).collect()
}

fn total(amounts: Vec<Decimal>) -> Decimal {
    let one = Decimal::parse("1");
    Decimal::sum_of_products(amounts.into_iter().zip(one.iter().cycle()))
}
