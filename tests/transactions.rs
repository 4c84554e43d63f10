//! Transactions as an operator finds, shows, erases, sums and completes them.

#![expect(clippy::indexing_slicing, reason = "a test that meets the unexpected should panic")]
#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected should panic")]
#![expect(clippy::panic, reason = "a test that meets the unexpected should panic")]

#[expect(dead_code, reason = "other tests use the rest")]
#[path = "support/memory.rs"]
mod memory;
#[expect(dead_code, reason = "other tests use the rest")]
#[path = "support/service.rs"]
mod service;

use impact_pledge::operator::run;
use impact_pledge::scope::Mode;
use memory::MemoryStore;
use serde_json::{Value, json};
use service::{
    Answer, Bench, LIVE_UNIT, TestRequest, UNIT, key_record, minimal, put_key, repeatable, seeded,
    unit,
};

const MINUTE: u64 = 60_000;
const SECRET: &str =
    r#"{"secret":"0707070707070707070707070707070707070707070707070707070707070707"}"#;

#[track_caller]
fn ask(command: &str, input: &Value) -> Value {
    serde_json::from_str(&run(command, input.to_string().as_bytes()).unwrap()).unwrap()
}

#[track_caller]
fn refused(command: &str, input: &Value) -> String {
    run(command, input.to_string().as_bytes()).unwrap_err()
}

/// A service whose keys have the secret.
fn bench() -> Bench<MemoryStore> {
    let bench = seeded();
    for (key, mode) in [(UNIT, Mode::Test), (LIVE_UNIT, Mode::Live)] {
        put_key(&*bench.store, key, &key_record(mode, unit("unit_dev")));
    }
    bench
}

/// All that a shop can write, each text with a canary.
fn order() -> Value {
    json!({
        "reference": "canary-order",
        "recipient": { "email": "canary@example.org", "firstName": "canary Ada", "name": "canary Ada L" },
        "pledges": [
            { "impact": { "amount": 3, "offeringId": "tree" }, "detail": {
                "name": "canary", "description": "canary", "nounSingular": "canary",
                "nounPlural": "canaries canary", "image": "https://canary.example/",
                "externalId": "canary", "externalUrl": "https://canary.example/" } },
            { "impact": { "amount": 1, "offeringId": "tre" } },
        ],
        "trigger": { "date": "2026-01-31T11:59:00Z", "phrase": "canary", "externalUrl": "https://canary.example/" },
        "notifications": ["Email"],
    })
}

/// The records whose names begin like this, as the scripts carry them.
fn records(store: &MemoryStore, prefix: &str, with_values: bool) -> Value {
    let names = store.names().into_iter().filter(|name| name.starts_with(prefix));
    let records = names.zip(store.metadata(prefix)).map(|(name, metadata)| {
        let value = with_values.then(|| store.value(&name));
        json!({ "name": name, "metadata": metadata, "value": value })
    });
    records.collect()
}

/// The only transaction.
fn transaction(store: &MemoryStore) -> Value {
    let found = records(store, "transaction:", true);
    assert_eq!(found.as_array().unwrap().len(), 1);
    found[0].clone()
}

fn keep(store: &MemoryStore, entries: &Value) {
    for entry in entries.as_array().unwrap() {
        let text = |member: &str| entry[member].as_str().unwrap().to_owned();
        let metadata = entry["metadata"].to_string();
        store.keep(&text("key"), text("value").as_bytes(), metadata.as_bytes());
    }
}

fn id_of(answer: &Answer) -> String {
    answer.json()["id"].as_str().unwrap().to_owned()
}

// ---- Find and show -------------------------------------------------------------------------------

fn find(bench: &Bench<MemoryStore>, wanted: &Value, with_values: bool) -> Value {
    let mut input = wanted.clone();
    let records_of_keys = json!({ "secret": SECRET });
    input["records"] = records_of_keys;
    input["hashes"] = ask("lookup-hashes", &input);
    input["records"] = records(&bench.store, "transaction:", with_values);
    ask("find-transactions", &input)
}

