//! Tests the charges that the ledger stores for each day. Whatever is written and when, every query must answer as it
//! does without them, and sums must equal the sums of the transactions.

use super::sums::exact;
use super::{message, months, receive, store_days};
use futures_executor::block_on;
use impact_pledge::office::orders::rows::order::{Filter, TransactionState};
use impact_pledge::office::orders::rows::orders;
use impact_pledge::office::orders::rows::orders::{Direction, OrderPage};
use impact_pledge::office::payments::rows::sums as payments_sums;
use impact_pledge::office::system::rows::{attention, check, unusual};
use impact_pledge::pledges::scope::{Mode, Scope};
use impact_pledge::pledges::time::{date_time, parse_ms};
use num_bigint::BigUint;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use support::ledger::SqliteLedger;

const DAY_MS: u64 = 86_400_000;
const MONTHS: [&str; 2] = ["2026-02", "2026-01"];
const KEYS: [&str; 3] = ["0123456789ab", "0123456789ac", "0123456789ad"];

/// Returns the time `ms` milliseconds after the start of a day of 2026. 1 January is day 0.
fn at(day: u64, ms: u64) -> u64 {
    parse_ms("2026-01-01T00:00:00Z").unwrap() + day * DAY_MS + ms
}

// ---- Changes -------------------------------------------------------------------------------------

