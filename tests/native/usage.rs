//! Tests what the ledger says about shops by month: their usage and their payments.

use futures_executor::block_on;
use impact_pledge::office::system::rows::kept;

use impact_pledge::office::fulfilment::rule::quantities;
use impact_pledge::office::orders::operation::exported;
use impact_pledge::office::orders::rows::orders::Direction;
use impact_pledge::office::orders::rule as transactions;
use impact_pledge::office::orders::rule::{Export, Line, ListQuery, TransactionFilter};
use impact_pledge::office::payments::rule::dues;
use impact_pledge::office::payments::rule::usage;
use impact_pledge::office::payments::rule::usage::{MonthUsage, Usage};
use impact_pledge::office::shared::rule::coverage::DamagedRecords;
use impact_pledge::office::shared::rule::error::OperatorError;
use impact_pledge::pledges::scope::{Mode, Scope};
use impact_pledge::pledges::settlement::{Month, ScopeMonth};
use impact_pledge::pledges::store::{Key as _, TransactionKey};
use impact_pledge::pledges::types::TransactionId;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use support::ledger::SqliteLedger;
use support::memory::MemoryStore;
use support::service::{LIVE_UNIT, NOW_MS, SECRET, UNIT, minimal, seeded};

/// A time in December 2026, later than all test data.
const LATE_MS: u64 = 1_798_000_000_000;

fn month(text: &str) -> Month {
    Month::parse(text).unwrap()
}

fn wanted(unit: Option<&str>, mode: Option<Mode>) -> TransactionFilter {
    TransactionFilter { unit: unit.map(str::to_owned), mode }
}

/// Stores a transaction, and returns its ID.
fn put(store: &MemoryStore, number: u8, of: (&str, Mode), time: &str, amount: &str) -> String {
    put_in(store, number, of, time, ("EUR", amount))
}

fn put_in(
    store: &MemoryStore,
    number: u8,
    (unit, mode): (&str, Mode),
    time: &str,
    (code, amount): (&str, &str),
) -> String {
    let scope = Scope { mode, unit: unit.to_owned() };
    let id = TransactionId::new(&SECRET, &scope, "r", [number; 16]);
    let metadata = json!({ "version": 1, "mode": mode, "unit": unit, "editKey": "0",
        "summary": { "createdAt": time, "amount": amount, "currencyCode": code, "unpriced": number,
            "quantities": [["tree", 3_000_000]] } });
    store.keep(&TransactionKey(&id).name(), b"", metadata.to_string().as_bytes());
    id.to_string()
}

/// Stores the record that marks a shop's month as paid. The record has one sum.
fn pay(store: &MemoryStore, shop_month: &str, code: &str, amount: &str, transactions: u64) {
    let sums = json!([{ "currencyCode": code, "amount": amount, "transactions": transactions,
        "unpriced": 0 }]);
    let settlement = json!({ "paidAt": "2026-12-05T00:00:00.000Z", "sums": sums, "invoice": "7",
        "by": "ada", "at": "2026-12-06T00:00:00.000Z" });
    let name = format!("settlement:{shop_month}");
    store.keep(&name, settlement.to_string().as_bytes(), b"null");
}

fn ledger_of(store: &MemoryStore) -> SqliteLedger {
    let ledger = SqliteLedger::default();
    ledger.reconcile(store, LATE_MS);
    store.take_reads();
    store.take_lists();
    ledger
}

#[track_caller]
fn all(store: &MemoryStore, wanted: &TransactionFilter, of: Option<Month>) -> Usage {
    block_on(usage::of_all(store, &ledger_of(store), wanted, of)).unwrap()
}

/// Returns a line for each month: `unit mode month amount currency, transactions, unpriced[, amount paid]`.
fn lines(months: &[MonthUsage]) -> Vec<String> {
    let line = |usage: &MonthUsage| {
        let ScopeMonth { scope: Scope { unit, mode }, month } = &usage.of;
        let mode = mode.name();
        let sums = usage.sums.iter().map(move |sum| {
            let (amount, code) = (&sum.amount, &sum.currency_code);
            let (transactions, unpriced) = (sum.transactions, sum.unpriced);
            let paid = usage.paid_of(sum).map(|paid| format!(" of {paid}")).unwrap_or_default();
            format!("{unit} {mode} {month} {amount}{paid} {code} {transactions} {unpriced}")
        });
        sums.collect::<Vec<_>>()
    };
    months.iter().flat_map(line).collect()
}

