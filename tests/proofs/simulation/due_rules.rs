//! The rules for what shops owe, checked at the end of a simulation.
//!
//! For a month, a shop owes its charges, less its credits, less the excess of credits from earlier months. If
//! the month is marked as paid, its settlement states how much of the excess was deducted.

use crate::books::{Books, Told};
use crate::credit_rules::booked;
use crate::exact::{exact, exact_text};
use crate::ledger_rows::{Rows, credits_of, payments_of, rows_of};
use crate::ledger_sums::{Charges, charges_of};
use crate::months::{MONTHS, settlement};
use crate::rule::Wrong;
use crate::simulation::Simulation;
use impact_pledge::office::orders::rule::TransactionFilter;
use impact_pledge::office::payments::rule::dues::{Due, dues};
use impact_pledge::office::payments::rule::usage::MonthUsage;
use impact_pledge::office::shared::rule::coverage::Coverage;
use impact_pledge::pledges::settlement::Month;
use num_bigint::BigUint;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use support::ledger::SqliteLedger;

/// A shop in one currency: the mode, the unit and the currency.
type Shop = (String, String, String);
/// The sums of a month: its charges, its credits, the excess of credits from earlier months, and what is due.
type Parts = [BigUint; 4];

impl Books {
    /// Asks what is due: first for all months together, then for each month.
    pub async fn ask_dues(&self, coverage: &Coverage) -> Told {
        let months: Vec<_> = MONTHS.iter().filter_map(|month| Month::parse(month)).collect();
        let asked = [&months[..]].into_iter().chain(months.chunks(1));
        let mut answers = vec![];
        for months in asked {
            let filter = TransactionFilter::default();
            let told = dues(&self.database, &filter, months, coverage).await;
            answers.push(told.map_err(|error| error.to_string()));
        }
        answers
    }
}

/// Checks that what is due in each month of a shop follows from charges, credits and settlements.
///
/// One case needs care. If an interrupted create request is repeated in a later month, its transaction moves to
/// that month. The transaction's credits stay in the earlier month, where they are an excess.
pub fn dues_follow_from_charges_and_credits(simulation: &Simulation, books: &Books) -> Wrong {
    dues_follow(simulation, books, &books.dues.borrow(), None)
}

/// Checks answers to the question of what is due. `from` is the first month that the ledger keeps; `None` if it
/// keeps all. Of the months before `from`, only settlements count.
pub fn dues_follow(
    simulation: &Simulation,
    books: &Books,
    told: &Told,
    from: Option<&str>,
) -> Wrong {
    let sqlite = books.database.sqlite();
    let known = Known {
        charges: charges_of(&simulation.kv),
        credits: credits_of(sqlite),
        payments: payments_of(sqlite),
    };
    let expected = expected(&known, from);
    for _ in expected.values().filter(|[_, _, carried, _]| *carried > BigUint::default()) {
        books.count("an excess is carried");
    }
    let mut wrong = told.iter().map(|told| wrong_dues(&expected, told));
    wrong.find_map(|wrong| wrong).or_else(|| match told.first() {
        Some(Ok(all)) => missing(&expected, &sums(all)),
        _ => Some("nobody was told what is due".to_owned()),
    })
}

type Sums = BTreeMap<(Shop, String), Parts>;

fn sums(usages: &[MonthUsage]) -> Sums {
    let sums = usages.iter().flat_map(|usage| {
        let mode = usage.of.scope.mode.name().to_owned();
        usage.sums.iter().map(move |due| {
            let shop = (mode.clone(), usage.of.scope.unit.clone(), due.currency_code.clone());
            ((shop, usage.of.month.to_string()), parts(due))
        })
    });
    sums.collect()
}

fn missing(expected: &Sums, found: &Sums) -> Wrong {
    let mut missing = expected.keys().filter(|key| !found.contains_key(*key));
    missing.next().map(|key| format!("what is due for {key:?} is missing"))
}

fn wrong_dues(expected: &Sums, told: &Result<Vec<MonthUsage>, String>) -> Wrong {
    let found = match told {
        Ok(usages) => sums(usages),
        Err(error) => return Some(error.clone()),
    };
    let mut wrong = found.iter().filter(|(key, parts)| expected.get(*key) != Some(*parts));
    let (key, parts) = wrong.next()?;
    let expected = expected.get(key).map(in_words);
    Some(format!("of {key:?} {} is due, not {expected:?}", in_words(parts)))
}

fn parts(due: &Due) -> Parts {
    [&due.amount, &due.credited, &due.carried, &due.due].map(|text| exact(text))
}

/// What decides about the amounts that are due.
struct Known {
    charges: Charges,
    credits: Rows,
    /// The payments of the months that are marked as paid, by name.
    payments: BTreeMap<String, Value>,
}

