//! Tests statements: their lines, and that the lines add up to the amount that a payment must have.

use futures_executor::block_on;
use impact_pledge::office::credits::rule as credits;
use impact_pledge::office::payments::rule as payments;
use impact_pledge::office::payments::rule::statement::{Statement, statement};
use impact_pledge::office::payments::rule::{Payment, StatedAmount};
use impact_pledge::office::shared::rows::port::{Ledger, QueryFuture, Statement as Query};
use impact_pledge::office::shops::rule::units;
use impact_pledge::pledges::scope::Mode;
use impact_pledge::pledges::settlement::{Month, PaidAt, ScopeMonth};
use impact_pledge::pledges::time::{date_time, parse_ms};
use impact_pledge::pledges::types::CurrencyCode;
use num_bigint::BigInt;
use serde_json::{Value, json};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::Range;
use support::ledger::SqliteLedger;
use support::memory::MemoryStore;
use support::money::oracle;
use support::service::{
    CountedEntropy, LIVE_UNIT, NOW_MS, TestOperator, TestService, minimal, put_prices, seeded,
    test_operator,
};
use support::stores::scope;

/// 2026-02-02T00:00:00Z: from this time on, the payments of January can be settled.
const ENDED_MS: u64 = 1_769_990_400_000;
const DAY_MS: u64 = 24 * 60 * 60_000;

/// A shop with transactions in January, and its operator a day after the month.
struct Bench {
    service: TestService<MemoryStore>,
    test_operator: TestOperator<CountedEntropy>,
    ledger: SqliteLedger,
}

fn bench() -> Bench {
    let (service, test_operator) = (seeded(), test_operator());
    test_operator.clock.0.set(ENDED_MS);
    Bench { service, test_operator, ledger: SqliteLedger::default() }
}

fn january() -> ScopeMonth {
    let month = Month::parse("2026-01").unwrap();
    ScopeMonth { scope: scope("unit_dev", Mode::Live), month }
}

impl Bench {
    /// Sets the service's clock to a day of January.
    fn day(&self, day: u64) {
        let first = parse_ms("2026-01-01T00:00:00Z").unwrap();
        self.service.clock.0.set(first + (day - 1) * DAY_MS);
    }

    /// Sets the price list that applies from now on, and also stores it in the history.
    fn set_prices(&self, currency: &str, prices: &Value) {
        let time = date_time(self.service.clock.0.get());
        let list = json!({ "currencyCode": currency, "unitPrices": prices, "prices": time });
        put_prices(&*self.service.store, Mode::Live, list.to_string().as_bytes());
        let by = json!({ "created": time, "by": "ada@example.org" });
        let name = format!("prices:live:{time}");
        self.service.store.keep(&name, list.to_string().as_bytes(), by.to_string().as_bytes());
        self.service.clock.0.set(self.service.clock.0.get() + 60 * 60_000); // longer than a cache keeps prices
    }

    /// Advances the service's clock by a minute, and creates a transaction.
    fn order(&self, pledges: &[(f64, &str)]) -> String {
        let pledge = |(amount, offering): &(f64, &str)| json!({ "impact": { "amount": amount, "offeringId": offering } });
        let mut order = minimal();
        order["pledges"] = pledges.iter().map(pledge).collect();
        self.service.clock.0.set(self.service.clock.0.get() + 60_000);
        let created = self.service.create(LIVE_UNIT, &order);
        assert_eq!(created.status, 200, "{}", created.text);
        created.json()["id"].as_str().unwrap().to_owned()
    }

    fn statement(&self) -> Statement {
        self.ledger.reconcile(&*self.service.store, self.test_operator.clock.0.get());
        let clock = &self.test_operator.clock;
        block_on(statement(&*self.service.store, &self.ledger, clock, &january())).unwrap()
    }

    /// Marks January as paid, with the amounts due on a statement.
    fn mark(&self, statement: &Statement) -> Result<Value, String> {
        let stated = |code: &str, amount: &str| StatedAmount {
            amount: amount.to_owned(),
            currency_code: Some(serde_json::from_value::<CurrencyCode>(json!(code)).unwrap()),
        };
        let sums = statement.sums.iter();
        let payment = Payment {
            of: january(),
            amounts: sums.map(|sum| stated(&sum.due.currency_code, &sum.due.due)).collect(),
            paid_at: PaidAt::parse("2026-02-01T00:00:00Z").unwrap(),
            invoice: "17".to_owned(),
            accept_unpriced: statement.sums.iter().map(|sum| sum.due.unpriced).sum(),
        };
        let author = self.test_operator.author();
        let paid = block_on(payments::mark(&*self.service.store, &self.ledger, &author, &payment));
        paid.map(|done| json!(done.outcome)).map_err(|error| error.to_string())
    }
}