#[test]
fn a_month_is_summed_exactly_by_unit_mode_and_currency() {
    let store = MemoryStore::default();
    let nines = "9".repeat(300) + ".99";
    let (live_a, live_b, test_b) = (("a", Mode::Live), ("b", Mode::Live), ("b", Mode::Test));
    put(&store, 1, live_b, "2026-11-01T00:00:00.000Z", "0.10");
    put(&store, 2, live_b, "2026-11-30T23:59:59.999Z", "0.20");
    put(&store, 5, test_b, "2026-11-15T00:00:00.000Z", "8.00");
    put(&store, 6, live_a, "2026-11-15T00:00:00.000Z", &nines);
    put(&store, 7, live_a, "2026-11-15T00:00:00.000Z", "0.01");
    put_in(&store, 0, live_a, "2026-11-15T00:00:00.000Z", ("USD", "7.00"));
    put(&store, 3, live_b, "2026-12-01T00:00:00.000Z", "4.00");
    put(&store, 4, live_b, "2026-10-31T23:59:59.999Z", "5.00");
    let damaged = [
        put(&store, 8, live_a, "2026-11-15T00:00:00.000Z", "1e999999999"),
        put(&store, 9, live_a, "2026-11-15T00:00:00.000Z", ""),
    ];
    let million = format!("1{}.00", "0".repeat(300));
    let november = [
        format!("a live 2026-11 {million} EUR 2 13"),
        "a live 2026-11 7.00 USD 1 0".to_owned(),
        "b test 2026-11 8.00 EUR 1 5".to_owned(),
        "b live 2026-11 0.30 EUR 2 3".to_owned(),
    ];
    let usage = all(&store, &TransactionFilter::default(), Some(month("2026-11")));
    assert_eq!(lines(&usage.months), november);
    let first = damaged.iter().min().map(|id| format!("transaction:{id}"));
    assert_eq!(usage.coverage.damaged, DamagedRecords { count: 2, first });
    assert_eq!(usage.coverage.complete_up_to.as_deref(), Some("2026-12-23T04:24:40.000Z"));
    assert_eq!(store.take_reads(), ["epoch"], "no transaction is read");
    assert_eq!(store.take_lists(), []);

    let usage = all(&store, &wanted(Some("b"), Some(Mode::Live)), Some(month("2026-11")));
    assert_eq!(lines(&usage.months), november[3..]);
    assert_eq!(usage.coverage.damaged, DamagedRecords::default(), "those of other shops");
    let of_b = [
        "b live 2026-12 4.00 EUR 1 3",
        "b test 2026-11 8.00 EUR 1 5",
        "b live 2026-11 0.30 EUR 2 3",
        "b live 2026-10 5.00 EUR 1 4",
    ];
    assert_eq!(lines(&all(&store, &wanted(Some("b"), None), None).months), of_b);
    let whole = lines(&all(&store, &TransactionFilter::default(), None).months);
    assert_eq!(whole, [&[of_b[0].to_owned()], november.as_slice(), &[of_b[3].to_owned()]].concat());
    let totals = dues::totals(&all(&store, &TransactionFilter::default(), None).months);
    let totals: Vec<_> = totals.iter().map(|sum| (&*sum.amount, sum.transactions)).collect();
    assert_eq!(totals, [(&*format!("1{}17.30", "0".repeat(298)), 7), ("7.00", 1)]);
    let (ledger, invalid) = (ledger_of(&store), wanted(Some("a b"), None));
    let error = block_on(usage::of_month(&store, &ledger, &invalid, month("2026-11")));
    assert!(matches!(error, Err(OperatorError::Invalid(_))));
}

