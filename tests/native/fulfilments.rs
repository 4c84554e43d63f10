//! Tests the fulfilments (records of what was done for pledges), and the balances of what is still to be
//! done.

use futures_executor::block_on;
use impact_pledge::office::fulfilment::rows::fulfilments::{MAX_FULFILMENTS, NewFulfilment};
use impact_pledge::office::fulfilment::rule as fulfilments;
use impact_pledge::office::fulfilment::rule::Balances;
use impact_pledge::office::shared::rows::port::Unbound;
use impact_pledge::office::shared::rule::error::OperatorError;
use impact_pledge::office::shared::rule::once::Done;
use impact_pledge::office::shared::rule::operation_id::OperationId;
use impact_pledge::pledges::scope::Mode;
use impact_pledge::pledges::settlement::Month;
use serde_json::{Value, json};
use support::ledger::{Failing, SqliteLedger};
use support::memory::MemoryStore;
use support::service::{
    CountedEntropy, LIVE_UNIT, TestOperator, TestService, UNIT, changes, minimal, seeded,
    test_operator,
};

/// A service with pledges of January 2026, and its operator.
struct Bench {
    service: TestService<MemoryStore>,
    test_operator: TestOperator<CountedEntropy>,
    ledger: SqliteLedger,
}

/// Returns a service with two transactions of January: one in live mode (10 trees and 2.5 `reef`), and one
/// in test mode (1 tree).
fn bench() -> Bench {
    let service = seeded();
    let mut order = minimal();
    order["pledges"] = json!([
        { "impact": { "amount": 10, "offeringId": "tree" } },
        { "impact": { "amount": 2.5, "offeringId": "reef" } },
    ]);
    service.create(LIVE_UNIT, &order);
    order["pledges"] = json!([{ "impact": { "amount": 1, "offeringId": "tree" } }]);
    service.create(UNIT, &order);
    let bench = Bench { service, test_operator: test_operator(), ledger: SqliteLedger::default() };
    bench.ledger.reconcile(&*bench.service.store, bench.test_operator.clock.0.get());
    bench
}

fn january() -> Month {
    Month::parse("2026-01").unwrap()
}

/// Returns what was done for January, with some members changed.
fn done(changed: &Value) -> NewFulfilment {
    let mut done = json!({
        "mode": "live", "month": "2026-01", "offering": "tree", "quantity": "4",
        "doneOn": "2026-01-20", "partner": "Reforest", "place": "Kenya",
        "report": "https://example.org/report",
    });
    for (name, value) in changed.as_object().unwrap() {
        done[name] = value.clone();
    }
    serde_json::from_value(done).unwrap()
}

impl Bench {
    fn add(&self, changed: &Value) -> Result<Value, OperatorError> {
        self.add_as(changed, None).map(|added| json!(added.outcome))
    }

    fn add_as(
        &self,
        changed: &Value,
        id: Option<&OperationId>,
    ) -> Result<Done<impact_pledge::office::fulfilment::rows::fulfilments::Fulfilment>, OperatorError>
    {
        let author = self.test_operator.author();
        let author = match id {
            Some(id) => author.with_operation(id.clone()),
            None => author,
        };
        let (store, ledger) = (&*self.service.store, &self.ledger);
        block_on(fulfilments::add(store, ledger, &author, &done(changed)))
    }

    fn remove(&self, id: &str) -> Result<Value, OperatorError> {
        let (store, ledger) = (&*self.service.store, &self.ledger);
        let author = self.test_operator.author();
        block_on(fulfilments::remove(store, ledger, &author, id)).map(|it| json!(it.outcome))
    }

    fn balances(&self, months: &[&str], most: usize) -> Balances {
        let months: Vec<_> = months.iter().map(|month| Month::parse(month).unwrap()).collect();
        block_on(fulfilments::balances(
            &*self.service.store,
            &self.ledger,
            Some(Mode::Live),
            &months,
            most,
        ))
        .unwrap()
    }

    /// Returns the balances of January as lines: offering, pledged, done, open, surplus.
    fn january(&self) -> Vec<String> {
        let line = |balance: &fulfilments::Balance| {
            let of = [&balance.offering, &balance.pledged, &balance.done, &balance.open];
            format!("{} {}", of.map(String::as_str).join(" "), balance.surplus)
        };
        self.balances(&["2026-01"], 100).balances.iter().map(line).collect()
    }

