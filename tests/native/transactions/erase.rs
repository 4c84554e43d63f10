//! Tests the erasure of a transaction.

use super::show::show;
use super::{
    COLUMNS, MINUTE, bench, email, erase_with, find, found_ids, id_of, ledger_of, order,
    order_with_personal_offerings, pass, records, reference, scope, transaction, wanted,
};
use impact_pledge::office::orders::rows::orders::Direction;
use impact_pledge::pledges::scope::Mode;
use impact_pledge::pledges::types::TransactionId;
use serde_json::{Value, json};
use support::ledger::{Failing, SqliteLedger};
use support::memory::MemoryStore;
use support::service::{
    NOW_MS, SECRET, TestRequest, TestService, UNIT, key_record, put_key, repeatable, unit,
};

/// Erases the only transaction in the store.
fn erase(bench: &TestService<MemoryStore>) -> Result<Option<String>, String> {
    erase_with(bench, &SqliteLedger::default())
}

#[track_caller]
fn assert_erased(bench: &TestService<MemoryStore>, id: &str) {
    let (name, value, metadata) = transaction(&bench.store);
    assert!(!format!("{name}{value}{metadata}").contains("canary"), "{value}");
    assert_eq!(metadata["summary"]["lookup"], Value::Null);
    assert_eq!(metadata["bytes"], value.len());
    let got = bench.get(UNIT, id);
    assert_eq!(got.status, 200);
    let got = got.json();
    assert_eq!((&got["reference"], &got["charge"]["amount"]), (&json!("erased"), &json!("1.50")));
    assert_eq!(got["pledges"][0]["recipient"]["email"], "erased@erased.invalid");
    assert_eq!(got["pledges"][0]["impact"], json!({ "amount": 3, "offeringId": "tree" }));
    assert_eq!(
        got["trigger"],
        json!({ "date": "2026-01-31T11:59:00Z", "phrase": null, "externalUrl": null })
    );
    let address = got["timelineUrl"].as_str().unwrap().trim_start_matches(support::service::ORIGIN);
    let page = bench.send(&TestRequest::new("GET", address, ""));
    assert_eq!(page.status, 200);
    assert!(!page.text.contains("canary") && page.text.contains(" for you</h1>"), "{}", page.text);
}

#[test]
fn what_is_erased_stays_erased_whoever_repeats_the_create() {
    let bench = bench();
    let listed = r#"{"currencyCode":"USD","unitPrices":{"@listed":"9"}}"#;
    bench.store.keep("catalogue:live", listed.as_bytes(), b"null");
    let order = order_with_personal_offerings();
    let request = repeatable(&order);
    let first = bench.send(&request);
    let id = id_of(&first);
    pass(&bench, 5);
    assert_eq!(erase(&bench), Ok(None));
    assert_erased(&bench, &id);
    let pledges = &bench.get(UNIT, &id).json()["pledges"];
    let offerings: Vec<_> = (0..6).map(|n| pledges[n]["impact"]["offeringId"].clone()).collect();
    assert_eq!(offerings, ["tree", "tre", "erased", "erased", "erased", "@listed"]);
    let (_, _, metadata) = transaction(&bench.store);
    let quantities = json!([
        ["@listed", 1_000_000],
        ["erased", 3_000_000],
        ["tre", 1_000_000],
        ["tree", 3_000_000]
    ]);
    assert_eq!(metadata["summary"]["quantities"], quantities);
    let erased = records(&bench.store, "");
    for isolate in [&bench, &bench.isolate(), &bench] {
        let repeat = isolate.send(&request);
        assert_eq!(repeat.status, 200);
        assert_eq!(repeat.headers["idempotent-replayed"], "true");
        assert_eq!(repeat.text, first.text, "the caller's own data, of which nothing is kept");
        assert_eq!(records(&bench.store, ""), erased, "nothing was written");
    }
    let mut changed = order.clone();
    changed["reference"] = json!("another");
    assert_eq!(bench.isolate().send(&repeatable(&changed)).status, 422);
    put_key(&*bench.store, "service_sk_test_new", &key_record(Mode::Test, unit("unit_dev")));
    let rotated = repeatable(&order).with_header("authorization", "Bearer service_sk_test_new");
    assert_eq!(bench.isolate().send(&rotated).text, first.text);
    assert_erased(&bench, &id);
}