/// The amount paid for a month is shown beside the ledger's current sum, even if the month has no transaction
/// left.
#[test]
fn differences_from_the_amount_paid_and_later_orders_are_shown() {
    let store = MemoryStore::default();
    let (a, b) = (("a", Mode::Live), ("b", Mode::Live));
    put(&store, 1, a, "2026-11-15T00:00:00.000Z", "1.00");
    put(&store, 2, b, "2026-11-15T00:00:00.000Z", "2.00");
    pay(&store, "live:a:2026-11", "EUR", "1.00", 1);
    pay(&store, "live:b:2026-11", "USD", "9.00", 1);
    pay(&store, "live:gone:2026-11", "EUR", "5.00", 3);
    pay(&store, "live:gone:2026-10", "EUR", "6.00", 3);
    let ledger = SqliteLedger::default();
    ledger.reconcile(&store, 1_796_000_000_000); // before the months are marked as paid
    let of = |unit: Option<&str>, of: Option<Month>| {
        let live = wanted(unit, Some(Mode::Live));
        block_on(usage::of_all(&store, &ledger, &live, of)).unwrap().months
    };
    let november = Some(month("2026-11"));
    let paid = [
        "a live 2026-11 1.00 of 1.00 EUR 1 1",
        "b live 2026-11 2.00 of 0.00 EUR 1 2",
        "b live 2026-11 0.00 of 9.00 USD 0 0",
        "gone live 2026-11 0.00 of 5.00 EUR 0 0",
    ];
    assert_eq!(lines(&of(None, november)), paid);
    let gone = [paid[3], "gone live 2026-10 0.00 of 6.00 EUR 0 0"];
    assert_eq!(lines(&of(Some("gone"), None)), gone);
    assert!(of(None, november).iter().all(|usage| usage.late.is_empty()));
    assert_eq!(
        of(None, november).iter().map(MonthUsage::differs).collect::<Vec<_>>(),
        [false, true, true]
    );

    let late = put(&store, 3, a, "2026-11-30T23:59:59.999Z", "0.00");
    ledger.reconcile(&store, LATE_MS);
    let months = of(None, november);
    assert_eq!((&months[0].late, months[0].differs()), (&vec![late.clone()], true));
    let shown = json!(months[0].clone().into_sums());
    assert_eq!(
        shown,
        json!([{ "unit": "a", "mode": "live", "month": "2026-11", "currencyCode": "EUR",
            "transactions": 2, "unpriced": 4, "amount": "1.00", "credited": "0.00", "carried": "0.00",
            "due": "1.00", "late": [late],
            "settled": { "amount": "1.00", "paidAt": "2026-12-05T00:00:00.000Z", "invoice": "7" } }])
    );
    assert_eq!(lines(&of(None, Some(month("2026-10")))), [gone[1]]);
    assert_eq!(lines(&of(Some("a"), Some(month("2026-10")))), [""; 0]);
}

#[test]
fn months_that_the_ledger_does_not_keep_are_refused_or_shown_as_they_were_paid() {
    let store = MemoryStore::default();
    let a = ("a", Mode::Live);
    for (number, time) in [(1, "2026-09-15"), (2, "2026-10-15"), (3, "2026-11-15")] {
        put(&store, number, a, &format!("{time}T00:00:00.000Z"), "1.00");
    }
    pay(&store, "live:a:2026-10", "EUR", "1.00", 1);
    let ledger = ledger_of(&store);
    block_on(kept::keep_from(&ledger, Some(month("2026-11")))).unwrap();
    ledger.reconcile(&store, LATE_MS);
    let live = wanted(Some("a"), Some(Mode::Live));
    let usage = block_on(usage::of_all(&store, &ledger, &live, None)).unwrap();
    let shown = ["a live 2026-11 1.00 EUR 1 3", "a live 2026-10 1.00 of 1.00 EUR 1 0"];
    assert_eq!(lines(&usage.months), shown);
    assert!(usage.months.iter().all(|usage| !usage.differs()));
    assert_eq!(usage.coverage.complete_from.as_deref(), Some("2026-11-01T00:00:00.000Z"));
    let october = month("2026-10");
    let refused = "2026-10 is not in the ledger, which keeps only transactions from \
                   2026-11-01T00:00:00.000Z on. The command `ledger keep-from 2026-10` brings this \
                   month back";
    let refusals = [
        block_on(usage::of_month(&store, &ledger, &live, october)).unwrap_err(),
        block_on(usage::of_all(&store, &ledger, &live, Some(october))).unwrap_err(),
        block_on(quantities::quantities(&ledger, &live, october, 9)).unwrap_err(),
    ];
    assert_eq!(refusals.map(|error| error.to_string()), [refused; 3]);
}

