//! Tests how messages become rows.

use super::{MINUTE, clock, keep, message, quantities, receive, reconcile, record, sums};
use futures_executor::block_on;
use impact_pledge::office::system::rows::findings;
use impact_pledge::office::system::rows::receive as system_receive;
use impact_pledge::office::system::rows::receive::{Delivered, Verdict};
use impact_pledge::office::system::rows::reconcile::PassOutcome;
use serde_json::json;
use support::ledger::{Failing, SqliteLedger};
use support::memory::MemoryStore;
use support::service::NOW_MS;

#[test]
fn a_message_is_one_row_however_often_it_comes() {
    let ledger = SqliteLedger::default();
    let (first, second) =
        (message(1, json!({})), message(2, json!({ "summary": { "unpriced": 2 } })));
    receive(&ledger, &[first.clone(), second.clone(), first.clone()]);
    receive(&ledger, &[second, first]);
    assert_eq!(sums(&ledger, &["2026-01"]), ["u live 2026-01 USD 3.00 2 2"]);
    assert_eq!(ledger.sql("SELECT count(*) FROM scopes"), ["1"]);
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
        block_on(system_receive::receive(&ledger, &store, &clock(NOW_MS), &delivered));
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
    let findings = block_on(findings::findings(&ledger, 10)).unwrap();
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
            block_on(system_receive::receive(&ledger, &store, &clock(NOW_MS), &messages))
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

/// A transaction may have more quantities than fit into a ledger row, because the exact texts of quantities can
/// be longer than the transaction's record. Neither a statement nor a reconciliation pass may fail because of
/// such a transaction.
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
        let findings = block_on(findings::findings(&ledger, 10)).unwrap();
        let found: Vec<_> = findings.into_iter().map(|it| (it.kind, it.name)).collect();
        let id = metadata["id"].as_str().unwrap().to_owned();
        assert_eq!(found, [(findings::FindingKind::Large, id)]);
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
