//! Tests the reconciliation pass, which compares the ledger's rows with the records in KV and corrects the
//! rows.

use super::{MINUTE, clock, keep, message, receive, reconcile, record, sums};
use futures_executor::block_on;
use impact_pledge::office::system::rows::findings;
use impact_pledge::office::system::rows::reconcile as system_reconcile;
use impact_pledge::office::system::rows::reconcile::{PassOutcome, PassTiming};
use impact_pledge::office::system::rows::state;
use impact_pledge::pledges::types::ERASED_EMAIL;
use serde_json::{Value, json};
use support::ledger::{Failing, SqliteLedger};
use support::memory::MemoryStore;
use support::service::NOW_MS;

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
        let state = block_on(state::state(&ledger)).unwrap();
        assert_eq!(state.watermark(), None); // not complete yet
    }
    assert!(invocations > 2, "{invocations}");
    assert_eq!(sums(&ledger, &["2026-01"]), ["u live 2026-01 USD 30.00 20 0"]);
    assert_eq!(block_on(state::state(&ledger)).unwrap().watermark(), Some(now - 2 * MINUTE));
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

/// Only an erasure, or a change by hand, can change the terms and the quantities of a record. A pass compares
/// each column.
#[test]
fn a_pass_corrects_a_row_that_differs_in_one_column() {
    for summary in [
        json!({ "createdAt": "2026-01-30T12:00:00.000Z" }),
        json!({ "amount": "9.00" }),
        json!({ "currencyCode": "EUR" }),
        json!({ "unpriced": 1 }),
        json!({ "key": "ba9876543210" }),
        json!({ "prices": "2026-01-01T00:00:00.000Z" }),
        json!({ "lookup": { "email": "0123456789abcdef0123" } }),
        json!({ "lookup": { "order": "0123456789abcdef0123" } }),
        json!({ "quantities": [["tree", 4_000_000]] }),
        json!({ "quantities": [["bush", 3_000_000]] }),
        json!({ "quantities": [] }),
    ] {
        let row = |messages: &[Value]| {
            let (ledger, store) = (SqliteLedger::default(), MemoryStore::default());
            receive(&ledger, &messages[..1]);
            keep(&store, &messages[messages.len() - 1]);
            let (_, state) = reconcile(&ledger, &store, NOW_MS + 70 * MINUTE, 100);
            let row = ledger.sql(
                "SELECT json_array(created, currency, cents, unpriced, email, reference, prices, quantities,
                 (SELECT id FROM keys k WHERE k.key = t.key)) FROM transactions t",
            );
            (row, state.last_mended)
        };
        let changed = message(1, json!({ "summary": summary }));
        let (mended, count) = row(&[message(1, json!({})), changed.clone()]);
        assert_eq!((mended, count), (row(&[changed]).0, 1), "{summary}");
    }
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
    let findings = block_on(findings::findings(&ledger, 10)).unwrap();
    assert_eq!(findings.len(), 1);
    assert_eq!(
        (&*findings[0].name, findings[0].kind),
        (gone["id"].as_str().unwrap(), findings::FindingKind::Gone)
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
        block_on(system_reconcile::reconcile(&ledger, &store, &now, ("one", PassTiming::Now), 100))
    };
    assert!(run().is_err());
    assert_eq!(ledger.sql("SELECT count(*) FROM transactions"), ["1"]);
    ledger.sql("DROP TRIGGER no");
    assert_eq!(run().unwrap().0, PassOutcome::Complete);
    assert_eq!(ledger.sql("SELECT count(*) FROM transactions"), ["0"]);
    assert_eq!(block_on(findings::findings(&ledger, 10)).unwrap().len(), 1);
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
        let findings = block_on(findings::findings(ledger, 10)).unwrap();
        findings.into_iter().map(|finding| finding.name).collect()
    };
    let name = format!("transaction:{}", good["id"].as_str().unwrap());
    assert_eq!(names(&ledger), ["transaction:odd", &name]);
    keep(&store, &good);
    reconcile(&ledger, &store, NOW_MS + 80 * MINUTE, 100);
    assert_eq!(names(&ledger), ["transaction:odd"]);
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
    assert_eq!(block_on(findings::findings(&ledger, 10)).unwrap().len(), 1);
    keep(ERASED_EMAIL, "erased");
    reconcile(&ledger, &store, NOW_MS + 80 * MINUTE, 100);
    assert_eq!(ledger.sql("SELECT quantities FROM transactions"), [r#"[["erased",3000000]]"#]);
    assert_eq!(block_on(findings::findings(&ledger, 10)).unwrap(), []);
}

/// If many records were removed, Workers KV returns list pages without names, although more pages follow.
#[test]
fn a_page_without_names_does_not_mean_that_records_were_removed() {
    let (ledger, store) = (SqliteLedger::default(), MemoryStore::default());
    let messages: Vec<_> = (1..=3).map(|number| message(number, json!({}))).collect();
    messages.iter().for_each(|message| keep(&store, message));
    receive(&ledger, &messages);
    reconcile(&ledger, &store, NOW_MS + 10 * MINUTE, 1_000);
    store.set_page_length(0);
    let (reached, state) = reconcile(&ledger, &store, NOW_MS + 80 * MINUTE, 20);
    assert_eq!((reached, state.mended), (PassOutcome::Part, 0));
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
        block_on(system_reconcile::reconcile(
            &ledger,
            &store,
            &clock(now),
            ("one", PassTiming::Due),
            12,
        ))
    };
    assert_eq!(run(now).unwrap().0, PassOutcome::Part);
    store.set_broken(true);
    for failure in 1..=5 {
        assert!(run(now + failure * 4 * MINUTE).is_err());
    }
    store.set_broken(false);
    assert_eq!(block_on(state::state(&ledger)).unwrap().started, None); // its cursor may have expired
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