#[test]
fn ten_thousand_shops_are_a_few_queries() {
    let (store, ledger) = (MemoryStore::default(), SqliteLedger::default());
    ledger.sql(
        "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 10000)
         INSERT INTO scopes (scope, mode, unit) SELECT n, 'live', printf('shop %05d', n) FROM n",
    );
    ledger.sql(
        "INSERT INTO transactions (id, scope, created, currency, amount, unpriced, changed, quantities)
         SELECT printf('ptran_%042d', scope), scope, 1793491200000 + scope, 'EUR', '1e308', 0, 0,
           '[[\"tree\",\"1e308\"]]' FROM scopes",
    );
    ledger.calls.set(0);
    let november = month("2026-11");
    let all = TransactionFilter::default();
    let usage = block_on(usage::of_month(&store, &ledger, &all, november)).unwrap();
    assert_eq!((usage.months.len(), ledger.calls.get()), (10_000, 6));
    assert_eq!(store.take_reads(), ["epoch"]);
    let total = &dues::totals(&usage.months)[0];
    assert_eq!(total.amount, format!("1{}.00", "0".repeat(312)));
    let pledged = block_on(quantities::quantities(&ledger, &all, november, 9)).unwrap();
    let sum = &pledged.quantities[0];
    assert_eq!((&*sum.offering, sum.transactions, pledged.more), ("tree", 10_000, false));
    assert_eq!(sum.quantity, "1e312");
}

#[test]
fn quantities_are_those_of_a_month_by_offering_of_a_unit_or_of_all() {
    let bench = seeded();
    let order = |key: &str, offering: &str, amount: Value| {
        let mut order = minimal();
        order["pledges"] = json!([{ "impact": { "amount": amount, "offeringId": offering } }]);
        assert_eq!(bench.create(key, &order).status, 200);
    };
    let long = "o".repeat(900_000);
    order(UNIT, "tree", json!(1));
    order(LIVE_UNIT, "tree", json!(0.1));
    order(LIVE_UNIT, "tree", json!(1e308));
    order(LIVE_UNIT, &long, json!(5e-324));
    order("service_sk_test_dev_unit_two", "=1+1,\u{202e}<script>", json!(2));
    let ledger = ledger_of(&bench.store);
    let of = |wanted: &TransactionFilter, most| {
        let found = quantities::quantities(&ledger, wanted, month("2026-01"), most);
        let found = block_on(found).unwrap();
        let sums = found.quantities.into_iter();
        (sums.map(|sum| (sum.mode, sum.offering, sum.quantity)).collect::<Vec<_>>(), found.more)
    };
    let live = wanted(Some("unit_dev"), Some(Mode::Live));
    let (sums, more) = of(&live, 9);
    assert_eq!((sums.len(), more), (2, false));
    assert!(sums[0].1.starts_with("oooo") && sums[0].1.len() < 257, "{}", sums[0].1);
    assert_eq!(sums[0].2, "5e-324");
    assert_eq!(sums[1].2, format!("1{}.1", "0".repeat(308)));
    assert_eq!((of(&live, 1).0.len(), of(&live, 1).1), (1, true));
    assert_eq!(of(&TransactionFilter::default(), 9).0.len(), 4);
    let all = block_on(quantities::quantities(&ledger, &live, month("2026-02"), 9)).unwrap();
    assert!(all.quantities.is_empty() && all.coverage.complete_up_to.is_some());
}

// ---- Lists ---------------------------------------------------------------------------------------