    fn audited(&self) -> Vec<(String, Vec<String>)> {
        let changes = changes(&*self.service.store, &self.ledger);
        changes.into_iter().map(|change| (change.command, change.on)).collect()
    }

    fn operation(&self) -> OperationId {
        OperationId::new(&self.test_operator.clock, &self.test_operator.entropy)
    }
}

#[track_caller]
fn problem<T: std::fmt::Debug>(result: Result<T, OperatorError>) -> String {
    result.unwrap_err().to_string()
}

// ---- Balances ------------------------------------------------------------------------------------

#[test]
fn what_was_done_is_subtracted_from_what_was_pledged_exactly() {
    let bench = bench();
    assert_eq!(bench.january(), ["reef 2.5 0 2.5 0", "tree 10 0 10 0"]);
    bench.add(&json!({})).unwrap();
    bench.add(&json!({ "offering": "reef", "quantity": "0.1" })).unwrap();
    bench.add(&json!({ "offering": "reef", "quantity": "0.20" })).unwrap();
    assert_eq!(bench.january(), ["reef 2.5 0.3 2.2 0", "tree 10 4 6 0"]);
    bench.add(&json!({ "quantity": "7.5" })).unwrap();
    assert_eq!(bench.january(), ["reef 2.5 0.3 2.2 0", "tree 10 11.5 0 1.5"]);
}

#[test]
fn what_was_done_without_a_pledge_is_a_surplus_and_modes_and_months_are_apart() {
    let bench = bench();
    bench.add(&json!({ "mode": "test", "quantity": "9" })).unwrap();
    bench.add(&json!({ "month": "2025-12", "quantity": "3" })).unwrap();
    bench.add(&json!({ "offering": "kelp", "quantity": "1e21" })).unwrap();
    let expected = ["kelp 0 1e21 0 1e21", "reef 2.5 0 2.5 0", "tree 10 0 10 0"];
    assert_eq!(bench.january(), expected);
    let both = bench.balances(&["2026-01", "2025-12"], 100).balances;
    let of: Vec<_> = both.iter().map(|it| (it.month.to_string(), &*it.offering)).collect();
    let months = ["2026-01", "2026-01", "2026-01", "2025-12"].map(str::to_owned);
    let expected: Vec<_> = months.into_iter().zip(["kelp", "reef", "tree", "tree"]).collect();
    assert_eq!(of, expected);
    let cut = bench.balances(&["2026-01", "2025-12"], 1);
    assert!(cut.more && cut.balances.len() == 1 && cut.balances[0].offering == "reef");
}

#[test]
fn more_than_is_open_is_said_before_it_is_recorded() {
    let bench = bench();
    let beyond = |changed| {
        block_on(fulfilments::beyond(&*bench.service.store, &bench.ledger, &done(&changed)))
            .unwrap()
    };
    assert_eq!(beyond(json!({ "quantity": "10" })), None);
    let words =
        "Only 10 of tree is left to do for the pledges of 2026-01, but this would record 10.1";
    assert_eq!(beyond(json!({ "quantity": "10.1" })).as_deref(), Some(words));
    assert!(
        beyond(json!({ "offering": "kelp" })).is_some_and(|words| words.contains("Only 0 of kelp"))
    );
}

// ---- Record and remove ---------------------------------------------------------------------------

#[test]
fn a_fulfilment_is_recorded_once_with_its_entry_in_the_audit_log() {
    let bench = bench();
    let id = bench.operation();
    let added = bench.add_as(&json!({}), Some(&id)).unwrap();
    let again = bench.add_as(&json!({}), Some(&id)).unwrap();
    assert_eq!(added.outcome, again.outcome);
    assert!(added.before.is_none() && again.before.is_some());
    let words = "4 tree of 2026-01 (live), done on 2026-01-20, by Reforest, place: Kenya, report: \
                 https://example.org/report";
    let entry = ("fulfilments add".to_owned(), vec![added.outcome.id, words.to_owned()]);
    assert_eq!(bench.audited(), [entry]);
    let other = problem(bench.add_as(&json!({ "quantity": "5" }), Some(&id)));
    assert!(other.contains("was used for another change"), "{other}");
    assert_eq!(bench.january()[1], "tree 10 4 6 0");
}