#[derive(Clone, Debug)]
enum Change {
    /// A message about a transaction: its number, whether it is a test, when it was created, and members of its summary.
    Receive(u8, bool, u64, Value),
    Erase(u8),
    Remove(u8),
    /// Somebody changes columns of a row directly in the database.
    Mend(u8, &'static str),
    Clear,
    /// The cron stores the sums of the days before this one.
    Store(u64),
    /// Somebody removes stored sums: a table, and an SQL condition.
    Forget(&'static str, &'static str),
}

fn summary() -> impl Strategy<Value = Value> {
    let amount = prop_oneof![
        4 => (0_u64..1_000_000).prop_map(|cents| format!("{}.{:0>2}", cents / 100, cents % 100)),
        1 => Just("0.00".to_owned()),
        1 => Just("90071992547409.91".to_owned()),
        1 => Just("90071992547409.92".to_owned()),
        1 => Just("9".repeat(308) + ".99"),
    ];
    let currency = prop_oneof![3 => Just("USD"), 1 => Just("EUR")];
    (amount, currency, 0_u8..3, 0_usize..3).prop_map(|(amount, currency, unpriced, key)| {
        json!({ "amount": amount, "currencyCode": currency, "unpriced": unpriced, "key": KEYS[key] })
    })
}

fn change() -> impl Strategy<Value = Change> {
    let created = (0_u64..40, prop_oneof![Just(0), Just(DAY_MS - 1), 0..DAY_MS])
        .prop_map(|(day, ms)| at(day, ms));
    let number = 1_u8..10;
    let columns = prop_oneof![
        Just("cents = 5, amount = NULL"),
        Just("cents = NULL, amount = '7e30'"),
        Just("currency = 'EUR'"),
        Just("unpriced = 1 - min(unpriced, 1)"),
        Just("key = 1"),
        Just("created = created + 86400000"),
        Just("scope = (SELECT max(scope) FROM scopes)"),
    ];
    let forgotten = prop_oneof![
        Just(("day_charges", "true")),
        Just(("day_charges", "day % 2 = 0")),
        Just(("day_charges", "scope = 1")),
        Just(("day_charges", "currency = 'EUR'")),
        Just(("day_quantities", "day % 3 = 0")),
        Just(("day_quantities", "mode = 'live'")),
    ];
    prop_oneof![
        8 => (number.clone(), any::<bool>(), created, summary())
            .prop_map(|(number, is_test, at, summary)| Change::Receive(number, is_test, at, summary)),
        1 => number.clone().prop_map(Change::Erase),
        1 => number.clone().prop_map(Change::Remove),
        2 => (number, columns).prop_map(|(number, columns)| Change::Mend(number, columns)),
        1 => Just(Change::Clear),
        6 => (0_u64..45).prop_map(Change::Store),
        2 => forgotten.prop_map(|(table, which)| Change::Forget(table, which)),
    ]
}

fn order(number: u8, is_test: bool, created_ms: u64, summary: &Value) -> Value {
    let mut order = message(number, json!({ "summary": summary }));
    order["summary"]["createdAt"] = json!(date_time(created_ms));
    if is_test {
        (order["mode"], order["unit"]) = (json!("test"), json!("v"));
    }
    order
}

fn id(number: u8) -> String {
    message(number, json!({}))["id"].as_str().unwrap().to_owned()
}

fn make(ledger: &SqliteLedger, change: &Change) {
    match change {
        Change::Receive(number, is_test, created_ms, summary) => {
            receive(ledger, &[order(*number, *is_test, *created_ms, summary)]);
        }
        Change::Erase(number) => {
            let erased = json!({ "erased": "2026-02-20T00:00:00Z" });
            receive(ledger, &[order(*number, false, at(u64::from(*number), 0), &erased)]);
        }
        Change::Remove(number) => {
            ledger.sql(&format!("DELETE FROM transactions WHERE id = '{}'", id(*number)));
        }
        Change::Mend(number, columns) => {
            ledger.sql(&format!("UPDATE transactions SET {columns} WHERE id = '{}'", id(*number)));
        }
        Change::Clear => block_on(check::clear(ledger)).unwrap(),
        Change::Store(day) => store_days(ledger, at(*day, DAY_MS / 2)),
        Change::Forget(table, which) => {
            ledger.sql(&format!("DELETE FROM {table} WHERE {which}"));
        }
    }
}

// ---- Answers -------------------------------------------------------------------------------------

/// The numbers of transactions and of unpriced pledges, and the sum of the charges, by month, mode, unit and currency.
type Sums = BTreeMap<[String; 4], (u64, usize, BigUint)>;

fn answered(ledger: &SqliteLedger) -> Sums {
    let found = block_on(payments_sums::sums(ledger, None, None, &months(&MONTHS))).unwrap();
    let sum = |sum: payments_sums::MonthSum| {
        let Scope { mode, unit } = sum.of.scope;
        let month = sum.of.month.to_string();
        let group = [month, mode.name().to_owned(), unit, sum.currency_code];
        (group, (sum.transactions, sum.unpriced, exact(&sum.amount)))
    };
    found.into_iter().map(sum).collect()
}

/// Adds up the charges in the transaction rows, independently of the ledger's own sums.
fn summed(ledger: &SqliteLedger) -> Sums {
    let rows = ledger.sql(
        "SELECT json_array(created, mode, unit, currency, unpriced, ifnull(amount, cents || 'e-2'))
         FROM transactions JOIN scopes USING (scope)",
    );
    let mut sums = Sums::new();
    for row in &rows {
        let (created, mode, unit, currency, unpriced, amount): (u64, _, _, _, usize, String) =
            serde_json::from_str(row).unwrap();
        let month = date_time(created)[..7].to_owned();
        if MONTHS.contains(&&*month) {
            let sum = sums.entry([month, mode, unit, currency]).or_default();
            *sum = (sum.0 + 1, sum.1 + unpriced, &sum.2 + exact(&amount));
        }
    }
    sums
}

/// Returns the answers to the queries that read stored charges.
fn answers(ledger: &SqliteLedger) -> Vec<String> {
    let months = months(&MONTHS);
    let units = ["u".to_owned()];
    let own = payments_sums::sums(ledger, Some(Mode::Live), Some(&units), &months);
    let mut answers = vec![
        format!("{:?}", block_on(own).unwrap()),
        format!("{:?}", block_on(attention::unpriced(ledger, &months)).unwrap()),
        format!("{:?}", block_on(attention::unsettled(ledger, &months)).unwrap()),
        format!("{:?}", block_on(unusual::unusual(ledger, at(5, 0), Some(40_000), 2)).unwrap()),
    ];
    for key in KEYS {
        let bounds = [(0, None), (at(3, 5), Some(at(30, 9)))];
        let filters = bounds.into_iter().flat_map(|(from, until)| {
            let key = Some(key.to_owned());
            let filter = Filter { from, until, key, ..Filter::default() };
            [filter.clone(), Filter { state: Some(TransactionState::Unpriced), ..filter }]
        });
        answers.extend(filters.map(|filter| format!("{:?}", pages(ledger, &filter))));
    }
    answers
}

/// Returns all pages of a list, from the newest to the oldest, and back again.
fn pages(ledger: &SqliteLedger, filter: &Filter) -> Vec<Vec<String>> {
    let (mut pages, mut from, mut is_back) = (Vec::new(), Direction::Newest, false);
    loop {
        let page = block_on(orders::orders(ledger, filter, &from, 2)).unwrap();
        let OrderPage { orders, newer, older } = page;
        pages.push(orders.into_iter().map(|order| order.id).collect());
        is_back |= older.is_none();
        from = match (is_back, newer, older) {
            (false, _, Some(place)) => Direction::Older(place),
            (true, Some(place), _) => Direction::Newer(place),
            _ => return pages,
        };
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_answer_depends_on_stored_charges(changes in proptest::collection::vec(change(), 1..30)) {
        let (ledger, plain) = (SqliteLedger::default(), SqliteLedger::default());
        for change in &changes {
            make(&ledger, change);
            if !matches!(change, Change::Store(_) | Change::Forget(..)) {
                make(&plain, change);
            }
            prop_assert_eq!(answered(&ledger), summed(&ledger));
            prop_assert_eq!(answers(&ledger), answers(&plain));
        }
    }
}

/// `most` is the largest of the charges that are stored as cents.
#[test]
fn a_charge_that_is_stored_as_a_text_is_owed_beside_one_of_nothing() {
    let ledger = SqliteLedger::default();
    let of = |number, amount: &str| order(number, false, at(12, 0), &json!({ "amount": amount }));
    receive(&ledger, &[of(1, "0.00"), of(2, "90071992547409.92")]);
    let owed = || block_on(attention::unsettled(&ledger, &months(&MONTHS))).unwrap().owed.len();
    assert_eq!(owed(), 1);
    store_days(&ledger, at(13, DAY_MS / 2));
    assert_eq!(owed(), 1);
}

// ---- What is stored ------------------------------------------------------------------------------

#[test]
fn a_late_transaction_costs_the_sums_of_its_day_and_scope_only() {
    let ledger = SqliteLedger::default();
    let of = |number, is_test, day| order(number, is_test, at(day, 0), &json!({}));
    receive(&ledger, &[of(1, false, 0), of(2, true, 0), of(3, false, 1)]);
    let stored = || ledger.sql("SELECT scope || ' ' || (day - 20454) FROM day_charges ORDER BY 1");
    store_days(&ledger, at(3, 0));
    assert_eq!(stored(), ["1 0", "1 1", "2 0"]);
    receive(&ledger, &[of(4, false, 0)]);
    assert_eq!(stored(), ["1 1", "2 0"]);
    assert_eq!(answered(&ledger), summed(&ledger));
    store_days(&ledger, at(3, 0));
    assert_eq!(stored(), ["1 0", "1 1", "2 0"]);
}

#[test]
fn sums_of_ended_days_are_read_instead_of_their_transactions() {
    let ledger = SqliteLedger::default();
    let of = |number, day| order(number, false, at(day, 0), &json!({}));
    receive(&ledger, &[of(1, 0), of(2, 4)]);
    store_days(&ledger, at(4, DAY_MS / 2));
    ledger.sql("UPDATE day_charges SET number = 5, rest = 777");
    let group = ["2026-01", "live", "u", "USD"].map(str::to_owned);
    let (number, _, sum) = answered(&ledger)[&group].clone();
    assert_eq!((number, sum), (6, exact("9.27")), "the stored day, and the day without sums");
}

#[test]
fn each_change_that_a_sum_depends_on_removes_the_sums_of_the_day() {
    let rows = [
        ("cents = 5", 0),
        ("cents = NULL, amount = '7e30'", 0),
        ("currency = 'EUR'", 0),
        ("unpriced = 1", 0),
        ("key = NULL", 0),
        ("created = created + 1", 0),
        ("scope = 2", 0),
        ("quantities = '[]'", 0),
        ("reference = NULL, email = NULL, erased = 1, prices = 1, changed = 1", 1),
    ];
    for (columns, left) in rows {
        let ledger = SqliteLedger::default();
        receive(&ledger, &[order(1, false, at(0, 0), &json!({}))]);
        store_days(&ledger, at(2, 0));
        ledger.sql(&format!("UPDATE transactions SET {columns}"));
        let stored = |sql| ledger.sql(sql).len();
        assert_eq!(stored("SELECT 1 FROM day_charges"), left, "{columns}");
        assert_eq!(stored("SELECT 1 FROM day_quantities WHERE day = 20454"), 2 * left, "{columns}");
    }
}
