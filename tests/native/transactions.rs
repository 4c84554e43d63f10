//! Tests the operators' functions that find, show, erase and sum transactions.

use futures_executor::block_on;
use impact_pledge::auth::ApiKey;
use impact_pledge::ledger::Direction;
use impact_pledge::operator::prices::{self, Edit};
use impact_pledge::operator::transactions::{
    self, ErasureCursor, Found, PersonStep, SearchKey, TransactionFilter, ViewOptions,
};
use impact_pledge::operator::{DamagedRecords, OperatorError, bound};
use impact_pledge::pledge::TransactionId;
use impact_pledge::scope::{Mode, Scope};
use impact_pledge::secret::NamespaceSecret;
use impact_pledge::store::{Key as _, StoreError, TransactionKey};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use support::ledger::{Failing, SqliteLedger};
use support::memory::{Listing, MemoryStore};
use support::service::{
    Answer, LIVE_UNIT, NOW_MS, SECRET, TestRequest, TestService, UNIT, key_record, minimal,
    put_key, repeatable, seeded, test_operator, unit,
};

const MINUTE: u64 = 60_000;

/// A service that also has the record of its secret.
fn bench() -> TestService<MemoryStore> {
    let bench = seeded();
    put_secret(&bench.store, &SECRET);
    bench
}

fn put_secret(store: &MemoryStore, secret: &NamespaceSecret) {
    store.keep("secret", json!({ "secret": secret }).to_string().as_bytes(), b"null");
}

/// Returns a create request with every member that a shop can send. Each text contains a canary.
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

/// Returns the request of [`order`] from a shop that uses the buyer's name as an offering's ID.
fn order_with_personal_offerings() -> Value {
    let mut order = order();
    for offering in ["canary@example.net", "for CANARY ADA", "CANARY-ORDER/1", "@listed"] {
        let pledge = json!({ "impact": { "amount": 1, "offeringId": offering } });
        order["pledges"].as_array_mut().unwrap().push(pledge);
    }
    order
}

/// Returns all records with this prefix: names, values and metadata.
fn records(store: &MemoryStore, prefix: &str) -> Vec<(String, String, Value)> {
    let names = store.names().into_iter().filter(|name| name.starts_with(prefix));
    let found = names.zip(store.metadata(prefix));
    found.map(|(name, metadata)| (name.clone(), store.value(&name).unwrap(), metadata)).collect()
}

/// Returns the only transaction.
#[track_caller]
fn transaction(store: &MemoryStore) -> (String, String, Value) {
    let found = records(store, "transaction:");
    assert_eq!(found.len(), 1);
    found[0].clone()
}

fn id_of(answer: &Answer) -> String {
    answer.json()["id"].as_str().unwrap().to_owned()
}