/// Computes what is due in each month of each shop, as [`dues_follow`] describes it.
fn expected(known: &Known, from: Option<&str>) -> Sums {
    let Known { charges, credits, payments } = known;
    let settled = |(mode, unit, _): &Shop, month: &str| {
        Some(payments.get(&settlement((mode, unit), month))?["sums"].clone())
    };
    let mut expected = BTreeMap::new();
    for shop in shops(known) {
        let (mode, unit, currency) = &shop;
        let mut open = BigUint::default();
        for month in MONTHS {
            let key = [(*month).to_owned(), unit.clone(), mode.clone(), currency.clone()];
            let charge = charges.get(&key).map(|(_, _, amount)| amount.clone());
            let credit = booked(credits, &format!("{mode}:{unit}:{month}"), currency);
            let settled = settled(&shop, month);
            let stated = settled.as_ref().and_then(|sums| stated(sums, currency));
            let is_kept = from.is_none_or(|from| *month >= from);
            let (charge, credit, carried) = match stated {
                Some(stated) if !is_kept => stated.into(),
                _ if !is_kept || (charge.is_none() && credit.is_none() && stated.is_none()) => {
                    continue;
                }
                stated => {
                    let carried = match settled {
                        None => open.clone(),
                        Some(_) => stated.unwrap_or_default()[2].clone().min(open.clone()),
                    };
                    (charge.unwrap_or_default(), credit.unwrap_or_default(), carried)
                }
            };
            let taken = &credit + &carried;
            let due = if taken < charge { &charge - &taken } else { BigUint::default() };
            open = (open.max(carried.clone()) + &credit + &due) - &charge; // what is left of all that could be taken
            expected.insert((shop.clone(), (*month).to_owned()), [charge, credit, carried, due]);
        }
    }
    expected
}

/// Returns the charges and the credits that a settlement states in a currency, and the excess of credits that it
/// deducts. Returns `None` if the settlement has no sum in this currency.
fn stated(sums: &Value, currency: &str) -> Option<[BigUint; 3]> {
    let mut sums = sums.as_array()?.iter();
    let own = sums.find(|sum| sum["currencyCode"] == currency)?;
    let credits = &own["credits"];
    let charge = credits["counted"].as_str().or_else(|| own["amount"].as_str());
    let all = [charge, credits["credited"].as_str(), credits["carried"].as_str()];
    Some(all.map(|text| exact(text.unwrap_or("0"))))
}

// ---- At the moment of a payment ------------------------------------------------------------------

/// Compares the sums of a payment with what the ledger says is due, at the moment when the month is marked as paid.
/// Returns what is wrong. `name` is the name of a record, which may be another one than a payment.
pub fn wrong_mark(sqlite: &SqliteLedger, name: &str, payment: &Value) -> Wrong {
    let shop_month = name.strip_prefix("settlement:")?;
    let parts: Vec<_> = shop_month.split(':').collect();
    let (mode, unit, month) = (parts[0], parts[1], parts[2]);
    let rows = rows_of(sqlite);
    let mut credits = credits_of(sqlite);
    credits.retain(|_, credit| credit.is_counted(&rows));
    let mut payments = payments_of(sqlite);
    payments.remove(name);
    let known = Known { charges: charges_of_rows(&rows), credits, payments };
    let expected = expected(&known, None);
    let none = <[BigUint; 4]>::default();
    ["EUR", "USD"].into_iter().find_map(|currency| {
        let shop = (mode.to_owned(), unit.to_owned(), currency.to_owned());
        let due = expected.get(&(shop, month.to_owned())).unwrap_or(&none);
        let group = [month, unit, mode, currency].map(str::to_owned);
        let counts = known.charges.get(&group).map_or((0, 0), |it| (it.0, it.1));
        let mut sums = payment["sums"].as_array().into_iter().flatten();
        let own = sums.find(|sum| sum["currencyCode"] == currency).unwrap_or(&Value::Null);
        let number = |member: &str| own[member].as_u64().unwrap_or_default();
        let [charge, credit, carried] = stated(&payment["sums"], currency).unwrap_or_default();
        let paid = exact(own["amount"].as_str().unwrap_or("0"));
        let is_right = (number("transactions"), number("unpriced")) == counts
            && [charge, credit, carried, paid] == *due;
        let text = || format!("{own} is paid for {name}, and not {counts:?}, {}", in_words(due));
        (!is_right).then(text)
    })
}

/// Sums the charges of the ledger's rows.
fn charges_of_rows(rows: &BTreeMap<String, Value>) -> Charges {
    let mut charges = Charges::new();
    for row in rows.values() {
        let Some(month) = row["created"].as_u64().and_then(Month::at) else { continue };
        let text = |member: &str| row[member].as_str().unwrap_or_default().to_owned();
        let group = [month.to_string(), text("unit"), text("mode"), text("currency")];
        let cents = row["cents"].as_u64().map(|cents| format!("{cents}e-2"));
        let amount = exact(&cents.unwrap_or_else(|| text("amount")));
        let sum = charges.entry(group).or_default();
        let unpriced = row["unpriced"].as_u64().unwrap_or_default();
        *sum = (sum.0 + 1, sum.1 + unpriced, &sum.2 + amount);
    }
    charges
}

fn in_words(parts: &Parts) -> String {
    parts.each_ref().map(|part| exact_text(part, 2)).join(", ")
}

fn shops(Known { charges, credits, payments }: &Known) -> BTreeSet<Shop> {
    let mut shops = BTreeSet::new();
    for [_, unit, mode, currency] in charges.keys() {
        shops.insert((mode.clone(), unit.clone(), currency.clone()));
    }
    for row in credits.values() {
        shops.insert((row.text("mode"), row.text("unit"), row.text("currency")));
    }
    for (name, payment) in payments {
        let parts: Vec<_> = name.split(':').collect();
        for sum in payment["sums"].as_array().into_iter().flatten() {
            let currency = sum["currencyCode"].as_str().unwrap_or_default().to_owned();
            shops.insert((parts[1].to_owned(), parts[2].to_owned(), currency));
        }
    }
    shops
}