/// A transaction can be erased from 5 minutes after its creation. Before that, Workers KV may not show the
/// transaction's replay record, so a retry after the erasure would record the transaction again.
#[test]
fn nothing_is_erased_that_a_repeat_could_still_bring_back() {
    let bench = bench();
    let request = repeatable(&order());
    let id = id_of(&bench.send(&request));
    bench.store.set_hidden(Some("idempotency:"));
    pass(&bench, 4);
    let repeat = bench.isolate().send(&request);
    assert_eq!((repeat.status, repeat.headers.get("idempotent-replayed")), (200, None));
    pass(&bench, 4);
    let before = records(&bench.store, "");
    assert_eq!(
        erase(&bench),
        Err("the transaction was created less than 5 minutes ago, so a repeated create request could \
             bring its data back. Nothing was erased: try again in 60 s"
            .to_owned())
    );
    assert_eq!(records(&bench.store, ""), before);
    bench.store.set_hidden(None);
    pass(&bench, 1);
    assert_eq!(erase(&bench), Ok(None));
    assert_eq!(bench.isolate().send(&request).headers["idempotent-replayed"], "true");
    assert_erased(&bench, &id);
}

/// A create request that stops between its two writes has no replay record, and its caller will retry it. So
/// the erasure first writes the replay record. Otherwise, the retry would record the person again.
#[test]
fn a_missing_replay_record_is_written_before_anything_is_erased() {
    let bench = bench();
    let request = repeatable(&order());
    let id = id_of(&bench.send(&request));
    let (name, replay, _) = records(&bench.store, "idempotency:")[0].clone();
    let before = transaction(&bench.store);
    bench.store.remove(&name);
    pass(&bench, 5);
    let message = erase(&bench).unwrap_err();
    assert!(
        message.starts_with(&format!("the request that created {id} was interrupted")),
        "{message}"
    );
    let added: Value = serde_json::from_str(&bench.store.value(&name).unwrap()).unwrap();
    let written: Value = serde_json::from_str(&replay).unwrap();
    assert_eq!((&added["id"], &added["terms"]), (&written["id"], &written["terms"]));
    pass(&bench, 4);
    let message = erase(&bench).unwrap_err();
    assert!(
        message
            .starts_with("the transaction got its missing replay record less than 5 minutes ago"),
        "{message}"
    );
    assert_eq!(transaction(&bench.store), before);
    pass(&bench, 1);
    assert_eq!(erase(&bench), Ok(None));
    let repeat = bench.isolate().send(&request);
    assert_eq!((repeat.status, &*repeat.headers["idempotent-replayed"]), (200, "true"));
    assert_erased(&bench, &id);
}

#[test]
fn a_replay_record_that_another_create_won_is_left_alone() {
    let bench = bench();
    let request = repeatable(&order());
    let id = id_of(&bench.send(&request));
    let (name, ..) = records(&bench.store, "idempotency:")[0].clone();
    let other = TransactionId::new(&SECRET, &scope("u", Mode::Test), "r", [1; 16]);
    bench.store.edit(&name, |text| text.replace(&id, other.as_str()));
    let before = bench.store.value(&name);
    pass(&bench, 5);
    assert_eq!(erase(&bench), Ok(None));
    assert_eq!(bench.store.value(&name), before);
    assert_erased(&bench, &id);
}