fn shown(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

// ---- Find ----------------------------------------------------------------------------------------

fn reference(text: &str) -> SearchKey {
    SearchKey::Reference(text.to_owned())
}

fn email(text: &str) -> SearchKey {
    SearchKey::Email(text.to_owned())
}

fn wanted(unit: Option<&str>, mode: Option<Mode>) -> TransactionFilter {
    TransactionFilter { unit: unit.map(str::to_owned), mode }
}

/// A ledger with the rows of all records.
fn ledger_of(store: &MemoryStore) -> SqliteLedger {
    let ledger = SqliteLedger::default();
    ledger.reconcile(store, NOW_MS + 10 * MINUTE);
    store.take_reads();
    store.take_lists();
    ledger
}

#[track_caller]
fn find(
    store: &MemoryStore,
    wanted: &TransactionFilter,
    by: &SearchKey,
    from: &Direction,
    most: usize,
) -> Found {
    let ledger = ledger_of(store);
    block_on(transactions::find(store, Some(&ledger), (wanted, by), from, most)).unwrap()
}

#[track_caller]
fn found_ids(store: &MemoryStore, unit: &str, mode: Option<Mode>, by: &SearchKey) -> Vec<String> {
    let found = find(store, &wanted(Some(unit), mode), by, &Direction::Newest, 1_000);
    assert_eq!(found.coverage.unwrap_or_default().damaged, DamagedRecords::default());
    let mut ids: Vec<_> = found.transactions.into_iter().map(|order| order.id).collect();
    ids.sort();
    ids
}

#[test]
fn a_transaction_is_found_by_reference_or_address_without_reading_any() {
    let bench = bench();
    let id = id_of(&bench.create(UNIT, &order()));
    bench.create(UNIT, &minimal());
    let live = id_of(&bench.create(LIVE_UNIT, &order()));
    bench.create("service_sk_test_dev_unit_two", &order());
    bench.store.take_reads();
    let mut both = vec![id.clone(), live.clone()];
    both.sort();
    let unit = "unit_dev";
    let ids = |unit, mode, by: &SearchKey| found_ids(&bench.store, unit, mode, by);
    for spelling in ["canary-order", "# Canary-ORDER"] {
        assert_eq!(ids(unit, None, &reference(spelling)), both);
    }
    assert_eq!(ids(unit, None, &email("CANARY@Example.org")), both);
    assert_eq!(ids(unit, Some(Mode::Live), &reference("canary-order")), [live]);
    for (unit, by) in [
        ("unit_dev_three", reference("canary-order")),
        (unit, reference("canaryorder")),
        (unit, reference("canary@example.org")),
        (unit, email("canary-order")),
    ] {
        assert_eq!(ids(unit, None, &by), [""; 0]);
    }
    for by in [reference("canary-order"), email("canary@example.org")] {
        let of_test = wanted(Some(unit), Some(Mode::Test));
        let found = find(&bench.store, &of_test, &by, &Direction::Newest, 9);
        assert_eq!(
            shown(&found.transactions),
            json!([{ "id": id, "mode": "test", "unit": unit, "createdAt": "2026-01-31T12:00:00.123Z",
                     "amount": "1.50", "currencyCode": "USD", "unpriced": 1,
                     "key": ApiKey::new(UNIT).hash().id(), "erased": null }])
        );
    }
    assert!(bench.store.take_reads().iter().all(|name| name == "secret"));
}

#[test]
fn an_address_is_found_in_any_spelling_of_its_mailbox() {
    let bench = bench();
    let create = |email: &str| {
        let mut order = order();
        order["recipient"]["email"] = json!(email);
        id_of(&bench.create(UNIT, &order))
    };
    let mut ids = vec![create("Canary@example.org"), create(r#""canary"@example.org"#)];
    ids.sort();
    for spelling in ["canary@example.org", r#""\canary"@EXAMPLE.org"#] {
        assert_eq!(found_ids(&bench.store, "unit_dev", None, &email(spelling)), ids);
    }
    // Earlier releases hashed the spelling in lower case, here that of `"a b"@example.org`.
    let id = create(r#""\"a b\""@example.org"#);
    assert_eq!(found_ids(&bench.store, "unit_dev", None, &email(r#""A b"@example.org"#)), [id]);
}

fn scope(unit: &str, mode: Mode) -> Scope {
    Scope { unit: unit.to_owned(), mode }
}

/// Stores a transaction as the service writes it, with an empty value.
fn put_listed(store: &MemoryStore, named: &Scope, unit: &str, reference: &str, number: u8) {
    let id = TransactionId::new(&SECRET, named, reference, [number; 16]);
    let hashes = SECRET.hashes(&scope(unit, named.mode), reference, "ada@example.org");
    let metadata = json!({ "version": 1, "mode": named.mode, "unit": unit, "editKey": "0", "summary": {
        "createdAt": format!("2026-11-15T00:00:00.{number:03}Z"), "amount": "1.00", "currencyCode": "EUR",
        "lookup": hashes, "quantities": [] } });
    store.keep(&TransactionKey(&id).name(), b"", metadata.to_string().as_bytes());
}

/// 200 shops with five transactions each, in both modes.
fn many_shops() -> MemoryStore {
    let store = MemoryStore::default();
    put_secret(&store, &SECRET);
    for shop in 0..200 {
        let unit = format!("shop_{shop}");
        for number in 0..5 {
            for mode in [Mode::Test, Mode::Live] {
                put_listed(&store, &scope(&unit, mode), &unit, &format!("order-{number}"), number);
            }
        }
    }
    store
}

/// Returns the lists that were requested: their prefixes and numbers of names.
fn lists(store: &MemoryStore) -> Vec<(String, usize)> {
    store.take_lists().into_iter().map(|Listing { prefix, names }| (prefix, names)).collect()
}

#[test]
fn an_order_of_a_unit_is_found_without_a_ledger_by_one_list_call_for_each_mode() {
    let store = many_shops();
    let (test, live) = (scope("shop_77", Mode::Test), scope("shop_77", Mode::Live));
    let prefix = |scope: &Scope| TransactionKey::order_prefix(&SECRET, scope, "order-3");
    let count = |mode| {
        let (wanted, by) = (wanted(Some("shop_77"), mode), reference("order-3"));
        let found = transactions::find(&store, None, (&wanted, &by), &Direction::Newest, 9);
        block_on(found).unwrap().transactions.len()
    };
    assert_eq!(count(Some(Mode::Live)), 1);
    assert_eq!(lists(&store), [(prefix(&live), 1)]);
    assert_eq!(count(None), 2);
    assert_eq!(lists(&store), [(prefix(&test), 1), (prefix(&live), 1)]);
    assert_eq!(store.take_reads(), ["secret", "secret"]);
}

#[test]
fn an_address_or_a_reference_is_found_in_all_units_page_by_page() {
    let store = many_shops();
    let ledger = ledger_of(&store);
    for (by, mode, all) in [
        (email("ADA@example.org"), None, 2_000),
        (email("ADA@example.org"), Some(Mode::Live), 1_000),
        (reference("order-3"), None, 400),
        (reference("order-3"), Some(Mode::Test), 200),
        (reference("#ORDER-3"), None, 400),
        (reference("order3"), None, 0),
        (email("order-3"), None, 0),
    ] {
        let (wanted, mut from, mut found) = (wanted(None, mode), Direction::Newest, vec![]);
        loop {
            let of = (&wanted, &by);
            let page = transactions::find(&store, Some(&ledger), of, &from, 300);
            let page = block_on(page).unwrap();
            assert_eq!(page.coverage.as_ref().unwrap().damaged, DamagedRecords::default());
            let older = page.older();
            found.extend(page.transactions);
            match older {
                Some(older) => from = Direction::Older(older),
                None => break,
            }
        }
        assert_eq!(found.len(), all);
        assert!(found.is_sorted_by_key(|order| std::cmp::Reverse(order.place())));
        assert!(found.iter().all(|order| mode.is_none_or(|mode| order.mode == mode)));
        let ids: BTreeSet<_> = found.iter().map(|order| &order.id).collect();
        assert_eq!(ids.len(), all);
    }
    assert_eq!(lists(&store), []);
}

#[test]
fn without_a_ledger_all_units_are_not_searched_and_the_error_says_how_to_bind_one() {
    let store = many_shops();
    for (unit, by) in [
        (None, reference("order-3")),
        (None, email("ada@example.org")),
        (Some("shop_77"), email("ada@example.org")),
    ] {
        let wanted = wanted(unit, None);
        let found = transactions::find(&store, None, (&wanted, &by), &Direction::Newest, 9);
        let message = block_on(found).unwrap_err().to_string();
        assert!(message.starts_with("this needs the ledger") && message.contains("`LEDGER_DB`"));
    }
    assert!(bound(None).is_err());
    assert_eq!(lists(&store), []);
}

/// In an ID, 40 bits stand for a shop and 40 for an order. Other shops and orders can have the same bits.
#[test]
fn other_shops_and_orders_with_the_same_prefix_are_left_out() {
    let store = MemoryStore::default();
    put_secret(&store, &SECRET);
    let mine = scope("mine", Mode::Live);
    put_listed(&store, &mine, "mine", "order-1", 1);
    put_listed(&store, &mine, "of another", "order-1", 2);
    let other_order = TransactionId::new(&SECRET, &mine, "order-1", [3; 16]);
    let of_other_order = TransactionId::new(&SECRET, &mine, "order-2", [3; 16]);
    put_listed(&store, &mine, "mine", "order-2", 3);
    let metadata = &store.metadata(&TransactionKey(&of_other_order).name())[0];
    store.keep(&TransactionKey(&other_order).name(), b"", metadata.to_string().as_bytes());
    let id = TransactionId::new(&SECRET, &mine, "order-1", [1; 16]).to_string();
    assert_eq!(found_ids(&store, "mine", None, &reference("order-1")), [id]);
    assert_eq!(found_ids(&store, "mine", None, &email("ada@example.org")).len(), 3);
}

#[test]
fn records_that_cannot_be_looked_at_are_counted() {
    let store = MemoryStore::default();
    put_secret(&store, &SECRET);
    let prefix = TransactionKey::shop_prefix(&scope("u", Mode::Live));
    store.keep(&format!("{prefix}x"), b"canary", b"{}");
    let id = TransactionId::new(&SECRET, &scope("u", Mode::Live), "r", [1; 16]);
    store.keep(&TransactionKey(&id).name(), b"canary", br#"{"mode":"canary"}"#);
    let other = TransactionKey::shop_prefix(&scope("v", Mode::Live));
    store.keep(&format!("{other}x"), b"canary", b"{}");
    let by = email("ada@example.org");
    let damaged = |unit| {
        let found = find(&store, &wanted(unit, None), &by, &Direction::Newest, 9);
        found.coverage.unwrap().damaged
    };
    let first = [format!("{prefix}x"), TransactionKey(&id).name()].into_iter().min();
    assert_eq!(damaged(Some("u")), DamagedRecords { count: 2, first });
    assert_eq!((damaged(Some("v")).count, damaged(None).count), (1, 3));
}

#[test]
fn without_the_record_of_the_secret_the_copy_of_an_api_key_finds_as_well() {
    let bench = seeded();
    let id = id_of(&bench.create(UNIT, &order()));
    assert_eq!(found_ids(&bench.store, "unit_dev", None, &reference("canary-order")), [id]);
    let (nothing, ledger) = (MemoryStore::default(), SqliteLedger::default());
    let of = (&TransactionFilter::default(), &reference("r"));
    let found = block_on(transactions::find(&nothing, Some(&ledger), of, &Direction::Newest, 9));
    let message = "this namespace has no secret yet, which is needed to find references and addresses: it \
                   is created with the first API key";
    assert_eq!(found.unwrap_err().to_string(), message);
}

// ---- Show ----------------------------------------------------------------------------------------

#[track_caller]
fn show(store: &MemoryStore, id: &str, reveal: bool, timeline: bool) -> Value {
    let record = block_on(transactions::get(store, id)).unwrap();
    shown(&record.show(ViewOptions { reveal, timeline }).unwrap())
}

/// The price list at the time of the create request explains a charge. Later price lists do not.
#[test]
fn a_transaction_names_its_key_and_its_price_list() {
    let bench = bench();
    let (test_operator, file) =
        (test_operator(), br#"{"currencyCode":"EUR","unitPrices":{"tree":"0.50","kg":"2"}}"#);
    let set = |prices: &[u8]| {
        let edit = Edit::All(prices::parse(prices).unwrap());
        let author = test_operator.author();
        let set = prices::set(&*bench.store, None, &author, Mode::Test, &edit, None);
        block_on(set).unwrap().outcome
    };
    let time = set(file);
    let id = id_of(&bench.create(UNIT, &minimal()));
    test_operator.clock.0.set(NOW_MS + 1);
    set(br#"{"currencyCode":"EUR","unitPrices":{"tree":"0.60"}}"#);
    let shown_key = show(&bench.store, &id, false, false)["key"].clone();
    assert_eq!(shown_key, ApiKey::new(UNIT).hash().id());
    let record = block_on(transactions::get(&*bench.store, &id)).unwrap();
    let prices = shown(&block_on(record.prices(&*bench.store)).unwrap());
    let of_its_own = json!({ "tree": "0.50" });
    assert_eq!(
        prices,
        json!({ "time": time, "by": "ada@example.org", "currencyCode": "EUR", "unitPrices": of_its_own })
    );
    bench.store.remove(&format!("prices:test:{time}"));
    assert_eq!(block_on(record.prices(&*bench.store)), Ok(None));
}

#[test]
fn a_shown_transaction_is_masked() {
    let bench = bench();
    let id = id_of(&bench.create(UNIT, &order()));
    let masked = show(&bench.store, &format!(" {id}\n"), false, false);
    let nouns = [r#""nounPlural":"canaries canary","nounSingular":"canary""#, "canary-order"];
    assert!(nouns.iter().all(|shown| masked.to_string().contains(shown)), "{masked}");
    let text = nouns.iter().fold(masked.to_string(), |text, shown| text.replace(shown, ""));
    assert!(!text.contains("canary") && !text.contains("edit_key"), "{text}");
    let pledge = &masked["transaction"]["pledges"][0];
    assert_eq!(pledge["recipient"], json!({ "email": "c…@e…", "firstName": "c…", "name": "c…" }));
    assert_eq!((&masked["row"]["unpriced"], &masked["repeatable"]), (&json!(1), &json!(false)));
    let whole = show(&bench.store, &id, true, false);
    assert_eq!(whole["transaction"]["pledges"][0]["recipient"]["email"], "canary@example.org");
    assert!(!whole.to_string().contains("edit_key"));
    let with_address = show(&bench.store, &id, false, true);
    assert!(with_address["transaction"]["timelineUrl"].as_str().unwrap().contains("?edit_key="));

    let test_operator = test_operator();
    let record = block_on(transactions::get(&*bench.store, &id)).unwrap();
    let view = ViewOptions { reveal: true, timeline: true };
    let reveal =
        || block_on(transactions::reveal(&*bench.store, &test_operator.author(), &record, view));
    bench.store.set_failing(Some("audit:"));
    assert!(reveal().is_err(), "what is not recorded is not shown");
    bench.store.set_failing(None);
    assert!(shown(&reveal().unwrap()).to_string().contains("?edit_key="));
    let changes = records(&bench.store, "audit:");
    assert_eq!(changes.len(), 1);
    let expected = format!(r#""command":"transactions reveal","on":["{id}"]"#);
    assert!(changes[0].1.contains(&expected) && !changes[0].1.contains("canary"), "{changes:?}");
}

#[test]
fn a_damaged_record_is_named_and_not_quoted() {
    let store = MemoryStore::default();
    let id = TransactionId::new(&SECRET, &scope("u", Mode::Test), "r", [1; 16]);
    for (metadata, value) in [
        (json!({ "mode": "canary" }), "{}"),
        (
            json!({ "mode": "test", "unit": "u", "editKey": "0", "summary": {} }),
            "{\"reference\":[\"canary\"]}",
        ),
    ] {
        let metadata = metadata.to_string();
        store.keep(&TransactionKey(&id).name(), value.as_bytes(), metadata.as_bytes());
        let record = block_on(transactions::get(&store, id.as_str())).unwrap();
        let message = record.show(ViewOptions::default()).unwrap_err().to_string();
        assert!(
            message.starts_with(&format!("{id}: the stored transaction is damaged: ")),
            "{message}"
        );
        assert!(!message.contains("canary"), "{message}");
    }
    for text in ["ptran_", "secret", &TransactionKey(&id).name()] {
        let outcome = block_on(transactions::get(&store, text));
        let message = "this is not the ID of a transaction, which begins with `ptran_`: copy it from \
                       a list or from an answer of the API";
        assert_eq!(outcome.unwrap_err().to_string(), message);
    }
    let other = TransactionId::new(&SECRET, &scope("u", Mode::Test), "r", [2; 16]);
    let outcome = block_on(transactions::get(&store, other.as_str()));
    let message =
        format!("there is no transaction {other} here: check that it belongs to this environment");
    assert_eq!(outcome.unwrap_err().to_string(), message);
}

// ---- Erase ---------------------------------------------------------------------------------------

/// Erases the only transaction.
fn erase(bench: &TestService<MemoryStore>) -> Result<Option<String>, String> {
    erase_with(bench, None)
}

fn erase_with(
    bench: &TestService<MemoryStore>,
    ledger: Option<&SqliteLedger>,
) -> Result<Option<String>, String> {
    let (name, ..) = transaction(&bench.store);
    let id = TransactionKey::parse(&name).unwrap();
    let outcome = block_on(async {
        let record = transactions::get(&*bench.store, id.as_str()).await?;
        let test_operator = test_operator();
        test_operator.clock.0.set(bench.clock.0.get());
        let ledger = ledger.map(|ledger| ledger as _);
        transactions::erase(&*bench.store, ledger, &test_operator.author(), &record).await
    });
    let erased = outcome.map_err(|error| error.to_string())?.outcome;
    assert_eq!(erased.id, id.as_str());
    Ok(erased.before)
}

fn pass(bench: &TestService<MemoryStore>, minutes: u64) {
    bench.clock.0.set(bench.clock.0.get() + minutes * MINUTE);
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
    assert!(
        !page.text.contains("canary") && page.text.contains("<h1>Pledged for you</h1>"),
        "{}",
        page.text
    );
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

/// Workers KV may not show the replay record for a while. A retry then records the transaction again, so a transaction
/// that was just recorded is not erased.
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
        Err("it was created less than 5 minutes ago, so a repeated create could bring it back. \
             Nothing was erased: try again in 60 s"
            .to_owned())
    );
    assert_eq!(records(&bench.store, ""), before);
    bench.store.set_hidden(None);
    pass(&bench, 1);
    assert_eq!(erase(&bench), Ok(None));
    assert_eq!(bench.isolate().send(&request).headers["idempotent-replayed"], "true");
    assert_erased(&bench, &id);
}

/// A create request that stopped between its two writes was answered with an error, so the caller will retry it.
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
    assert!(message.starts_with(&format!("the create of {id} was interrupted")), "{message}");
    let added: Value = serde_json::from_str(&bench.store.value(&name).unwrap()).unwrap();
    let written: Value = serde_json::from_str(&replay).unwrap();
    assert_eq!((&added["id"], &added["terms"]), (&written["id"], &written["terms"]));
    pass(&bench, 4);
    let message = erase(&bench).unwrap_err();
    assert!(
        message.starts_with("it got its missing replay record less than 5 minutes ago"),
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

/// An erasure that breaks off may have written its marker already. Until the erasure runs again, the marker keeps a
/// restore from bringing the person back.
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

const COLUMNS: &str = "SELECT json_array(email, quantities, erased IS NOT NULL) FROM transactions";

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
    assert!(before[0].contains("CANARY ADA") && before[0].ends_with(",0]"), "{before:?}");
    for failing in [Failing::Before, Failing::After] {
        ledger.set_failing_after(1, failing); // the operation has begun
        let message = erase_with(&bench, Some(&ledger)).unwrap_err();
        assert!(message.contains("its row in the ledger is not"), "{message}");
        assert!(message.ends_with("erase it again"), "{message}");
        ledger.set_failing(Failing::Not);
        if failing == Failing::Before {
            assert_eq!(ledger.sql(COLUMNS), before);
        }
    }
    assert!(erase_with(&bench, Some(&ledger)).unwrap().is_some());
    assert_eq!(ledger.sql(COLUMNS), [&*tombstone]);
    let metadata = &transaction(&bench.store).2["summary"]["quantities"];
    assert_eq!(metadata.to_string(), quantities.replace('\\', ""));
    ledger.reconcile(&*bench.store, NOW_MS + 100 * MINUTE);
    assert_eq!(ledger.sql(COLUMNS), [tombstone]);
}

/// Workers KV may show the old record for a minute. The ledger's row is therefore made from the written record.
#[test]
fn an_erasure_leaves_a_tombstone_where_no_message_has_come_yet() {
    let (bench, ledger) = (bench(), SqliteLedger::default());
    bench.create(UNIT, &order());
    pass(&bench, 5);
    assert_eq!(erase_with(&bench, Some(&ledger)), Ok(None));
    let rows = ledger.sql(COLUMNS);
    assert_eq!(rows, [r#"[null,"[[\"tre\",1000000],[\"tree\",3000000]]",1]"#]);
}

/// Erases the person of [`order`] in steps of at most 10 transactions on 2 pages. Returns the IDs that were erased and
/// refused.
fn erase_person(
    bench: &TestService<MemoryStore>,
    ledger: &SqliteLedger,
) -> Vec<(Vec<String>, Vec<String>)> {
    let test_operator = test_operator();
    test_operator.clock.0.set(bench.clock.0.get());
    let (mut steps, mut next) = (Vec::new(), None::<ErasureCursor>);
    loop {
        bench.store.take_lists();
        let (author, wanted) = (test_operator.author(), wanted(Some("unit_dev"), None));
        let of = (&wanted, "Canary@example.org");
        let records = (&*bench.store, ledger as _);
        let step = transactions::erase_person_step(records, &author, of, next.as_ref(), 10, 2);
        let step = block_on(step).unwrap().outcome;
        assert!(bench.store.take_lists().len() <= 2);
        assert_eq!(step.damaged, DamagedRecords::default());
        let erased: Vec<_> = step.erased.into_iter().map(|erased| erased.id).collect();
        let young = "it was created less than 5 minutes ago";
        let broken = |id: &str| format!("the create of {id} was interrupted");
        let refused = step.refused.into_iter().map(|(id, why)| {
            assert!(why.starts_with(young) || why.starts_with(&broken(&id)), "{why}");
            id
        });
        let refused: Vec<_> = refused.collect();
        assert!(erased.len() + refused.len() <= 10);
        steps.push((erased, refused));
        let text = step.next.map(|next| next.to_string());
        next = text.as_deref().map(|text| ErasureCursor::parse(text).unwrap());
        if next.is_none() {
            return steps;
        }
    }
}

/// The ledger may lack rows, and lists of Workers KV may show erased transactions for a minute. Erasing one again does no
/// harm.
#[test]
fn a_person_is_erased_in_steps_that_come_to_an_end() {
    for (is_stale, has_rows) in [(false, true), (true, true), (false, false), (true, false)] {
        let bench = bench();
        let mut mine: BTreeSet<_> = (0..24).map(|_| id_of(&bench.create(UNIT, &order()))).collect();
        mine.extend((0..3).map(|_| id_of(&bench.create(LIVE_UNIT, &order()))));
        let ledger = if has_rows { ledger_of(&bench.store) } else { SqliteLedger::default() };
        let broken_off = id_of(&bench.send(&repeatable(&order())));
        let (replay, ..) = records(&bench.store, "idempotency:")[0].clone();
        bench.store.remove(&replay);
        let others = [id_of(&bench.create(UNIT, &minimal())), {
            id_of(&bench.create("service_sk_test_dev_unit_two", &order()))
        }];
        pass(&bench, 5);
        let young = id_of(&bench.create(UNIT, &order()));
        let before = others.each_ref().map(|id| bench.store.value(&format!("transaction:{id}")));
        bench.store.set_page_length(8);
        bench.store.freeze_lists(is_stale);
        let steps = erase_person(&bench, &ledger);
        if has_rows {
            assert_eq!(steps[0].0.len(), 10, "those of the ledger first");
        }
        let all = |steps: &[(Vec<String>, Vec<String>)], part: fn(&(Vec<_>, Vec<_>)) -> Vec<_>| {
            steps.iter().flat_map(part).collect::<Vec<String>>()
        };
        let (erased, refused) = (all(&steps, |it| it.0.clone()), all(&steps, |it| it.1.clone()));
        let twice = is_stale && has_rows;
        let times = if twice { 2 } else { 1 };
        assert_eq!((erased.len(), refused.len()), (times * mine.len(), 2));
        assert_eq!(erased.into_iter().collect::<BTreeSet<_>>(), mine);
        let left = BTreeSet::from([broken_off, young]);
        assert_eq!(refused.into_iter().collect::<BTreeSet<_>>(), left);
        pass(&bench, 5);
        let again = all(&erase_person(&bench, &ledger), |it| it.0.clone()).into_iter().collect();
        let expected = if is_stale { &left | &mine } else { left };
        assert_eq!(expected, again);
        bench.store.freeze_lists(false);
        let hashes = ledger.sql("SELECT count(email) FROM transactions");
        assert_eq!(hashes, ["0"], "each has its tombstone");
        assert_eq!(
            found_ids(&bench.store, "unit_dev", None, &email("canary@example.org")),
            [""; 0]
        );
        let after = others.each_ref().map(|id| bench.store.value(&format!("transaction:{id}")));
        assert_eq!(after, before);
    }
}

#[test]
fn a_step_that_breaks_off_says_what_it_has_erased_and_the_next_one_begins_with_the_rest() {
    for has_rows in [true, false] {
        let (bench, test_operator) = (bench(), test_operator());
        let mut ids: Vec<_> = (0..4).map(|_| id_of(&bench.create(UNIT, &order()))).collect();
        ids.sort();
        if has_rows {
            ids.reverse(); // newest first; of the same moment, by ID
        }
        let ledger = if has_rows { ledger_of(&bench.store) } else { SqliteLedger::default() };
        pass(&bench, 5);
        test_operator.clock.0.set(bench.clock.0.get());
        let broken: &'static str = Box::leak(format!("transaction:{}", ids[2]).into_boxed_str());
        let step = |from: Option<&ErasureCursor>| {
            let (author, wanted) = (test_operator.author(), wanted(Some("unit_dev"), None));
            let (records, of) = ((&*bench.store, &ledger as _), (&wanted, "canary@example.org"));
            let step = transactions::erase_person_step(records, &author, of, from, 20, 40);
            block_on(step).map(|done| done.outcome)
        };
        bench.store.set_failing(Some(broken));
        let first = step(None).unwrap();
        let erased =
            |step: &PersonStep| step.erased.iter().map(|it| it.id.clone()).collect::<Vec<_>>();
        assert_eq!(erased(&first), ids[..2]);
        let error = step(first.next.as_ref()).unwrap_err();
        assert_eq!(error, OperatorError::Store(StoreError::Unavailable));
        bench.store.set_failing(None);
        let second = step(first.next.as_ref()).unwrap();
        assert_eq!((erased(&second), second.next), (ids[2..].to_vec(), None));
    }
}

#[test]
fn a_place_that_was_tampered_with_erases_nothing_else() {
    for text in ["", "found-", "found-1", "found-x-ptran_", "9", "~", "x~~", "<script>"] {
        assert_eq!(ErasureCursor::parse(text), None, "{text}");
    }
    let (bench, ledger, test_operator) = (bench(), SqliteLedger::default(), test_operator());
    bench.create(UNIT, &order());
    let of = (&wanted(Some("unit_dev"), None), "canary@example.org");
    let beyond = ErasureCursor::parse("9~~").unwrap();
    let author = test_operator.author();
    let records = (&*bench.store, &ledger as _);
    let step = transactions::erase_person_step(records, &author, of, Some(&beyond), 9, 9);
    let step = block_on(step).unwrap().outcome;
    assert_eq!((step.erased.len(), step.next), (0, None));
}