#[test]
fn a_transaction_is_found_by_reference_or_address_from_metadata_alone() {
    let bench = bench();
    let id = id_of(&bench.create(UNIT, &order()));
    bench.create(UNIT, &minimal());
    let live = id_of(&bench.create(LIVE_UNIT, &order()));
    let ids = |wanted: Value| {
        let found = find(&bench, &wanted, false);
        assert_eq!((&found["unread"], &found["damaged"]), (&json!([]), &json!([])));
        let rows = found["rows"].as_array().unwrap();
        let mut ids: Vec<_> =
            rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect();
        ids.sort();
        ids
    };
    let mut both = vec![id.clone(), live.clone()];
    both.sort();
    let unit = "unit_dev";
    assert_eq!(ids(json!({ "unit": unit, "reference": "canary-order" })), both);
    assert_eq!(ids(json!({ "unit": unit, "email": "CANARY@Example.org" })), both);
    assert_eq!(ids(json!({ "unit": unit, "mode": "live", "reference": "canary-order" })), [live]);
    for none in [
        json!({ "unit": "unit_dev_two", "reference": "canary-order" }),
        json!({ "unit": unit, "reference": "Canary-order" }),
        json!({ "unit": unit, "reference": "canary@example.org" }),
        json!({ "unit": unit, "email": "canary-order" }),
    ] {
        assert_eq!(ids(none), [""; 0]);
    }
    let found =
        find(&bench, &json!({ "unit": unit, "mode": "test", "reference": "canary-order" }), false);
    assert_eq!(
        found["rows"],
        json!([{ "id": id, "mode": "test", "unit": unit, "createdAt": "2026-01-31T12:00:00.123Z",
                 "amount": "1.50", "currencyCode": "USD", "unpriced": 1, "erased": null }])
    );
}

/// Two secrets can come to be when two operators make the first two API keys at the same time.
#[test]
fn each_secret_that_an_api_key_has_is_tried() {
    let record = |key: &str| {
        json!({ "mode": "test", "level": "unit", "unitId": "u", "secret": key }).to_string()
    };
    let other = "08".repeat(32);
    let sought = |records: Value| {
        let input =
            json!({ "records": records, "unit": "u", "mode": "test", "email": "a@b.example" });
        ask("lookup-hashes", &input).as_array().unwrap().len()
    };
    assert_eq!(sought(json!({})), 0);
    assert_eq!(
        sought(json!({ "secret": SECRET, "key:1": record(&"07".repeat(32)), "key:2": "{}" })),
        1
    );
    assert_eq!(
        sought(json!({ "secret": SECRET, "key:1": record(&other), "key:2": record(&other) })),
        2
    );
}

#[test]
fn what_is_shown_of_a_transaction_is_masked() {
    let bench = bench();
    bench.create(UNIT, &order());
    let record = transaction(&bench.store);
    let show = |reveal, timeline| {
        ask(
            "show-transaction",
            &json!({ "record": record, "reveal": reveal, "timeline": timeline }),
        )
    };
    let masked = show(false, false);
    let text = masked.to_string().replace("canary-order", "");
    assert!(!text.contains("canary") && !text.contains("edit_key"), "{text}");
    let pledge = &masked["transaction"]["pledges"][0];
    assert_eq!(pledge["recipient"], json!({ "email": "c…@e…", "firstName": "c…", "name": "c…" }));
    assert_eq!(masked["row"]["unpriced"], 1);
    assert_eq!((&masked["findable"], &masked["repeatable"]), (&json!(true), &json!(false)));
    let whole = show(true, false);
    assert_eq!(whole["transaction"]["pledges"][0]["recipient"]["email"], "canary@example.org");
    assert!(!whole.to_string().contains("edit_key"));
    assert!(
        show(false, true)["transaction"]["timelineUrl"].as_str().unwrap().contains("?edit_key=")
    );
}

