//! Tests the ledger on SQLite: its rows, lists, sums and claims, and the reconciliation with KV.

use futures_executor::block_on;
use impact_pledge::ledger::claims::{
    self, Change, ClaimOutcome, Fact, Kind, ObservedFact, TargetState,
};
use impact_pledge::ledger::{
    self, Delivered, Direction, Filter, OrderPage, PageCursor, PassOutcome, PassTiming, State,
    Verdict,
};
use impact_pledge::pledge::{ERASED_EMAIL, TransactionId};
use impact_pledge::scope::{Mode, Scope};
use impact_pledge::settlement::Month;
use num_bigint::BigUint;
use proptest::prelude::*;
use serde_json::{Value, json};
use support::ledger::{Failing, SqliteLedger};
use support::memory::MemoryStore;
use support::service::{FixedClock, NOW_MS, SECRET};

const MINUTE: u64 = 60_000;
const DAY_MS: u64 = 24 * 60 * MINUTE;

fn scope(mode: Mode, unit: &str) -> Scope {
    Scope { mode, unit: unit.to_owned() }
}

fn clock(now_ms: u64) -> FixedClock {
    FixedClock(std::cell::Cell::new(now_ms))
}

/// Returns the message about transaction `number` of the unit `u`, with the members of `change` replaced.
pub fn message(number: u8, change: Value) -> Value {
    let scope = scope(Mode::Live, "u");
    let reference = format!("order {number}");
    let id = TransactionId::new(&SECRET, &scope, &reference, [number; 16]);
    let created_at = impact_pledge::time::date_time(NOW_MS + u64::from(number) * 1_000);
    let mut message = json!({
        "id": id.as_str(), "mode": "live", "unit": "u",
        "summary": {
            "createdAt": created_at, "amount": "1.50", "currencyCode": "USD",
            "lookup": SECRET.hashes(&scope, &reference, "ada@shop.example"),
            "key": "0123456789ab", "quantities": [["tree", 3_000_000]],
        },
    });
    merge(&mut message, change);
    message
}