/// Returns an amount in cents.
fn cents(amount: &str) -> BigInt {
    amount.replace('.', "").parse().unwrap()
}

#[track_caller]
fn assert_adds_up(statement: &Statement) {
    for sum in &statement.sums {
        let lines: BigInt = sum.lines.iter().map(|line| cents(&line.amount)).sum();
        assert_eq!(lines, cents(&sum.due.amount), "{:#?}", sum);
    }
}

/// Returns the statement's lines in one currency. Each line contains its kind, its other members, and its
/// amount.
#[track_caller]
fn lines(statement: &Statement, currency: &str) -> Vec<Value> {
    assert_adds_up(statement);
    let sum = statement.sums.iter().find(|sum| sum.due.currency_code == currency).unwrap();
    let line = |line| {
        let line: Value = json!(line);
        let members = ["kind", "offering", "quantity", "unitPrice", "offerings", "transactions"];
        let known = members.iter().filter_map(|name| line.get(name));
        known.chain([&line["amount"]]).cloned().collect()
    };
    sum.lines.iter().map(line).collect()
}

#[test]
fn a_line_has_an_offering_and_a_unit_price_and_the_rest_is_named() {
    let bench = bench();
    bench.day(2);
    bench.set_prices("USD", &json!({ "tree": "0.50", "reef": "0.004" }));
    bench.order(&[(3.0, "tree"), (1.0, "tree"), (2.5, "new")]);
    bench.order(&[(1.0, "reef")]);
    bench.day(10);
    bench.set_prices("USD", &json!({ "tree": "0.75", "reef": "0.0040" }));
    bench.order(&[(2.0, "tree"), (1.0, "reef")]);
    bench.day(20);
    bench.set_prices("EUR", &json!({ "tree": "0.40" }));
    bench.order(&[(1.0, "tree")]);
    let statement = bench.statement();
    assert_eq!((&*statement.number, statement.is_complete), ("unit_dev-2026-01-live", true));
    let expected = [
        json!(["offering", "new", "2.5", null, "0.00"]),
        json!(["offering", "reef", "2", "0.004", "0.01"]),
        json!(["offering", "tree", "4", "0.50", "2.00"]),
        json!(["offering", "tree", "2", "0.75", "1.50"]),
        json!(["rounding", "-0.01"]),
    ];
    assert_eq!(lines(&statement, "USD"), expected);
    assert_eq!(lines(&statement, "EUR"), [json!(["offering", "tree", "1", "0.40", "0.40"])]);
    assert_eq!(bench.statement().sums, statement.sums, "the same whenever it is made");
    bench.mark(&statement).unwrap();
    assert_eq!(bench.statement().settled.unwrap().invoice, "17");
}

/// The statement does not guess how to split a charge. It shows a transaction's whole charge as one line in two
/// cases: if the transaction's numbers are stored as texts, and if the price list for the charge is missing or
/// damaged.
#[test]
fn what_cannot_be_split_is_one_line() {
    let bench = bench();
    let mut names = Vec::new();
    for (day, price) in [(2, "0.50"), (3, "0.60"), (4, "0.70"), (5, "0.80"), (6, "0.90")] {
        bench.day(day);
        bench.set_prices("USD", &json!({ "tree": price }));
        bench.order(&[(10.0, "tree")]);
        names.push(
            bench.service.store.names().into_iter().rfind(|it| it.starts_with("prices:")).unwrap(),
        );
    }
    bench.order(&[(1e21, "tree")]);
    bench.order(&[(1e-9, "tree")]);
    bench.service.store.remove(&names[0]);
    bench.service.store.edit(&names[1], |_| "{".to_owned());
    bench.service.store.edit(&names[2], |text| text.replace("0.70", "0.71"));
    bench.service.store.edit(&names[3], |text| text.replace("USD", "EUR"));
    let statement = bench.statement();
    let expected = [
        json!(["offering", "tree", "10", "0.90", "9.00"]),
        json!(["other", 6, "900000000000000000026.00"]),
    ];
    assert_eq!(lines(&statement, "USD"), expected);
    bench.mark(&statement).unwrap();
}