#[test]
fn a_damaged_record_is_named_and_not_quoted() {
    let record = |metadata, value| json!({ "name": "transaction:ptran_1", "metadata": metadata, "value": value });
    let metadata = json!({ "mode": "test", "unit": "u", "editKey": "0" });
    for record in [
        record(json!({ "mode": "canary" }), "{}"),
        record(metadata, "{\"reference\":[\"canary\"]}"),
    ] {
        let input = json!({ "record": record, "reveal": true, "timeline": true });
        let message = refused("show-transaction", &input);
        assert!(message.starts_with("ptran_1: the stored transaction is damaged: "), "{message}");
        assert!(!message.contains("canary"), "{message}");
    }
    assert_eq!(
        run("transaction-name", b" ptran_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n").unwrap(),
        "\"transaction:ptran_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\""
    );
    for id in ["ptran_", "secret", "transaction:ptran_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"] {
        let message = "this is not the ID of a transaction: `ptran_` and 42 characters";
        assert_eq!(run("transaction-name", id.as_bytes()), Err(message.to_owned()));
    }
}

// ---- Erase ---------------------------------------------------------------------------------------

fn erasure(bench: &Bench<MemoryStore>) -> Value {
    let record = transaction(&bench.store);
    let mut input = json!({ "record": record, "nowMs": bench.clock.0.get() });
    let found = ask("erasable", &input);
    if let Some(name) = found["replay"].as_str() {
        input["replay"] = json!({ "name": name, "value": bench.store.value(name) });
    }
    input
}

/// Does what the script does.
fn erase(bench: &Bench<MemoryStore>) -> Value {
    let outcome = ask("erase-transaction", &erasure(bench));
    keep(&bench.store, &outcome["entries"]);
    outcome["erased"].clone()
}

fn pass(bench: &Bench<MemoryStore>, minutes: u64) {
    bench.clock.0.set(bench.clock.0.get() + minutes * MINUTE);
}

#[track_caller]
fn assert_erased(bench: &Bench<MemoryStore>, id: &str) {
    let record = transaction(&bench.store);
    assert!(!record.to_string().contains("canary"), "{record}");
    assert_eq!(record["metadata"]["summary"]["lookup"], Value::Null);
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
    let address = got["timelineUrl"].as_str().unwrap().trim_start_matches(service::ORIGIN);
    let page = bench.send(&TestRequest::new("GET", address, ""));
    assert_eq!(page.status, 200);
    assert!(
        !page.text.contains("canary") && page.text.contains("<h1>Pledged for you</h1>"),
        "{}",
        page.text
    );
}

#[test]
fn what_is_erased_stays_erased_whoever_repeats_the_create() {
    let bench = bench();
    let request = repeatable(&order());
    let first = bench.send(&request);
    let id = id_of(&first);
    pass(&bench, 5);
    assert_eq!(erase(&bench), true);
    assert_erased(&bench, &id);
    let erased = records(&bench.store, "", true);
    for isolate in [&bench, &bench.isolate(), &bench] {
        let repeat = isolate.send(&request);
        assert_eq!(repeat.status, 200);
        assert_eq!(repeat.headers["idempotent-replayed"], "true");
        assert_eq!(repeat.text, first.text, "the caller's own data, of which nothing is kept");
        assert_eq!(records(&bench.store, "", true), erased, "nothing was written");
    }
    let mut changed = order();
    changed["reference"] = json!("another");
    assert_eq!(bench.isolate().send(&repeatable(&changed)).status, 422);
    put_key(&*bench.store, "service_sk_test_new", &key_record(Mode::Test, unit("unit_dev")));
    let rotated = TestRequest { headers: repeatable(&order()).headers, ..repeatable(&order()) }
        .with_header("authorization", "Bearer service_sk_test_new");
    assert_eq!(bench.isolate().send(&rotated).text, first.text);
    assert_eq!(
        transaction(&bench.store),
        erased
            .as_array()
            .unwrap()
            .iter()
            .find(|record| record["name"].as_str().unwrap().starts_with("transaction:"))
            .unwrap()
            .clone()
    );
}