#[test]
fn an_erased_transaction_is_found_by_reference_but_not_by_address() {
    let bench = bench();
    bench.create(UNIT, &order());
    pass(&bench, 5);
    assert_eq!(erase(&bench), Ok(None));
    let erased = transaction(&bench.store);
    let time = "2026-01-31T12:05:00.123Z";
    assert_eq!(erased.2["summary"]["erased"], time);
    let mark = records(&bench.store, "erased:");
    let id = erased.0.replace("transaction:", "");
    assert_eq!(
        mark,
        [(
            format!("erased:{id}"),
            json!({ "erased": time, "version": 1 }).to_string(),
            Value::Null
        )]
    );
    assert!(erased.2.to_string().len() < 1_024);
    for by in [reference("erased"), email("canary@example.org")] {
        assert_eq!(found_ids(&bench.store, "unit_dev", None, &by), [""; 0]);
    }
    for unit in [Some("unit_dev"), None] {
        let by = reference("canary-order");
        let found = find(&bench.store, &wanted(unit, None), &by, &Direction::Newest, 9);
        let order = &found.transactions[0];
        assert_eq!((&*order.amount, order.erased.as_deref()), ("1.50", Some(time)), "{unit:?}");
    }
    pass(&bench, 1);
    assert_eq!(erase(&bench), Ok(Some(time.to_owned())));
    assert_eq!(transaction(&bench.store), erased, "once more changes nothing");
    assert_eq!(records(&bench.store, "erased:"), mark);
    assert_eq!(show(&bench.store, &id, true, false)["row"]["erased"], time);
}

/// An erasure first writes its audit log entry, and a record that marks the transaction as erased. Even if the
/// erasure then stops, this record prevents a restore of a backup from bringing the person back.
#[test]
fn an_erasure_is_recorded_and_marked_before_anything_is_erased() {
    let bench = bench();
    bench.create(UNIT, &order());
    pass(&bench, 5);
    let before = transaction(&bench.store);
    for prefix in ["audit:", "erased:"] {
        bench.store.set_failing(Some(prefix));
        erase(&bench).unwrap_err();
        assert_eq!(transaction(&bench.store), before);
    }
    bench.store.set_failing(None);
    bench.store.set_unconfirmed(Some("erased:"));
    erase(&bench).unwrap_err();
    assert_eq!(transaction(&bench.store), before);
    assert_eq!(records(&bench.store, "erased:").len(), 1);
    bench.store.set_unconfirmed(None);
    assert_eq!(erase(&bench), Ok(None));
}

#[test]
fn an_erasure_leaves_no_person_in_metadata_or_ledger() {
    let bench = bench();
    let listed = r#"{"currencyCode":"USD","unitPrices":{"@listed":"9"}}"#;
    bench.store.keep("catalogue:live", listed.as_bytes(), b"null");
    bench.create(UNIT, &order_with_personal_offerings());
    pass(&bench, 5);
    let quantities =
        r#"[[\"@listed\",1000000],[\"erased\",3000000],[\"tre\",1000000],[\"tree\",3000000]]"#;
    let tombstone = format!(r#"[null,"{quantities}",1]"#);
    let ledger = ledger_of(&bench.store);
    let before = ledger.sql(COLUMNS);
    assert!(before[0].contains("ADA, CANARY") && before[0].ends_with(",0]"), "{before:?}");
    for failing in [Failing::Before, Failing::After] {
        ledger.set_failing_after(1, failing); // the operation has begun
        let message = erase_with(&bench, &ledger).unwrap_err();
        assert!(message.contains("its row in the ledger is not"), "{message}");
        assert!(message.ends_with("Erase the transaction again"), "{message}");
        ledger.set_failing(Failing::Not);
        if failing == Failing::Before {
            assert_eq!(ledger.sql(COLUMNS), before);
        }
    }
    assert!(erase_with(&bench, &ledger).unwrap().is_some());
    assert_eq!(ledger.sql(COLUMNS), [&*tombstone]);
    let metadata = &transaction(&bench.store).2["summary"]["quantities"];
    assert_eq!(metadata.to_string(), quantities.replace('\\', ""));
    ledger.reconcile(&*bench.store, NOW_MS + 100 * MINUTE);
    assert_eq!(ledger.sql(COLUMNS), [tombstone]);
}

/// The ledger's row of an erased transaction is made from the record that the erasure has just written. A
/// record that is read from Workers KV could still be the old one, with personal data.
#[test]
fn an_erasure_leaves_a_tombstone_where_no_message_has_come_yet() {
    let (bench, ledger) = (bench(), SqliteLedger::default());
    bench.create(UNIT, &order());
    pass(&bench, 5);
    assert_eq!(erase_with(&bench, &ledger), Ok(None));
    let rows = ledger.sql(COLUMNS);
    assert_eq!(rows, [r#"[null,"[[\"tre\",1000000],[\"tree\",3000000]]",1]"#]);
}