/// Replaces the members of `into` that `change` names. In nested objects, replaces only the named members, too.
fn merge(into: &mut Value, change: Value) {
    match (into, change) {
        (Value::Object(into), Value::Object(change)) => {
            for (name, value) in change {
                merge(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (into, change) => *into = change,
    }
}

#[track_caller]
pub fn receive(ledger: &SqliteLedger, messages: &[Value]) {
    let delivered = messages.iter().map(|body| Delivered { body: body.clone(), attempt: 1 });
    let delivered: Vec<_> = delivered.collect();
    let store = MemoryStore::default();
    let verdicts = block_on(ledger::receive(ledger, &store, &clock(NOW_MS), &delivered));
    assert!(verdicts.iter().all(|verdict| *verdict == Verdict::Done), "{verdicts:?}");
}

pub fn months(texts: &[&str]) -> Vec<Month> {
    texts.iter().map(|text| Month::parse(text).unwrap()).collect()
}

/// `unit mode month currency amount transactions unpriced`
fn sums(ledger: &SqliteLedger, names: &[&str]) -> Vec<String> {
    let sums = block_on(ledger::sums(ledger, None, None, &months(names))).unwrap();
    let text = |sum: &ledger::MonthSum| {
        let ledger::MonthSum { unit, mode, month, currency_code, amount, transactions, unpriced } =
            sum;
        format!("{unit} {} {month} {currency_code} {amount} {transactions} {unpriced}", mode.name())
    };
    sums.iter().map(text).collect()
}

fn list(ledger: &SqliteLedger, filter: &Filter, from: &Direction, most: usize) -> OrderPage {
    block_on(ledger::orders(ledger, filter, from, most)).unwrap()
}

fn references(page: &OrderPage) -> Vec<String> {
    page.orders.iter().map(|order| order.created_at[17..19].to_owned()).collect()
}

// ---- Rows ----------------------------------------------------------------------------------------

#[test]
fn a_message_is_one_row_however_often_it_comes() {
    let ledger = SqliteLedger::default();
    let (first, second) =
        (message(1, json!({})), message(2, json!({ "summary": { "unpriced": 2 } })));
    receive(&ledger, &[first.clone(), second.clone(), first.clone()]);
    receive(&ledger, &[second, first]);
    assert_eq!(sums(&ledger, &["2026-01"]), ["u live 2026-01 USD 3.00 2 2"]);
    assert_eq!(ledger.sql("SELECT count(*) FROM shops"), ["1"]);
    assert_eq!(ledger.sql("SELECT id FROM keys"), ["0123456789ab"]);
}

#[test]
fn of_creates_that_race_with_one_id_the_later_one_counts_in_any_order() {
    let later = json!({ "summary": { "createdAt": "2026-01-31T12:10:00.000Z", "amount": "7.00" } });
    let messages = [message(1, json!({})), message(1, later)];
    for order in [[0, 1], [1, 0]] {
        let ledger = SqliteLedger::default();
        order.iter().for_each(|at| receive(&ledger, &[messages[*at].clone()]));
        assert_eq!(sums(&ledger, &["2026-01"]), ["u live 2026-01 USD 7.00 1 0"]);
    }
}

#[test]
fn an_erasure_stays_whatever_comes_later() {
    let erased = json!({ "summary": {
        "erased": "2026-02-01T00:00:00Z", "lookup": null, "quantities": [["erased", 3_000_000]],
    } });
    let later = json!({ "summary": { "createdAt": "2026-01-31T12:10:00.000Z" } });
    for before in [vec![], vec![message(1, json!({}))]] {
        let ledger = SqliteLedger::default();
        receive(&ledger, &before);
        receive(&ledger, &[message(1, erased.clone())]);
        receive(&ledger, &[message(1, json!({})), message(1, later.clone())]);
        let rows = ledger.sql("SELECT json_array(email, quantities, erased) FROM transactions");
        assert_eq!(rows, [r#"[null,"[[\"erased\",3000000]]",1769904000000]"#]);
    }
}

#[test]
fn a_foreign_message_stops_no_other() {
    let ledger = SqliteLedger::default();
    let wrong = [
        json!(null),
        json!("text"),
        json!({ "id": "ptran_short", "mode": "live", "unit": "u", "summary": {} }),
        message(9, json!({ "summary": { "amount": "-1.00" } })),
        message(9, json!({ "summary": { "amount": "1e999999999" } })),
        message(9, json!({ "summary": { "createdAt": "yesterday" } })),
        message(9, json!({ "summary": { "currencyCode": null } })),
    ];
    let messages: Vec<_> = wrong.into_iter().chain([message(1, json!({}))]).collect();
    receive(&ledger, &messages);
    assert_eq!(sums(&ledger, &["2026-01"]), ["u live 2026-01 USD 1.50 1 0"]);
}

#[test]
fn a_message_without_quantities_has_those_of_the_record_and_its_own_terms() {
    let bare = message(1, json!({ "summary": { "quantities": null, "amount": "7.00" } }));
    let erased = json!({ "summary": { "erased": "2026-02-01T00:00:00Z", "lookup": null } });
    let before = json!({ "summary": { "createdAt": "2026-01-31T12:00:00.000Z" } });
    let rows = [(json!({}), "1.50"), (before, "7.00"), (erased, "1.50")];
    for (change, amount) in rows {
        let (ledger, store) = (SqliteLedger::default(), MemoryStore::default());
        keep(&store, &message(1, change.clone()));
        let delivered = [Delivered { body: bare.clone(), attempt: 1 }];
        block_on(ledger::receive(&ledger, &store, &clock(NOW_MS), &delivered));
        let expected = format!("u live 2026-01 USD {amount} 1 0");
        assert_eq!(sums(&ledger, &["2026-01"]), [expected], "{change}");
        assert_eq!(quantities(&ledger), [("tree".to_owned(), "3".to_owned(), 1)]);
    }
}

#[test]
fn rows_that_break_a_constraint_are_named_and_stop_no_other() {
    let ledger = SqliteLedger::default();
    ledger.sql("CREATE TRIGGER no BEFORE INSERT ON transactions WHEN NEW.cents = 6600 BEGIN SELECT RAISE(ABORT, 'no'); END");
    let wrong = json!({ "summary": { "amount": "66.00" } });
    let wrong = [message(20, wrong.clone()), message(70, wrong)];
    let good = (0..100).filter(|number| ![20, 70].contains(number));
    let messages: Vec<_> =
        good.map(|number| message(number, json!({}))).chain(wrong.clone()).collect();
    receive(&ledger, &messages);
    assert!(ledger.calls.get() < 30, "{}", ledger.calls.get());
    assert_eq!(sums(&ledger, &["2026-01"]), ["u live 2026-01 USD 147.00 98 0"]);
    let findings = block_on(ledger::findings(&ledger, 10)).unwrap();
    let mut expected = wrong.map(|message| message["id"].as_str().unwrap().to_owned());
    expected.sort();
    assert_eq!(findings.into_iter().map(|it| it.name).collect::<Vec<_>>(), expected);
}

#[test]
fn messages_come_again_later_and_later_while_the_database_fails() {
    let store = MemoryStore::default();
    for failing in [Failing::Before, Failing::After] {
        let ledger = SqliteLedger::default();
        ledger.set_failing(failing);
        let seconds = [1, 2, 3, 50].map(|attempt| {
            let messages = [Delivered { body: message(1, json!({})), attempt }];
            block_on(ledger::receive(&ledger, &store, &clock(NOW_MS), &messages))
        });
        let expected = [10, 20, 40, 3_600].map(|seconds| vec![Verdict::Later(seconds)]);
        assert_eq!(seconds, expected);
        ledger.set_failing(Failing::Not);
        receive(&ledger, &[message(1, json!({}))]);
        assert_eq!(sums(&ledger, &["2026-01"]), ["u live 2026-01 USD 1.50 1 0"]);
    }
}

#[test]
fn many_large_rows_are_written_by_several_statements() {
    let ledger = SqliteLedger::default();
    let offerings: Vec<_> = (0..350).map(|at| (format!("{at:0244}"), 1_000_000)).collect();
    let large = json!({ "summary": { "quantities": offerings } }); // of 90 KB
    let messages: Vec<_> = (0..100).map(|number| message(number, large.clone())).collect();
    receive(&ledger, &messages);
    assert_eq!(sums(&ledger, &["2026-01"]), ["u live 2026-01 USD 150.00 100 0"]);
    assert_eq!(ledger.calls.get(), 7 + 1 + 1); // 16 rows at a time, the note, the sum
}

/// The sums of a record's amounts can be longer than the record itself. Long sums must not make a statement fail or stop
/// a pass.
#[test]
fn quantities_that_are_too_many_for_a_row_are_named_and_its_charge_counts() {
    let (ledger, store) = (SqliteLedger::default(), MemoryStore::default());
    let metadata = message(1, json!({ "summary": { "quantities": null } }));
    let pledge = |offering: &str, amount: f64| {
        json!({ "id": "p", "impact": { "amount": amount, "offeringId": offering },
            "recipient": { "email": "ada@shop.example" }, "details": [] })
    };
    let pledges: Vec<_> = (0..3_000)
        .flat_map(|at| [1e308, 5e-324].map(|amount| pledge(&at.to_string(), amount)))
        .collect();
    let name = format!("transaction:{}", metadata["id"].as_str().unwrap());
    store.keep(&name, &record(&pledges), metadata.to_string().as_bytes());
    keep(&store, &message(2, json!({})));
    for minutes in [10, 80, 150] {
        let (reached, _) = reconcile(&ledger, &store, NOW_MS + minutes * MINUTE, 100);
        assert_eq!(reached, PassOutcome::Complete);
        assert_eq!(sums(&ledger, &["2026-01"]), ["u live 2026-01 USD 3.00 2 0"]);
        assert_eq!(quantities(&ledger), [("tree".to_owned(), "3".to_owned(), 1)]);
        let findings = block_on(ledger::findings(&ledger, 10)).unwrap();
        let found: Vec<_> = findings.into_iter().map(|it| (it.kind, it.name)).collect();
        let id = metadata["id"].as_str().unwrap().to_owned();
        assert_eq!(found, [(ledger::FindingKind::Large, id)]);
    }
}

#[test]
fn long_offerings_are_cut_and_stay_distinct() {
    let ledger = SqliteLedger::default();
    let of = |number, offering: String| {
        message(number, json!({ "summary": { "quantities": [[offering, 1_000_000]] } }))
    };
    let long = |last: &str| "\u{e9}".repeat(1_000) + last;
    receive(
        &ledger,
        &[of(1, long("a")), of(2, long("b")), of(3, long("a")), of(4, "\u{e9}".repeat(128))],
    );
    let found = quantities(&ledger);
    let mut counts: Vec<_> = found.iter().map(|(_, sum, count)| (sum.as_str(), *count)).collect();
    counts.sort_unstable();
    assert_eq!(counts, [("1", 1), ("1", 1), ("2", 2)]);
    for (offering, ..) in found {
        assert!(offering.len() <= 256 && offering.starts_with(&"\u{e9}".repeat(90)), "{offering}");
    }
}

// ---- Lists ---------------------------------------------------------------------------------------

#[test]
fn lists_go_both_ways_and_lose_nothing() {
    let ledger = SqliteLedger::default();
    let same_time = json!({ "summary": { "createdAt": "2026-01-31T12:00:05.000Z" } });
    let mut messages: Vec<_> = (1..=20).map(|number| message(number, json!({}))).collect();
    messages.extend((21..=25).map(|number| message(number, same_time.clone())));
    messages
        .extend((26..=40).map(|number| message(number, json!({ "unit": "v", "mode": "test" }))));
    receive(&ledger, &messages);
    let filter = Filter::default();
    let whole = list(&ledger, &filter, &Direction::Newest, 100);
    assert_eq!((whole.orders.len(), &whole.newer, &whole.older), (40, &None, &None));
    let mut pages = vec![list(&ledger, &filter, &Direction::Newest, 7)];
    while let Some(place) = pages.last().unwrap().older.clone() {
        let place = PageCursor::parse(&place.to_string()).unwrap();
        pages.push(list(&ledger, &filter, &Direction::Older(place), 7));
    }
    let orders: Vec<_> = pages.iter().flat_map(|page| page.orders.clone()).collect();
    assert_eq!(orders, whole.orders);
    for (page, before) in pages.iter().skip(1).zip(&pages) {
        let newer = Direction::Newer(page.newer.clone().unwrap());
        assert_eq!(list(&ledger, &filter, &newer, 7).orders, before.orders);
    }
    let newest = Direction::Newer(whole.orders[0].place());
    assert_eq!(list(&ledger, &filter, &newest, 7), OrderPage::default());
}

#[test]
fn lists_are_those_of_units_modes_keys_times_or_without_a_price() {
    let ledger = SqliteLedger::default();
    receive(
        &ledger,
        &[
            message(1, json!({})),
            message(2, json!({ "mode": "test" })),
            message(3, json!({ "unit": "v" })),
            message(4, json!({ "summary": { "key": "ffffffffffff" } })),
            message(5, json!({ "summary": { "unpriced": 1 } })),
            message(6, json!({ "summary": { "key": null } })),
        ],
    );
    let units = |units: &[&str]| Some(units.iter().map(|unit| (*unit).to_owned()).collect());
    let at = |second: u64| NOW_MS + second * 1_000;
    let rows = [
        (Filter { units: units(&["v"]), ..Filter::default() }, "03"),
        (
            Filter { units: units(&["u", "v", "w"]), mode: Some(Mode::Test), ..Filter::default() },
            "02",
        ),
        (Filter { units: units(&[]), ..Filter::default() }, ""),
        (Filter { key: Some("ffffffffffff".to_owned()), ..Filter::default() }, "04"),
        (Filter { key: Some("' OR 1".to_owned()), ..Filter::default() }, ""),
        (Filter { unpriced: true, ..Filter::default() }, "05"),
        (Filter { from: at(3), until: Some(at(5)), ..Filter::default() }, "04 03"),
    ];
    for (filter, expected) in rows {
        let page = list(&ledger, &filter, &Direction::Newest, 10);
        assert_eq!(references(&page).join(" "), expected, "{filter:?}");
    }
}

#[test]
fn orders_are_found_by_address_and_reference_over_all_shops() {
    let ledger = SqliteLedger::default();
    let other = scope(Mode::Test, "v");
    let reference = "order 2";
    let lookup = json!(SECRET.hashes(&other, reference, "ADA@shop.example"));
    let id = TransactionId::new(&SECRET, &other, reference, [9; 16]);
    let of_other =
        json!({ "id": id.as_str(), "mode": "test", "unit": "v", "summary": { "lookup": lookup } });
    receive(&ledger, &[message(1, json!({})), message(2, json!({})), message(3, of_other)]);
    let shops = block_on(ledger::shops(&ledger, None, None)).unwrap();
    assert_eq!(shops, [scope(Mode::Live, "u"), other.clone()]);
    let by_email = |shops: &[Scope], email: &str| {
        let found = ledger::by_email(&ledger, &SECRET, (shops, email), &Direction::Newest, 10);
        references(&block_on(found).unwrap()).join(" ")
    };
    assert_eq!(by_email(&shops, "Ada@Shop.example"), "03 02 01");
    assert_eq!(by_email(&shops[1..], "ada@shop.example"), "03");
    assert_eq!(by_email(&shops, "bob@shop.example"), "");
    let by_reference = |shops: &[Scope], reference: &str| {
        let asked = (shops, reference);
        let found = ledger::by_reference(&ledger, &SECRET, asked, &Direction::Newest, 10);
        references(&block_on(found).unwrap()).join(" ")
    };
    assert_eq!(by_reference(&shops, reference), "03 02");
    assert_eq!(by_reference(&shops, "order 1"), "01");
    assert_eq!(by_reference(&shops, "#ORDER1"), "01");
    assert_eq!(by_reference(&shops, "order"), "");
}

// ---- Sums ----------------------------------------------------------------------------------------

#[test]
fn months_are_those_of_utc() {
    let ledger = SqliteLedger::default();
    let at = |time: &str| json!({ "summary": { "createdAt": time } });
    receive(
        &ledger,
        &[
            message(1, at("2025-12-31T23:59:59.999Z")),
            message(2, at("2026-01-01T00:00:00.000Z")),
            message(3, at("2026-01-31T23:59:59.999Z")),
            message(4, at("2026-02-01T00:00:00.000Z")),
        ],
    );
    assert_eq!(sums(&ledger, &["2026-01"]), ["u live 2026-01 USD 3.00 2 0"]);
    let all = block_on(ledger::months_of(&ledger, None, None)).unwrap();
    assert_eq!(all, months(&["2026-02", "2026-01", "2025-12"]));
    assert_eq!(block_on(ledger::months_of(&ledger, Some(Mode::Test), None)).unwrap(), []);
}

/// Returns a decimal as an integer number of 10^-324.
fn exact(text: &str) -> BigUint {
    let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let digits: BigUint = [whole, fraction].concat().parse().unwrap();
    let power = 324 - fraction.len() as i32 + exponent.parse::<i32>().unwrap();
    digits * BigUint::from(10_u8).pow(u32::try_from(power).unwrap())
}

fn quantities(ledger: &SqliteLedger) -> Vec<(String, String, u64)> {
    let months = months(&["2026-01"]);
    let found = block_on(ledger::quantities(ledger, None, None, &months, 100)).unwrap().into_iter();
    found.map(|sum| (sum.offering, sum.quantity, sum.transactions)).collect()
}

/// An amount of any size, as Rust writes doubles.
fn amount() -> impl Strategy<Value = f64> {
    prop_oneof![
        1.0..1e6,
        (0_u64..1 << 53).prop_map(|integer| integer as f64),
        (0_u64..0x7FF0_0000_0000_0000).prop_map(f64::from_bits),
        Just(f64::MAX),
        Just(5e-324),
        Just((1_u64 << 53) as f64 + 2.0),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn sums_of_any_amounts_are_exact(amounts in proptest::collection::vec(amount(), 1..40)) {
        let ledger = SqliteLedger::default();
        let messages = amounts.iter().zip(1..).map(|(amount, number)| {
            let text = format!("{amount:e}");
            message(number, json!({ "summary": { "quantities": [["tree", text]] } }))
        });
        receive(&ledger, &messages.collect::<Vec<_>>());
        let expected: BigUint = amounts.iter().map(|amount| exact(&format!("{amount:e}"))).sum();
        let found = quantities(&ledger);
        prop_assert_eq!(found.len(), 1);
        prop_assert_eq!(exact(&found[0].1), expected);
    }

    #[test]
    fn sums_of_any_charges_are_exact(whole in proptest::collection::vec("[0-9]{1,311}", 1..40)) {
        let ledger = SqliteLedger::default();
        let currency = |number: u8| if number.is_multiple_of(3) { "EUR" } else { "USD" };
        let amounts = (1..).zip(&whole).map(|(number, whole)| (number, format!("{whole}.{number:0>2}")));
        let amounts: Vec<(u8, String)> = amounts.collect();
        let messages = amounts.iter().map(|(number, amount)| {
            let summary = json!({ "amount": amount, "currencyCode": currency(*number) });
            message(*number, json!({ "summary": summary }))
        });
        receive(&ledger, &messages.collect::<Vec<_>>());
        for sum in block_on(ledger::sums(&ledger, None, None, &months(&["2026-01"]))).unwrap() {
            let own = amounts.iter().filter(|(number, _)| currency(*number) == sum.currency_code);
            let expected: BigUint = own.map(|(_, amount)| exact(amount)).sum();
            prop_assert_eq!(exact(&sum.amount), expected);
        }
    }
}

#[test]
fn offerings_that_begin_alike_are_summed_apart() {
    let ledger = SqliteLedger::default();
    let of = |number, offering: &str| {
        message(number, json!({ "summary": { "quantities": [[offering, 1_500_000]] } }))
    };
    receive(
        &ledger,
        &[of(1, "tree"), of(2, "tree\0"), of(3, "TREE"), of(4, "tree "), of(5, "tree")],
    );
    let found: Vec<_> = quantities(&ledger);
    let expected =
        [("TREE", "1.5", 1), ("tree", "3", 2), ("tree\0", "1.5", 1), ("tree ", "1.5", 1)];
    let mut expected =
        expected.map(|(offering, sum, count)| (offering.to_owned(), sum.to_owned(), count));
    let mut found = found;
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

// ---- Claims --------------------------------------------------------------------------------------

fn fact(name: &str) -> Fact {
    Fact { kind: Kind::Member, name: name.to_owned() }
}

fn by(author: &str, at: u64) -> Change {
    Change { change: format!("audit:{author}"), author: author.to_owned(), at }
}

/// Claims the fact `t:u` in the ledger, for a change to the state `wanted`. `is_there`: whether the fact's record was seen.
fn claim(ledger: &SqliteLedger, wanted: TargetState, is_there: bool, by: &Change) -> ClaimOutcome {
    let seen = ObservedFact { fact: fact("t:u"), is_there, change: None };
    block_on(claims::claim(ledger, wanted, &[seen], by)).unwrap().remove(0)
}

#[track_caller]
fn theirs(turn: ClaimOutcome) -> (String, claims::State) {
    match turn {
        ClaimOutcome::Theirs(claim) => (claim.by.author, claim.state),
        other => panic!("{other:?}"),
    }
}

#[test]
fn of_two_changes_of_one_fact_the_second_one_hears_of_the_first() {
    use claims::State::{Adding, Gone, Kept, Removing};
    let ledger = SqliteLedger::default();
    let people = ["ada", "bob", "cyd", "dan"];
    let [ada, bob, cyd, dan] = people.map(|author| by(author, NOW_MS));
    let facts = [fact("t:u")];
    let add = |is_there, by| claim(&ledger, TargetState::Added, is_there, by);
    let remove = |is_there, by| claim(&ledger, TargetState::Removed, is_there, by);
    let heard = |author: &str, state| (author.to_owned(), state);
    assert_eq!(remove(false, &bob), ClaimOutcome::None);
    assert_eq!(add(false, &ada), ClaimOutcome::Ours);
    assert_eq!(add(false, &ada), ClaimOutcome::Ours, "a call that was repeated");
    assert_eq!(theirs(add(false, &bob)), heard("ada", Adding));
    assert_eq!(theirs(remove(true, &bob)), heard("ada", Adding));
    block_on(claims::give_up(&ledger, &facts, &ada)).unwrap();
    assert_eq!(add(false, &bob), ClaimOutcome::Ours);
    block_on(claims::confirm(&ledger, &facts, &bob)).unwrap();
    for is_there in [true, false] {
        assert_eq!(theirs(add(is_there, &ada)), heard("bob", Kept));
    }
    for is_there in [false, true] {
        assert_eq!(remove(is_there, &cyd), ClaimOutcome::Ours);
        assert_eq!(theirs(remove(is_there, &dan)), heard("cyd", Removing));
        assert_eq!(theirs(add(is_there, &dan)), heard("cyd", Removing));
        block_on(claims::give_up(&ledger, &facts, &cyd)).unwrap();
        assert_eq!(theirs(add(is_there, &dan)), heard("bob", Kept));
    }
    assert_eq!(remove(true, &dan), ClaimOutcome::Ours);
    for _ in 0..2 {
        block_on(claims::confirm(&ledger, &facts, &dan)).unwrap();
    }
    assert_eq!(theirs(remove(true, &cyd)), heard("dan", Gone));
    assert_eq!(add(true, &cyd), ClaimOutcome::Ours, "KV shows the old record");
}

/// A change can be given up whatever the earlier state was. If the record was seen, it has a claim afterwards.
#[test]
fn giving_up_a_change_restores_the_earlier_state() {
    let row = |state, change, age| {
        format!("'member', 't:u', '{state}', '{change}', '{change}', {}", NOW_MS - age)
    };
    for (before, is_there, wanted, after) in [
        (None, false, TargetState::Added, None),
        (None, true, TargetState::Removed, Some(("kept", "", NOW_MS))),
        (Some(("kept", "x", MINUTE)), true, TargetState::Removed, Some(("kept", "x", MINUTE))),
        (Some(("kept", "", NOW_MS)), true, TargetState::Removed, Some(("kept", "", NOW_MS))),
        (Some(("gone", "x", MINUTE)), true, TargetState::Added, Some(("gone", "x", MINUTE))),
        (
            Some(("gone", "x", 30 * MINUTE)),
            false,
            TargetState::Added,
            Some(("gone", "x", 30 * MINUTE)),
        ),
    ] {
        let ledger = SqliteLedger::default();
        if let Some((state, change, age)) = before {
            let columns = "kind, name, state, change, author, at";
            ledger.sql(&format!(
                "INSERT INTO claims ({columns}) VALUES ({})",
                row(state, change, age)
            ));
        }
        for _ in 0..2 {
            assert_eq!(claim(&ledger, wanted, is_there, &by("ada", NOW_MS)), ClaimOutcome::Ours);
        }
        for _ in 0..2 {
            let ada = by("ada", NOW_MS);
            block_on(claims::give_up(&ledger, &[fact("t:u")], &ada)).unwrap();
        }
        let claims = ledger.sql("SELECT format('%Q, %Q, %Q, %Q, %Q, %d', kind, name, state, change, author, at) FROM claims");
        let after = after.map(|(state, change, age)| row(state, change, age));
        assert_eq!(claims, Vec::from_iter(after), "{before:?} {wanted:?}");
    }
}

/// KV still shows a removed record for a while. It must not be removed twice.
#[test]
fn an_addition_that_is_given_up_does_not_forget_the_removal_before_it() {
    let ledger = SqliteLedger::default();
    let [ada, bob, cyd] = ["ada", "bob", "cyd"].map(|author| by(author, NOW_MS));
    let facts = [fact("t:u")];
    assert_eq!(claim(&ledger, TargetState::Removed, true, &ada), ClaimOutcome::Ours);
    block_on(claims::confirm(&ledger, &facts, &ada)).unwrap();
    assert_eq!(claim(&ledger, TargetState::Added, true, &bob), ClaimOutcome::Ours);
    block_on(claims::give_up(&ledger, &facts, &bob)).unwrap();
    let gone = ("ada".to_owned(), claims::State::Gone);
    assert_eq!(theirs(claim(&ledger, TargetState::Removed, true, &cyd)), gone);
}

#[test]
fn a_removal_is_of_the_record_that_was_seen() {
    let ledger = SqliteLedger::default();
    let ada = by("ada", NOW_MS);
    claim(&ledger, TargetState::Added, false, &ada);
    block_on(claims::confirm(&ledger, &[fact("t:u")], &ada)).unwrap();
    for (change, is_ours) in [(Some("audit:older"), false), (Some("audit:ada"), true), (None, true)]
    {
        let change = change.map(str::to_owned);
        let seen = [ObservedFact { fact: fact("t:u"), is_there: true, change }];
        let bob = by("bob", NOW_MS);
        let turn = block_on(claims::claim(&ledger, TargetState::Removed, &seen, &bob)).unwrap();
        assert_eq!(turn[0] == ClaimOutcome::Ours, is_ours, "{turn:?}");
        block_on(claims::give_up(&ledger, &[fact("t:u")], &bob)).unwrap();
    }
}

/// A claim that a crash left behind has no effect after 20 minutes, whatever others have done to the record since.
#[test]
fn an_old_claim_or_one_of_a_clock_that_is_far_ahead_gives_way_to_the_record() {
    for (age, is_recent) in [
        (0, true),
        (20 * MINUTE, true),
        (20 * MINUTE + 1, false),
        (0_u64.wrapping_sub(6 * MINUTE), false),
    ] {
        for state in ["adding", "kept", "removing", "gone"] {
            for is_there in [false, true] {
                for wanted in [TargetState::Added, TargetState::Removed] {
                    let ledger = SqliteLedger::default();
                    let at = NOW_MS.wrapping_sub(age);
                    ledger.sql(&format!(
                        "INSERT INTO claims (kind, name, state, change, author, at) VALUES ('member', 't:u', '{state}', 'x', 'x', {at})"
                    ));
                    let turn = claim(&ledger, wanted, is_there, &by("ada", NOW_MS));
                    let before = if wanted == TargetState::Added { "gone" } else { "kept" };
                    let is_ours = match is_recent {
                        true => state == before,
                        false => is_there == (wanted == TargetState::Removed),
                    };
                    let rows = ledger.sql("SELECT author FROM claims");
                    assert_eq!(
                        turn == ClaimOutcome::Ours,
                        is_ours,
                        "{age} {state} {is_there} {wanted:?}"
                    );
                    assert_eq!(rows, [if is_ours { "ada" } else { "x" }]);
                    assert_eq!(matches!(turn, ClaimOutcome::Theirs(_)), is_recent && !is_ours);
                }
            }
        }
    }
}

#[test]
fn thousands_of_facts_are_claimed_together() {
    let ledger = SqliteLedger::default();
    let longest = |number: usize| fact(&format!("{number:0>128}:{number:0>128}"));
    let facts: Vec<_> = (0..2_500).map(longest).collect();
    let seen = |fact: &Fact| ObservedFact { fact: fact.clone(), is_there: false, change: None };
    let seen: Vec<_> = facts.iter().map(seen).collect();
    let (ada, bob) = (by("ada", NOW_MS), by("bob", NOW_MS));
    let claim = |by| block_on(claims::claim(&ledger, TargetState::Added, &seen, by)).unwrap();
    assert!(claim(&ada).iter().all(|turn| *turn == ClaimOutcome::Ours));
    block_on(claims::confirm(&ledger, &facts, &ada)).unwrap();
    assert_eq!(ledger.calls.get(), 6);
    assert!(claim(&bob).into_iter().all(|turn| theirs(turn).0 == "ada"));
}

// ---- Reconciliation ------------------------------------------------------------------------------

/// Returns the stored value of a transaction with these pledges.
fn record(pledges: &[Value]) -> Vec<u8> {
    let charge = json!({ "amount": "1.50", "currencyCode": "USD", "paidAt": null });
    let record = json!({
        "createdAt": "2026-01-31T12:00:01.000Z", "reference": "r", "isLive": true, "trigger": {},
        "charge": charge, "pledges": pledges,
    });
    record.to_string().into_bytes()
}

/// Stores the record that a message is about.
pub fn keep(store: &MemoryStore, message: &Value) {
    let name = format!("transaction:{}", message["id"].as_str().unwrap());
    let mut metadata = message.clone();
    metadata["bytes"] = json!(1_000);
    store.keep(&name, b"{}", metadata.to_string().as_bytes());
}

fn reconcile(
    ledger: &SqliteLedger,
    store: &MemoryStore,
    now_ms: u64,
    calls: u32,
) -> (PassOutcome, State) {
    block_on(ledger::reconcile(ledger, store, &clock(now_ms), ("one", PassTiming::Due), calls))
        .unwrap()
}

#[test]
fn a_pass_finds_records_without_a_message() {
    let (ledger, store) = (SqliteLedger::default(), MemoryStore::default());
    store.set_page_length(3);
    let messages: Vec<_> = (1..=10).map(|number| message(number, json!({}))).collect();
    messages.iter().for_each(|message| keep(&store, message));
    receive(&ledger, &messages[3..6]);
    let now = NOW_MS + 10 * MINUTE;
    let (reached, state) = reconcile(&ledger, &store, now, 1_000);
    assert_eq!((reached, state.last_listed, state.last_mended), (PassOutcome::Complete, 10, 7));
    assert_eq!(state.watermark(), Some(now - 2 * MINUTE));
    assert_eq!(sums(&ledger, &["2026-01"]), ["u live 2026-01 USD 15.00 10 0"]);
    assert_eq!(reconcile(&ledger, &store, now + 59 * MINUTE, 1_000).0, PassOutcome::NotDue);
    let (reached, state) = reconcile(&ledger, &store, now + 61 * MINUTE, 1_000);
    assert_eq!((reached, state.last_mended), (PassOutcome::Complete, 0));
}

#[test]
fn a_pass_continues_where_it_stopped() {
    let (ledger, store) = (SqliteLedger::default(), MemoryStore::default());
    store.set_page_length(2);
    (1..=20).for_each(|number| keep(&store, &message(number, json!({}))));
    let now = NOW_MS + 10 * MINUTE;
    let mut invocations = 0;
    while reconcile(&ledger, &store, now + invocations, 12).0 != PassOutcome::Complete {
        invocations += 1;
        let state = block_on(ledger::state(&ledger)).unwrap();
        assert_eq!(state.watermark(), None); // not complete yet
    }
    assert!(invocations > 2, "{invocations}");
    assert_eq!(sums(&ledger, &["2026-01"]), ["u live 2026-01 USD 30.00 20 0"]);
    assert_eq!(block_on(ledger::state(&ledger)).unwrap().watermark(), Some(now - 2 * MINUTE));
}

#[test]
fn two_never_work_at_one_pass() {
    let (ledger, store) = (SqliteLedger::default(), MemoryStore::default());
    keep(&store, &message(1, json!({})));
    let now = NOW_MS + 10 * MINUTE;
    ledger.sql(&format!(
        "UPDATE reconciliation SET holder = 'other', lease = {}, started = {now}",
        now + MINUTE
    ));
    assert_eq!(reconcile(&ledger, &store, now, 100).0, PassOutcome::Busy);
    assert_eq!(reconcile(&ledger, &store, now + 2 * MINUTE, 100).0, PassOutcome::Complete);
}

#[test]
fn the_current_record_counts_and_a_stale_read_does_not() {
    let (ledger, store) = (SqliteLedger::default(), MemoryStore::default());
    let (before, other) = (message(1, json!({})), json!({ "summary": { "amount": "9.00" } }));
    receive(&ledger, &[before]);
    keep(&store, &message(1, other));
    reconcile(&ledger, &store, NOW_MS + MINUTE, 100); // the row was written a minute ago
    assert_eq!(sums(&ledger, &["2026-01"]), ["u live 2026-01 USD 1.50 1 0"]);
    reconcile(&ledger, &store, NOW_MS + 70 * MINUTE, 100);
    assert_eq!(sums(&ledger, &["2026-01"]), ["u live 2026-01 USD 9.00 1 0"]);
}

#[test]
fn a_row_without_a_record_is_removed_and_named() {
    let (ledger, store) = (SqliteLedger::default(), MemoryStore::default());
    let (kept, gone, late) = (message(1, json!({})), message(2, json!({})), message(3, json!({})));
    receive(&ledger, &[kept.clone(), gone.clone(), late.clone()]);
    keep(&store, &kept);
    ledger.sql(&format!(
        "UPDATE transactions SET created = {} WHERE id = '{}'",
        NOW_MS + 9 * MINUTE,
        late["id"].as_str().unwrap()
    ));
    reconcile(&ledger, &store, NOW_MS + 10 * MINUTE, 100);
    assert_eq!(sums(&ledger, &["2026-01"]), ["u live 2026-01 USD 3.00 2 0"]);
    let findings = block_on(ledger::findings(&ledger, 10)).unwrap();
    assert_eq!(findings.len(), 1);
    assert_eq!(
        (&*findings[0].name, findings[0].kind),
        (gone["id"].as_str().unwrap(), ledger::FindingKind::Gone)
    );
    assert!(findings[0].detail.contains(r#""cents":150"#), "{}", findings[0].detail);
}

#[test]
fn a_row_is_never_removed_without_a_name() {
    let (ledger, store) = (SqliteLedger::default(), MemoryStore::default());
    receive(&ledger, &[message(1, json!({}))]);
    ledger.sql("CREATE TRIGGER no BEFORE INSERT ON findings BEGIN SELECT RAISE(ABORT, 'no'); END");
    let run = || {
        let now = clock(NOW_MS + 10 * MINUTE);
        block_on(ledger::reconcile(&ledger, &store, &now, ("one", PassTiming::Now), 100))
    };
    assert!(run().is_err());
    assert_eq!(ledger.sql("SELECT count(*) FROM transactions"), ["1"]);
    ledger.sql("DROP TRIGGER no");
    assert_eq!(run().unwrap().0, PassOutcome::Complete);
    assert_eq!(ledger.sql("SELECT count(*) FROM transactions"), ["0"]);
    assert_eq!(block_on(ledger::findings(&ledger, 10)).unwrap().len(), 1);
}

#[test]
fn a_record_that_is_hidden_from_the_list_keeps_its_row() {
    let (ledger, store) = (SqliteLedger::default(), MemoryStore::default());
    let hidden = message(1, json!({}));
    receive(&ledger, std::slice::from_ref(&hidden));
    store.freeze_lists(true);
    keep(&store, &hidden);
    reconcile(&ledger, &store, NOW_MS + 10 * MINUTE, 100);
    assert_eq!(sums(&ledger, &["2026-01"]), ["u live 2026-01 USD 1.50 1 0"]);
}

#[test]
fn damaged_records_are_named_until_they_are_mended() {
    let (ledger, store) = (SqliteLedger::default(), MemoryStore::default());
    let good = message(1, json!({}));
    keep(&store, &message(1, json!({ "summary": { "amount": "many" } })));
    store.keep("transaction:odd", b"{}", b"null");
    reconcile(&ledger, &store, NOW_MS + 10 * MINUTE, 100);
    let names = |ledger: &SqliteLedger| -> Vec<String> {
        let findings = block_on(ledger::findings(ledger, 10)).unwrap();
        findings.into_iter().map(|finding| finding.name).collect()
    };
    let name = format!("transaction:{}", good["id"].as_str().unwrap());
    assert_eq!(names(&ledger), ["transaction:odd", &name]);
    keep(&store, &good);
    reconcile(&ledger, &store, NOW_MS + 80 * MINUTE, 100);
    assert_eq!(names(&ledger), ["transaction:odd"]);
}

fn states(ledger: &SqliteLedger) -> Vec<String> {
    ledger.sql("SELECT name || ' ' || state FROM claims ORDER BY kind, name")
}

#[test]
fn a_value_from_before_an_erasure_gives_no_row() {
    let (ledger, store) = (SqliteLedger::default(), MemoryStore::default());
    let erased = json!({ "erased": "2026-02-01T00:00:00Z", "lookup": null, "quantities": null });
    let metadata = message(1, json!({ "summary": erased }));
    let name = format!("transaction:{}", metadata["id"].as_str().unwrap());
    let keep = |email: &str, offering: &str| {
        let value = record(&[json!({
            "id": "p", "impact": { "amount": 3, "offeringId": offering },
            "recipient": { "email": email }, "details": [],
        })]);
        store.keep(&name, &value, metadata.to_string().as_bytes());
    };
    keep("ada@shop.example", "for Ada"); // KV may show this value for a minute
    reconcile(&ledger, &store, NOW_MS + 10 * MINUTE, 100);
    assert_eq!(ledger.sql("SELECT quantities FROM transactions"), [""; 0]);
    assert_eq!(block_on(ledger::findings(&ledger, 10)).unwrap().len(), 1);
    keep(ERASED_EMAIL, "erased");
    reconcile(&ledger, &store, NOW_MS + 80 * MINUTE, 100);
    assert_eq!(ledger.sql("SELECT quantities FROM transactions"), [r#"[["erased",3000000]]"#]);
    assert_eq!(block_on(ledger::findings(&ledger, 10)).unwrap(), []);
}

#[test]
fn claims_are_updated_from_kv() {
    let (ledger, store) = (SqliteLedger::default(), MemoryStore::default());
    let now = NOW_MS + DAY_MS;
    let records = [
        "member:t:adding",
        "member:t:gone",
        "member:t:kept",
        "member:t:missing",
        "member:t:removing",
        "member:t:soon",
        "settlement:live:a:b:2026-01",
        "settlement:test:a:2026-01",
        "settlement:none of ours",
        "member:none\"of ours:",
    ];
    records.iter().for_each(|name| store.keep(name, b"{}", b"null"));
    for there in ["", " less"] {
        for (name, state) in
            [("adding", "adding"), ("gone", "gone"), ("kept", "kept"), ("removing", "removing")]
        {
            ledger.sql(&format!(
                "INSERT INTO claims (kind, name, state, change, author, at) VALUES ('member', 't:{name}{there}', '{state}', '', '', {})",
                now - 21 * MINUTE
            ));
        }
    }
    for (name, state) in [("t:soon", "gone"), ("t:soon less", "adding")] {
        ledger.sql(&format!(
            "INSERT INTO claims (kind, name, state, change, author, at) VALUES ('member', '{name}', '{state}', '', '', {})",
            now - 19 * MINUTE
        ));
    }
    ledger.sql("INSERT INTO claims (kind, name, state, change, author, at) VALUES ('settlement', 'live:a:2026-01', 'kept', '', '', 0)");
    assert_eq!(block_on(ledger::state(&ledger)).unwrap().imported, None);
    reconcile(&ledger, &store, now, 100);
    let expected = [
        "t:adding kept",
        "t:gone kept",
        "t:gone less gone",
        "t:kept kept",
        "t:missing kept",
        "t:removing kept",
        "t:removing less gone",
        "t:soon gone",
        "t:soon less adding",
        "live:a:b:2026-01 kept",
        "test:a:2026-01 kept",
    ];
    assert_eq!(states(&ledger), expected);
    assert_eq!(block_on(ledger::state(&ledger)).unwrap().imported, Some(now));
    reconcile(&ledger, &store, now + DAY_MS, 100);
    let last = states(&ledger);
    assert!(last.iter().all(|row| row.ends_with("kept")) && last.len() == 8, "{last:?}");
}

/// A rebuild empties all tables.
#[test]
fn missing_rows_are_imported_over_several_calls() {
    const SHOPS: usize = 1_500;
    let (ledger, store) = (SqliteLedger::default(), MemoryStore::default());
    for number in 0..36_000 {
        let (mode, shop) = (["live", "test"][number % 2], number / 2 % SHOPS);
        let month = format!("20{:02}-{:02}", number / 2 / SHOPS, 1 + number % 12);
        let name = format!("settlement:{mode}:{shop:0>128}:{month}");
        store.keep(&name, b"{}", b"null");
        store.keep(&format!("member:{shop:0>128}:{number:0>128}"), b"{}", b"null");
    }
    let settlements = store.names().iter().filter(|name| name.starts_with("settlement:")).count();
    let now = NOW_MS + 10 * MINUTE;
    let mut invocations = 1;
    while reconcile(&ledger, &store, now + invocations, 50).0 != PassOutcome::Complete {
        invocations += 1;
    }
    assert!((4..8).contains(&invocations), "{invocations}");
    let counts = ledger.sql("SELECT count(*) FROM claims GROUP BY kind ORDER BY kind");
    assert_eq!(counts, ["36000", &settlements.to_string()]);
    assert!(settlements > 10_000, "{settlements}");
}

/// Workers KV returns list pages without names where many records were removed.
#[test]
fn a_page_without_names_does_not_mean_that_records_were_removed() {
    let (ledger, store) = (SqliteLedger::default(), MemoryStore::default());
    let messages: Vec<_> = (1..=3).map(|number| message(number, json!({}))).collect();
    messages.iter().for_each(|message| keep(&store, message));
    receive(&ledger, &messages);
    store.keep("member:t:u", b"{}", b"null");
    reconcile(&ledger, &store, NOW_MS + 10 * MINUTE, 1_000);
    store.set_page_length(0);
    let (reached, state) = reconcile(&ledger, &store, NOW_MS + 80 * MINUTE, 20);
    assert_eq!((reached, state.mended), (PassOutcome::Part, 0));
    assert_eq!(states(&ledger), ["t:u kept"]);
    store.set_page_length(1);
    let (reached, state) = reconcile(&ledger, &store, NOW_MS + 80 * MINUTE, 1_000);
    assert_eq!((reached, state.last_listed, state.last_mended), (PassOutcome::Complete, 3, 0));
}

#[test]
fn a_pass_outlives_a_store_or_a_database_that_fails() {
    let (ledger, store) = (SqliteLedger::default(), MemoryStore::default());
    store.set_page_length(2);
    (1..=9).for_each(|number| keep(&store, &message(number, json!({}))));
    let now = NOW_MS + 10 * MINUTE;
    let run = |now| {
        block_on(ledger::reconcile(&ledger, &store, &clock(now), ("one", PassTiming::Due), 12))
    };
    assert_eq!(run(now).unwrap().0, PassOutcome::Part);
    store.set_broken(true);
    for failure in 1..=5 {
        assert!(run(now + failure * 4 * MINUTE).is_err());
    }
    store.set_broken(false);
    assert_eq!(block_on(ledger::state(&ledger)).unwrap().started, None); // its cursor may have expired
    for failing in [Failing::Before, Failing::After] {
        ledger.set_failing(failing);
        assert!(run(now + 30 * MINUTE).is_err());
        ledger.set_failing(Failing::Not);
    }
    let mut at = now + 40 * MINUTE;
    while run(at).unwrap().0 != PassOutcome::Complete {
        at += 1;
    }
    assert_eq!(sums(&ledger, &["2026-01"]), ["u live 2026-01 USD 13.50 9 0"]);
}