/// Workers KV may not show the replay record for a while: a repeat then records the transaction anew,
/// and a transaction that was recorded a moment ago is not erased.
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
    let record = transaction(&bench.store);
    assert_eq!(
        refused("erasable", &json!({ "record": record, "nowMs": bench.clock.0.get() })),
        "it was created less than 5 minutes ago, and a repeat of the create could bring it back: \
         nothing was erased, try again in 60 s"
    );
    bench.store.set_hidden(None);
    pass(&bench, 1);
    assert_eq!(erase(&bench), true);
    assert_eq!(bench.isolate().send(&request).headers["idempotent-replayed"], "true");
    assert_erased(&bench, &id);
}

/// A create that broke off between its two writes was not acknowledged, and will be repeated.
#[test]
fn a_missing_replay_record_is_written_before_anything_is_erased() {
    let bench = bench();
    let request = repeatable(&order());
    let id = id_of(&bench.send(&request));
    let replay = records(&bench.store, "idempotency:", true)[0].clone();
    let name = replay["name"].as_str().unwrap();
    bench.store.remove(name);
    pass(&bench, 5);
    assert_eq!(erase(&bench), false);
    let added: Value = serde_json::from_str(&bench.store.value(name).unwrap()).unwrap();
    let written: Value = serde_json::from_str(replay["value"].as_str().unwrap()).unwrap();
    assert_eq!((&added["id"], &added["terms"]), (&written["id"], &written["terms"]));
    pass(&bench, 4);
    let message = refused("erase-transaction", &erasure(&bench));
    assert!(
        message.starts_with("it got its missing replay record less than 5 minutes ago"),
        "{message}"
    );
    pass(&bench, 1);
    assert_eq!(erase(&bench), true);
    let repeat = bench.isolate().send(&request);
    assert_eq!((repeat.status, &*repeat.headers["idempotent-replayed"]), (200, "true"));
    assert_erased(&bench, &id);
}