#[test]
fn a_list_has_the_newest_of_a_unit_a_key_or_a_month() {
    let store = MemoryStore::default();
    let (a, b) = (("a", Mode::Live), ("b", Mode::Test));
    let ids = [
        put(&store, 1, a, "2026-10-31T23:59:59.999Z", "1.00"),
        put(&store, 0, a, "2026-11-01T00:00:00.000Z", "1.00"),
        put(&store, 3, b, "2026-11-02T00:00:00.000Z", "1.00"),
    ];
    let ledger = ledger_of(&store);
    let list = |query: Value| {
        let query: ListQuery = serde_json::from_value(query).unwrap();
        let page = transactions::list(&ledger, &query, &Direction::Newest, 2);
        let page = block_on(page).unwrap().page;
        page.orders.into_iter().map(|order| order.id).collect::<Vec<_>>()
    };
    assert_eq!(list(json!({})), [&*ids[2], &ids[1]]);
    assert_eq!(list(json!({ "filter": { "unit": "a" } })), [&*ids[1], &ids[0]]);
    assert_eq!(list(json!({ "filter": { "mode": "test" } })), [&*ids[2]]);
    assert_eq!(list(json!({ "month": "2026-10" })), [&*ids[0]]);
    assert_eq!(list(json!({ "month": "1970-01" })), [""; 0]);
    assert_eq!(list(json!({ "state": "unpriced", "filter": { "unit": "a" } })), [&*ids[0]]);
    assert_eq!(list(json!({ "key": "no such key" })), [""; 0]);
    assert_eq!(list(json!({ "changed_after": LATE_MS })), [""; 0]);
    assert_eq!(list(json!({ "changed_after": LATE_MS - 1 })).len(), 2);
}

// ---- Export --------------------------------------------------------------------------------------

/// Exports the transactions of these months. Returns the lines in groups, one group for each read.
fn export(store: &MemoryStore, ledger: &SqliteLedger, months: &[MonthUsage]) -> Vec<Vec<Line>> {
    let mut export = Export::new(store, ledger, month("2026-01"), months);
    std::iter::from_fn(|| block_on(export.next()).unwrap()).collect()
}

#[test]
fn an_export_has_each_order_of_a_month_once_and_reads_a_hundred_at_a_time() {
    let bench = seeded();
    let keys = [UNIT, LIVE_UNIT, "service_sk_test_dev_unit_two"];
    for number in 0..250 {
        bench.clock.0.set(NOW_MS - number * 1_000);
        bench.create(keys[number as usize % 3], &minimal());
    }
    bench.clock.0.set(NOW_MS - 40 * 24 * 3_600_000);
    bench.create(LIVE_UNIT, &minimal());
    let ledger = ledger_of(&bench.store);
    let all = TransactionFilter::default();
    let usage = usage::of_all(&*bench.store, &ledger, &all, Some(month("2026-01")));
    let months = block_on(usage).unwrap().months;
    let sums: u64 = months.iter().flat_map(|usage| &usage.sums).map(|sum| sum.transactions).sum();
    bench.store.take_reads();
    ledger.calls.set(0);
    let parts = export(&bench.store, &ledger, &months);
    assert!(parts.iter().all(|part| part.len() <= 100), "a minimal order has one pledge");
    assert_eq!(
        ledger.calls.get(),
        4,
        "one page of transactions, and one of credits, for each mode"
    );
    let lines: Vec<_> = parts.concat();
    let ids: BTreeSet<_> = lines.iter().map(|line| &line.id).collect();
    assert_eq!((lines.len(), ids.len(), sums), (250, 250, 250));
    let read = bench.store.take_reads().into_iter().filter(|name| name.starts_with("transaction:"));
    assert_eq!(read.count(), 250);
    let live: Vec<_> =
        months.into_iter().filter(|usage| usage.of.scope.mode == Mode::Live).collect();
    assert_eq!(export(&bench.store, &ledger, &live).concat().len(), 83);
    let file = exported(&lines[..1]).csv();
    assert!(
        file.starts_with("\u{feff}id,created,mode,unit,name,reference,offering,quantity,amount,currency,unpriced,erased,unit_price,kind\r\n"),
        "{file}"
    );
    assert_eq!(file.lines().count(), 2);
}