#[test]
fn offerings_that_do_not_fit_one_sheet_are_one_line() {
    let bench = bench();
    bench.day(2);
    let names: Vec<_> = (0..40).map(|index| format!("offering-{index:02}")).collect();
    let prices: Value = names.iter().map(|name| (name.clone(), json!("0.10"))).collect();
    bench.set_prices("USD", &prices);
    let pledges: Vec<_> = names.iter().map(|name| (1.0, &**name)).collect();
    bench.order(&pledges);
    let lines = lines(&bench.statement(), "USD");
    assert_eq!(lines.len(), 20);
    assert_eq!(lines[19], json!(["further", 21, "2.10"]));
}

#[test]
fn credits_and_a_payment_are_on_the_statement() {
    let bench = bench();
    bench.day(2);
    bench.set_prices("USD", &json!({ "tree": "0.50" }));
    let wrong = bench.order(&[(1e21, "tree")]);
    bench.order(&[(4.0, "tree")]);
    let (store, author) = (&*bench.service.store, bench.test_operator.author());
    bench.statement();
    let credit = json!({ "transaction": wrong, "part": null, "reason": "a wrong number" });
    let credit = serde_json::from_value(credit).unwrap();
    block_on(credits::add(store, &bench.ledger, &author, &credit)).unwrap();
    let statement = bench.statement();
    let due = &statement.sums[0].due;
    assert_eq!((&*due.credited, &*due.due), ("500000000000000000000.00", "2.00"));
    let expected = [
        json!(["offering", "tree", "4", "0.50", "2.00"]),
        json!(["other", 1, "500000000000000000000.00"]),
    ];
    assert_eq!(lines(&statement, "USD"), expected);
    let paid = bench.mark(&statement).unwrap();
    assert_eq!(paid["sums"][0]["amount"], "2.00");
    assert_eq!(bench.statement().settled.unwrap().sums[0].amount, "2.00");
}

#[test]
fn a_month_that_has_not_ended_or_is_empty_says_so() {
    let bench = bench();
    let statement = bench.statement();
    assert!(statement.sums.is_empty() && statement.is_complete);
    bench.test_operator.clock.0.set(NOW_MS);
    assert!(!bench.statement().is_complete);
    let clock = &bench.test_operator.clock;
    let wrong = ScopeMonth { scope: scope("a b", Mode::Live), ..january() };
    let made = block_on(statement_of(&bench, clock, &wrong));
    assert!(made.is_err());
    assert!(block_on(units::get(&*bench.service.store, "unit_dev")).unwrap().is_some());
}

async fn statement_of(
    bench: &Bench,
    clock: &support::service::FixedClock,
    of: &ScopeMonth,
) -> Result<Statement, impact_pledge::office::shared::rule::error::OperatorError> {
    statement(&*bench.service.store, &bench.ledger, clock, of).await
}

// ---- Rows that arrive meanwhile ------------------------------------------------------------------

/// A ledger that receives transactions late. Before each call whose number is in `before`, it adds a
/// transaction of January: one tree for 0.50 USD.
struct Late<'l> {
    ledger: &'l SqliteLedger,
    before: Range<usize>,
    calls: Cell<usize>,
}

impl Ledger for Late<'_> {
    fn run<'l>(&'l self, statements: &'l [Query]) -> QueryFuture<'l> {
        let call = self.calls.replace(self.calls.get() + 1);
        if self.before.contains(&call) {
            self.ledger.sql(&format!(
                "INSERT INTO transactions (id, scope, created, currency, cents, unpriced, changed, quantities, prices)
                 SELECT 'late-{call}', scope, created, currency, 50, 0, 0, '[[\"tree\",1000000]]', prices
                 FROM transactions WHERE currency = 'USD' LIMIT 1"
            ));
        }
        self.ledger.run(statements)
    }
}