#[test]
fn a_replay_record_that_another_create_won_is_left_alone() {
    let bench = bench();
    let request = repeatable(&order());
    let id = id_of(&bench.send(&request));
    let name = records(&bench.store, "idempotency:", false)[0]["name"].as_str().unwrap().to_owned();
    let winner = |text: &str| text.replace(&id, "ptran_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
    bench.store.edit(&name, winner);
    let before = bench.store.value(&name);
    pass(&bench, 5);
    assert_eq!(erase(&bench), true);
    assert_eq!(bench.store.value(&name), before);
    let repeat = bench.isolate().send(&request);
    assert_eq!((repeat.status, &repeat.json()["reference"]), (200, &json!("erased")));
    assert_erased(&bench, &id);
}

#[test]
fn what_was_erased_is_still_summed_and_no_longer_found() {
    let bench = bench();
    bench.create(UNIT, &order());
    pass(&bench, 5);
    assert_eq!(erase(&bench), true);
    let erased = transaction(&bench.store);
    assert_eq!(erased["metadata"]["summary"]["erased"], "2026-01-31T12:05:00.123Z");
    assert!(erased["metadata"].to_string().len() < 1_024);
    let found = find(&bench, &json!({ "unit": "unit_dev", "reference": "erased" }), false);
    assert_eq!((&found["rows"], &found["unread"]), (&json!([]), &json!([])));
    let sums = &export(&erased_only(&erased), "2026-01")["sums"];
    assert_eq!(sums[0]["amount"], "1.50");
    pass(&bench, 1);
    assert_eq!(erase(&bench), true);
    assert_eq!(transaction(&bench.store), erased, "once more changes nothing");
    let shown =
        ask("show-transaction", &json!({ "record": erased, "reveal": true, "timeline": false }));
    assert_eq!(shown["row"]["erased"], "2026-01-31T12:05:00.123Z");
}

fn erased_only(record: &Value) -> Value {
    json!([{ "name": record["name"], "metadata": record["metadata"] }])
}

// ---- Backfill ------------------------------------------------------------------------------------

fn backfill(bench: &Bench<MemoryStore>, replays: &Value) -> Value {
    let prices = json!({ "currencyCode": "USD", "unitPrices": { "tree": "0.50" } });
    let outcome = ask(
        "complete-transactions",
        &json!({ "records": records(&bench.store, "transaction:", true), "secret": SECRET, "replays": replays,
                 "catalogues": { "test": prices, "live": null }, "nowMs": bench.clock.0.get() }),
    );
    keep(&bench.store, &outcome["entries"]);
    outcome
}

fn incomplete(bench: &Bench<MemoryStore>) -> Value {
    ask(
        "incomplete-transactions",
        &json!({ "records": records(&bench.store, "transaction:", false) }),
    )
}

#[test]
fn old_metadata_becomes_what_the_service_writes_today() {
    let bench = bench();
    let answer = bench.send(&repeatable(&order()));
    let today = transaction(&bench.store);
    let mut metadata = today["metadata"].clone();
    for member in ["version", "summary"] {
        metadata.as_object_mut().unwrap().remove(member);
    }
    let (name, value) = (today["name"].as_str().unwrap(), today["value"].as_str().unwrap());
    bench.store.keep(name, value.as_bytes(), metadata.to_string().as_bytes());
    assert_eq!(incomplete(&bench), json!({ "old": [name], "unhashed": [], "damaged": [] }));
    let replays =
        ask("replays", &json!({ "records": records(&bench.store, "idempotency:", true) }));
    assert_eq!(replays, json!({ id_of(&answer): today["metadata"]["summary"]["replay"] }));
    pass(&bench, 9);
    assert_eq!(backfill(&bench, &replays), json!({ "entries": [], "young": 1, "damaged": [] }));
    pass(&bench, 1);
    assert_eq!(backfill(&bench, &replays)["entries"].as_array().unwrap().len(), 1);
    assert_eq!(transaction(&bench.store), today, "with the same value");
    assert_eq!(incomplete(&bench), json!({ "old": [], "unhashed": [], "damaged": [] }));
    assert_eq!(backfill(&bench, &replays), json!({ "entries": [], "young": 0, "damaged": [] }));
}

#[test]
fn what_was_erased_gets_no_hashes_again() {
    let bench = bench();
    bench.create(UNIT, &order());
    pass(&bench, 10);
    erase(&bench);
    let erased = transaction(&bench.store);
    assert_eq!(incomplete(&bench), json!({ "old": [], "unhashed": [], "damaged": [] }));
    backfill(&bench, &json!({}));
    assert_eq!(transaction(&bench.store), erased);
}

#[test]
fn an_old_api_key_gets_the_secret_and_keeps_the_rest() {
    let stored = json!({ "mode": "test", "level": "unit", "unitId": "u", "later": [1] });
    let complete = ask("complete-key", &json!({ "stored": stored.to_string(), "secret": SECRET }));
    let mut record: Value = serde_json::from_str(complete.as_str().unwrap()).unwrap();
    assert_eq!(record.as_object_mut().unwrap().remove("secret").unwrap(), "07".repeat(32));
    assert_eq!(record, stored);
    assert_eq!(ask("complete-key", &json!({ "stored": complete, "secret": SECRET })), Value::Null);
}

// ---- Export --------------------------------------------------------------------------------------

fn export(records: &Value, month: &str) -> Value {
    ask("export-transactions", &json!({ "month": month, "records": records, "sums": [] }))
}

fn listed(id: usize, unit: &str, mode: &str, time: &str, amount: &str) -> Value {
    json!({ "name": format!("transaction:ptran_{id}"), "metadata": {
        "version": 1, "mode": mode, "unit": unit, "editKey": "0",
        "summary": { "createdAt": time, "amount": amount, "currencyCode": "EUR", "unpriced": 1 } } })
}

#[test]
fn a_month_is_summed_exactly_by_unit_mode_and_currency() {
    let huge = "9".repeat(350) + ".99";
    let first = json!([
        listed(1, "b", "live", "2026-11-01T00:00:00.000Z", "0.10"),
        listed(2, "b", "live", "2026-11-30T23:59:59.999Z", "0.20"),
        listed(3, "b", "live", "2026-12-01T00:00:00.000Z", "4.00"),
        listed(4, "b", "live", "2026-10-31T23:59:59.999Z", "4.00"),
        listed(5, "b", "test", "2026-11-15T00:00:00.000Z", "8.00"),
        listed(6, "a", "live", "2026-11-15T00:00:00.000Z", &huge),
    ]);
    let second = json!([
        listed(7, "a", "live", "2026-11-15T00:00:00.000Z", "0.01"),
        listed(8, "a", "live", "2026-11-15T00:00:00.000Z", "1e999999999"),
        listed(9, "a", "live", "2026-11-15T00:00:00.000Z", ""),
    ]);
    let page = export(&first, "2026-11");
    let ids = |page: &Value| {
        page["rows"].as_array().unwrap().iter().map(|row| row["id"].clone()).collect::<Value>()
    };
    assert_eq!(ids(&page), json!(["ptran_1", "ptran_2", "ptran_5", "ptran_6"]));
    let sums = &page["sums"];
    let next =
        ask("export-transactions", &json!({ "month": "2026-11", "records": second, "sums": sums }));
    assert_eq!(ids(&next), json!(["ptran_7"]));
    assert_eq!(next["damaged"], json!(["transaction:ptran_8", "transaction:ptran_9"]));
    let sum = |unit, mode, transactions: u64, amount: &str| {
        json!({ "unit": unit, "mode": mode, "currencyCode": "EUR", "transactions": transactions,
                "unpriced": transactions, "amount": amount })
    };
    let million = format!("1{}.00", "0".repeat(350));
    assert_eq!(
        next["sums"],
        json!([
            sum("a", "live", 2, &million),
            sum("b", "test", 1, "8.00"),
            sum("b", "live", 2, "0.30")
        ])
    );
    let only = ask(
        "export-transactions",
        &json!({ "unit": "b", "mode": "live", "month": "2026-11", "records": first, "sums": [] }),
    );
    assert_eq!(ids(&only), json!(["ptran_1", "ptran_2"]));
}

#[test]
fn offerings_without_a_price_are_counted_by_mode() {
    let bench = bench();
    let prices = json!({ "currencyCode": "USD", "unitPrices": { "tree": "0.50" } });
    let of = |offering: &str| {
        let mut order = minimal();
        order["pledges"] = json!([
            { "impact": { "amount": 3, "offeringId": offering } },
            { "impact": { "amount": 3, "offeringId": "tree" } },
        ]);
        order
    };
    let long = "x".repeat(101);
    for (key, offering) in
        [(UNIT, "tre"), (LIVE_UNIT, "tre"), (UNIT, &long), (UNIT, "tree"), (UNIT, "new")]
    {
        bench.create(key, &of(offering));
    }
    pass(&bench, 1);
    bench.create(UNIT, &of("tre"));
    let check = |catalogues: &Value, mode: Value, with_values| {
        let records = records(&bench.store, "transaction:", with_values);
        ask(
            "unpriced-offerings",
            &json!({ "catalogues": catalogues, "mode": mode, "records": records }),
        )
    };
    let (first, last) = ("2026-01-31T12:00:00.123Z", "2026-01-31T12:01:00.123Z");
    let row = |mode: &str, offering: &str, pledges: u64, last: &str| json!({ "mode": mode, "offeringId": offering, "pledges": pledges, "first": first, "last": last });
    let both = json!({ "test": prices, "live": prices });
    assert_eq!(check(&both, Value::Null, false)["unread"].as_array().unwrap().len(), 5);
    let cut = format!("{}…", "x".repeat(100));
    let all = [
        row("test", "new", 1, first),
        row("test", "tre", 2, last),
        row("test", &cut, 1, first),
        row("live", "tre", 1, first),
    ];
    assert_eq!(
        check(&both, Value::Null, true),
        json!({ "offerings": all, "priced": 0, "unread": [], "damaged": [] })
    );
    assert_eq!(check(&both, json!("live"), true)["offerings"], json!([all[3]]));
    assert_eq!(
        check(&json!({ "test": null, "live": prices }), Value::Null, true)["offerings"],
        json!([all[3]])
    );
    let mut later = prices.clone();
    later["unitPrices"]["new"] = json!("1");
    let found = check(&json!({ "test": later, "live": null }), Value::Null, true);
    assert_eq!((found["offerings"].as_array().unwrap().len(), &found["priced"]), (2, &json!(1)));
}