#[test]
fn after_a_failure_at_any_step_a_repeat_records_it_once() {
    for (spared, failing) in
        (0..8).flat_map(|spared| [Failing::Before, Failing::After].map(|failing| (spared, failing)))
    {
        let bench = bench();
        let id = bench.operation();
        bench.ledger.set_failing_after(spared, failing);
        let first = bench.add_as(&json!({}), Some(&id));
        assert_eq!(first.is_err(), spared < 4, "the fifth call stores the outcome: {first:?}");
        bench.ledger.set_failing(Failing::Not);
        bench.test_operator.clock.0.set(bench.test_operator.clock.0.get() + 60_000);
        bench.add_as(&json!({}), Some(&id)).unwrap();
        assert_eq!(bench.january()[1], "tree 10 4 6 0", "{spared} {failing:?}");
    }
}

#[test]
fn a_removed_fulfilment_counts_no_more_and_stays_known() {
    let bench = bench();
    let id = bench.add(&json!({})).unwrap()["id"].as_str().unwrap().to_owned();
    let clock = &bench.test_operator.clock.0;
    clock.set(clock.get() + 1);
    let removed = bench.remove(&id).unwrap();
    assert_eq!(removed["removed"]["by"], bench.test_operator.author().by());
    assert_eq!(bench.january()[1], "tree 10 0 10 0");
    assert!(problem(bench.remove(&id)).contains("removed `ful_"));
    assert_eq!(problem(bench.remove("ful_none")), "there is no fulfilment `ful_none`");
    assert_eq!(bench.audited()[0].0, "fulfilments remove");
    let list = block_on(fulfilments::list(&bench.ledger, None, &[january()], 10)).unwrap();
    assert!(list.is_empty());
}

#[test]
fn a_rebuild_of_the_ledger_keeps_fulfilments() {
    let bench = bench();
    bench.add(&json!({})).unwrap();
    block_on(impact_pledge::office::system::rows::check::clear(&bench.ledger)).unwrap();
    bench.ledger.reconcile(&*bench.service.store, bench.test_operator.clock.0.get());
    assert_eq!(bench.january()[1], "tree 10 4 6 0");
}

#[test]
fn invalid_members_are_refused_and_nothing_is_recorded() {
    let bench = bench();
    let long = "x".repeat(257);
    for (member, value, expected) in [
        ("quantity", "0", "a number above 0"),
        ("quantity", "-1", "a number above 0"),
        ("quantity", "", "a number above 0"),
        ("quantity", "1e400", "a number above 0"),
        ("quantity", "twelve", "not `twelve`"),
        ("doneOn", "2026-02-30", "in the form 2026-11-20"),
        ("doneOn", "2026-01-20T00:00:00Z", "in the form 2026-11-20"),
        ("doneOn", "2027-01-01", "2027-01-01 is in the future"),
        ("month", "2026-03", "the month 2026-03 has not begun yet"),
        ("month", "9999-12", "the month 9999-12 has not begun yet"),
        ("offering", "", "the offering must be one line"),
        ("offering", &long, "the offering must be one line"),
        ("partner", "two\nlines", "the partner must be one line"),
        ("place", &long, "the place must be one line"),
        ("report", "http://example.org/", "https://"),
        ("report", "javascript:alert(1)", "https://"),
        ("report", "https://user@example.org/", "https://"),
        ("report", "https://example.org/a b", "https://"),
    ] {
        let refused = problem(bench.add(&json!({ member: value })));
        assert!(refused.starts_with("nothing was recorded: "), "{refused}");
        assert!(refused.contains(expected), "{member} {value}: {refused}");
    }
    assert!(bench.audited().is_empty());
}

#[test]
fn an_offering_has_a_bounded_number_of_fulfilments_in_a_month() {
    let bench = bench();
    for _ in 0..MAX_FULFILMENTS {
        bench.add(&json!({ "quantity": "0.01" })).unwrap();
    }
    let refused = problem(bench.add(&json!({ "quantity": "0.01" })));
    assert!(refused.contains("already has 200 fulfilments"), "{refused}");
    assert_eq!(bench.january()[1], "tree 10 2 8 0");
    let entries = bench.audited();
    assert_eq!(entries.len(), 200, "a refused one is withdrawn from the audit log");
    bench.add(&json!({ "offering": "reef" })).unwrap();
}

#[test]
fn without_a_ledger_nothing_can_be_recorded() {
    let bench = bench();
    let (store, author) = (&*bench.service.store, bench.test_operator.author());
    let refused = problem(block_on(fulfilments::add(store, &Unbound, &author, &done(&json!({})))));
    assert!(refused.contains("ledger"), "{refused}");
    assert!(bench.audited().is_empty());
}