/// A statement shows a single moment. Its sums and its lines either all include a late transaction, or all
/// leave it out.
#[test]
fn a_statement_adds_up_while_late_rows_arrive() {
    let bench = bench();
    bench.day(2);
    bench.set_prices("USD", &json!({ "tree": "0.50" }));
    bench.order(&[(4.0, "tree")]);
    let quiet = bench.statement();
    let made = |before: Range<usize>| {
        bench.ledger.sql("DELETE FROM transactions WHERE id LIKE 'late-%'");
        let late = Late { ledger: &bench.ledger, before, calls: Cell::new(0) };
        let (store, clock) = (&*bench.service.store, &bench.test_operator.clock);
        let made = block_on(statement(store, &late, clock, &january()));
        (made, late.calls.get())
    };
    let (made_quietly, calls) = made(0..0);
    assert_eq!(made_quietly.unwrap().sums, quiet.sums);
    assert!(calls >= 4, "{calls}");
    let mut dues = BTreeSet::new();
    for call in 0..=calls {
        let statement = made(call..call + 1).0.unwrap();
        let due = statement.sums[0].due.due.clone();
        let (trees, amount) = if due == "2.00" { ("4", "2.00") } else { ("5", "2.50") };
        let expected = [json!(["offering", "tree", trees, "0.50", amount])];
        assert_eq!((lines(&statement, "USD"), &*due), (expected.to_vec(), amount), "{call}");
        assert_eq!(statement.sums[0].due.transactions, if due == "2.00" { 1 } else { 2 });
        dues.insert(due);
    }
    assert_eq!(dues.len(), 2, "in some orders the row is on the statement, in others it is not");
    let error = made(0..1_000).0.unwrap_err().to_string();
    assert!(error.contains("are changing now"), "{error}");
    // Who marks the month as paid by an earlier statement is refused.
    made(0..1).0.unwrap();
    let refused = bench.mark(&quiet).unwrap_err();
    assert!(refused.contains("2.50 USD"), "{refused}");
}

/// Numbers that look random, but are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % limit
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

const OFFERINGS: [&str; 6] = ["tree", "reef", "plastic-kg", "a\",\"b", "]],[[", "é"];
const PRICES: [&str; 8] = ["0.50", "1.25", "0.004", "0.3333", "12.345", "0", "0.005", "99999.99"];
const AMOUNTS: [f64; 10] = [1.0, 3.0, 0.1, 2.5, 0.333_333, 7.0, 123_456.789, 1e-7, 40.0, 1e16];

/// Generates random orders and prices for a month. The statement's lines must add up to the exact sum of all
/// charges, which the test computes itself. A payment must have the same amount.
#[test]
fn the_lines_of_random_orders_add_up_to_what_a_payment_must_have() {
    for seed in 1..=12 {
        let (mut numbers, bench) = (Numbers(seed), bench());
        let mut expected = [("EUR", BigInt::from(0)), ("USD", BigInt::from(0))];
        for change in 0..4 {
            bench.day(2 + 7 * change);
            let currency = numbers.below(2);
            let mut priced = Vec::new();
            for offering in OFFERINGS {
                if numbers.below(6) > 0 {
                    priced.push((offering, numbers.one_of(&PRICES)));
                }
            }
            let prices = priced.iter().map(|(it, price)| ((*it).to_owned(), json!(price)));
            bench.set_prices(expected[currency].0, &prices.collect());
            for _ in 0..numbers.below(12) {
                let pledge = |_| {
                    let rare = numbers.below(20) == 0;
                    let amount = numbers.one_of(if rare { &AMOUNTS } else { &AMOUNTS[..7] });
                    (amount, numbers.one_of(&OFFERINGS))
                };
                let pledges: Vec<_> = (0..1 + seed % 4).map(pledge).collect();
                bench.order(&pledges);
                let price = |offering| priced.iter().find(|(it, _)| *it == offering);
                let charged: Vec<_> = pledges
                    .iter()
                    .filter_map(|(amount, it)| Some((*amount, price(*it)?.1.to_owned())))
                    .collect();
                expected[currency].1 += cents(&oracle(&charged));
            }
        }
        let statement = bench.statement();
        assert_adds_up(&statement);
        for (currency, total) in expected {
            let sum = statement.sums.iter().find(|sum| sum.due.currency_code == currency);
            assert_eq!(sum.map_or(BigInt::from(0), |sum| cents(&sum.due.due)), total, "{seed}");
        }
        if !statement.sums.is_empty() {
            let paid = bench.mark(&statement).unwrap();
            let amounts = statement.sums.iter().map(|sum| json!(sum.due.due));
            let paid = paid["sums"].as_array().unwrap().iter().map(|sum| sum["amount"].clone());
            assert_eq!(paid.collect::<Vec<_>>(), amounts.collect::<Vec<_>>(), "{seed}");
        }
    }
}
