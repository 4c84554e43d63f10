//! Transactions as an operator finds, shows, erases and sums them.

use futures_executor::block_on;
use impact_pledge::auth::ApiKey;
use impact_pledge::operator::transactions::{
    self, By, Damaged, Found, PersonStep, Position, Report, Row, Size, Usage, UsageQuery, View,
    Wanted,
};
use impact_pledge::operator::usage::{self, CountStep, Partial};
use impact_pledge::operator::{OperatorError, prices};
use impact_pledge::pledge::TransactionId;
use impact_pledge::scope::{Mode, Scope};
use impact_pledge::secret::NamespaceSecret;
use impact_pledge::settlement::Month;
use impact_pledge::store::{Key as _, StoreError, TransactionKey};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use support::memory::{Listing, MemoryStore};
use support::service::{
    Answer, LIVE_UNIT, NOW_MS, SECRET, TestRequest, TestService, UNIT, desk, key_record, minimal,
    put_key, repeatable, seeded, unit,
};

const MINUTE: u64 = 60_000;

/// A service with the record of its secret.
fn bench() -> TestService<MemoryStore> {
    let bench = seeded();
    put_secret(&bench.store, &SECRET);
    bench
}

fn put_secret(store: &MemoryStore, secret: &NamespaceSecret) {
    store.keep("secret", json!({ "secret": secret }).to_string().as_bytes(), b"null");
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

/// The same of a shop that puts the buyer where an offering belongs.
fn order_with_personal_offerings() -> Value {
    let mut order = order();
    for offering in ["canary@example.net", "for CANARY ADA", "CANARY-ORDER/1", "@listed"] {
        let pledge = json!({ "impact": { "amount": 1, "offeringId": offering } });
        order["pledges"].as_array_mut().unwrap().push(pledge);
    }
    order
}

/// All records whose names begin like this: names, values and metadata.
fn records(store: &MemoryStore, prefix: &str) -> Vec<(String, String, Value)> {
    let names = store.names().into_iter().filter(|name| name.starts_with(prefix));
    let found = names.zip(store.metadata(prefix));
    found.map(|(name, metadata)| (name.clone(), store.value(&name).unwrap(), metadata)).collect()
}

/// The only transaction.
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

fn reference(text: &str) -> By {
    By::Reference(text.to_owned())
}

fn email(text: &str) -> By {
    By::Email(text.to_owned())
}

#[track_caller]
fn find(store: &MemoryStore, unit: &str, mode: Option<Mode>, by: &By) -> Found {
    let wanted = Wanted { unit: Some(unit.to_owned()), mode };
    block_on(transactions::find(store, wanted, by)).unwrap()
}

#[track_caller]
fn found_ids(store: &MemoryStore, unit: &str, mode: Option<Mode>, by: &By) -> Vec<String> {
    let found = find(store, unit, mode, by);
    assert_eq!(found.damaged, Damaged::default());
    let mut ids: Vec<_> = found.transactions.into_iter().map(|row| row.id).collect();
    ids.sort();
    ids
}

#[test]
fn a_transaction_is_found_by_reference_or_address_from_metadata_alone() {
    let bench = bench();
    let id = id_of(&bench.create(UNIT, &order()));
    bench.create(UNIT, &minimal());
    let live = id_of(&bench.create(LIVE_UNIT, &order()));
    bench.create("service_sk_test_dev_unit_two", &order());
    bench.store.take_reads();
    let mut both = vec![id.clone(), live.clone()];
    both.sort();
    let unit = "unit_dev";
    let ids = |unit, mode, by: &By| found_ids(&bench.store, unit, mode, by);
    assert_eq!(ids(unit, None, &reference("canary-order")), both);
    assert_eq!(ids(unit, None, &email("CANARY@Example.org")), both);
    assert_eq!(ids(unit, Some(Mode::Live), &reference("canary-order")), [live]);
    for (unit, by) in [
        ("unit_dev_three", reference("canary-order")),
        (unit, reference("Canary-order")),
        (unit, reference("canary@example.org")),
        (unit, email("canary-order")),
    ] {
        assert_eq!(ids(unit, None, &by), [""; 0]);
    }
    assert_eq!(
        shown(&find(&bench.store, unit, Some(Mode::Test), &reference("canary-order")).transactions),
        json!([{ "id": id, "mode": "test", "unit": unit, "createdAt": "2026-01-31T12:00:00.123Z",
                 "amount": "1.50", "currencyCode": "USD", "unpriced": 1, "erased": null }])
    );
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

/// A record as the service writes it, with no value, as of a unit of its metadata's own.
fn put_listed(store: &MemoryStore, named: &Scope, unit: &str, reference: &str, number: u8) {
    let id = TransactionId::new(&SECRET, named, reference, [number; 16]);
    let hashes = SECRET.hashes(&scope(unit, named.mode), reference, "ada@example.org");
    let metadata = json!({ "version": 1, "mode": named.mode, "unit": unit, "editKey": "0", "summary": {
        "createdAt": "2026-11-15T00:00:00.000Z", "amount": "1.00", "currencyCode": "EUR",
        "lookup": hashes } });
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

/// The lists that were asked for: of which prefix, and with how many names.
fn lists(store: &MemoryStore) -> Vec<(String, usize)> {
    store.take_lists().into_iter().map(|Listing { prefix, names }| (prefix, names)).collect()
}

#[test]
fn an_order_among_many_shops_is_found_by_one_list_call_for_each_mode() {
    let store = many_shops();
    let (test, live) = (scope("shop_77", Mode::Test), scope("shop_77", Mode::Live));
    let prefix = |scope: &Scope| TransactionKey::order_prefix(&SECRET, scope, "order-3");
    assert_eq!(found_ids(&store, "shop_77", Some(Mode::Live), &reference("order-3")).len(), 1);
    assert_eq!(lists(&store), [(prefix(&live), 1)]);
    assert_eq!(found_ids(&store, "shop_77", None, &reference("order-3")).len(), 2);
    assert_eq!(lists(&store), [(prefix(&test), 1), (prefix(&live), 1)]);
    assert_eq!(store.take_reads(), ["secret", "secret"]);
}

#[test]
fn of_one_shop_only_its_own_records_are_listed() {
    let store = many_shops();
    let prefix = |mode| TransactionKey::shop_prefix(&scope("shop_77", mode));
    let both = [(prefix(Mode::Test), 5), (prefix(Mode::Live), 5)];
    assert_eq!(found_ids(&store, "shop_77", None, &email("ada@example.org")).len(), 10);
    assert_eq!(lists(&store), both);
    let wanted = |mode| Wanted { unit: Some("shop_77".to_owned()), mode };
    let query = |wanted| UsageQuery { wanted, ..UsageQuery::default() };
    assert_eq!(sum(&store, query(wanted(None))).1.transactions, 10);
    assert_eq!(lists(&store), both);
    assert_eq!(sum(&store, query(wanted(Some(Mode::Live)))).1.transactions, 5);
    assert_eq!(lists(&store), [(prefix(Mode::Live), 5)]);
    assert_eq!(sum(&store, UsageQuery::default()).1.transactions, 2_000);
    assert_eq!(
        lists(&store),
        [("transaction:".to_owned(), 1_000), ("transaction:".to_owned(), 1_000)]
    );
}

#[test]
fn an_address_is_found_in_all_units_whose_records_are_counted_before() {
    let store = many_shops();
    let wanted = |mode| Wanted { unit: None, mode };
    let found = |wanted| block_on(transactions::find(&store, wanted, &email("ADA@example.org")));
    assert_eq!(found(wanted(Some(Mode::Live))).unwrap().transactions.len(), 1_000);
    let all = found(wanted(None)).unwrap().transactions;
    let units: BTreeSet<_> = all.iter().map(|row| &row.unit).collect();
    assert_eq!((all.len(), units.len()), (2_000, 200));
    lists(&store);
    let size = |page_length| {
        store.set_page_length(page_length);
        block_on(transactions::size_of_all(&store)).unwrap()
    };
    assert_eq!(size(1_000), Size { records: 2_000, more: false });
    assert_eq!(size(200), Size { records: 2_000, more: false });
    assert_eq!(size(199), Size { records: 1_990, more: true });
    assert!(lists(&store).len() <= 2 + 10 + 11);
}

/// A request makes a bounded number of calls; the next one goes on by the text of a form.
#[test]
fn a_search_in_steps_finds_what_one_in_one_go_does() {
    let store = many_shops();
    store.keep("transaction:x", b"", b"{}");
    for (unit, page_length, lists, steps) in [
        (Some("shop_77"), 2, 1, 6),
        (Some("shop_77"), 2, 4, 2),
        (None, 700, 1, 3),
        (None, 700, 3, 1),
    ] {
        store.set_page_length(page_length);
        let wanted = Wanted { unit: unit.map(str::to_owned), mode: None };
        let by = email("ADA@example.org");
        let (mut rows, mut damaged, mut listed, mut next) = (vec![], 0, 0, None);
        for number in 1.. {
            store.take_lists();
            let step = transactions::find_step(&store, &wanted, &by, next.as_ref(), lists);
            let step = block_on(step).unwrap();
            assert!((1..=lists).contains(&store.take_lists().len()));
            rows.extend(step.transactions);
            damaged += step.damaged.count;
            listed += step.listed;
            let text = step.next.map(|next| next.to_string());
            next = text.as_deref().and_then(Position::parse);
            assert_eq!(next.is_some(), text.is_some());
            if next.is_none() {
                assert_eq!(number, steps, "{unit:?}");
                break;
            }
        }
        let whole = block_on(transactions::find(&store, wanted, &by)).unwrap();
        let ids = |rows: Vec<Row>| rows.into_iter().map(|row| row.id).collect::<BTreeSet<_>>();
        assert_eq!((rows.len(), damaged), (whole.transactions.len(), whole.damaged.count));
        assert_eq!(ids(rows), ids(whole.transactions));
        assert_eq!(listed, if unit.is_some() { 10 } else { 2_001 });
    }
    let (wanted, by, beyond) = (Wanted::default(), email("a"), Position::parse("9~~"));
    let search = transactions::find_step(&store, &wanted, &by, beyond.as_ref(), 1);
    assert_eq!(block_on(search).unwrap().next, None);
}

/// 40 bits of a name stand for a shop, and 40 for an order: others can have the same.
#[test]
fn what_only_shares_the_name_of_a_shop_or_an_order_is_left_out() {
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
    let wanted = Wanted { unit: Some("mine".to_owned()), mode: None };
    let (rows, _) = sum(&store, UsageQuery { wanted, ..UsageQuery::default() });
    assert!(rows.iter().all(|row| row.unit == "mine") && rows.len() == 3, "{rows:?}");
}

#[test]
fn records_that_cannot_be_looked_at_are_counted() {
    let store = MemoryStore::default();
    put_secret(&store, &SECRET);
    let prefix = TransactionKey::shop_prefix(&scope("u", Mode::Live));
    store.keep(&format!("{prefix}x"), b"canary", b"{}");
    let id = TransactionId::new(&SECRET, &scope("u", Mode::Live), "r", [1; 16]);
    store.keep(&TransactionKey(&id).name(), b"canary", br#"{"mode":"canary"}"#);
    let damaged = find(&store, "u", None, &email("ada@example.org")).damaged;
    let first = [format!("{prefix}x"), TransactionKey(&id).name()].into_iter().min();
    assert_eq!(damaged, Damaged { count: 2, first });
}

#[test]
fn without_the_record_of_the_secret_the_copy_of_an_api_key_finds_as_well() {
    let bench = seeded();
    let id = id_of(&bench.create(UNIT, &order()));
    assert_eq!(found_ids(&bench.store, "unit_dev", None, &reference("canary-order")), [id]);
    let nothing = MemoryStore::default();
    let found = block_on(transactions::find(&nothing, Wanted::default(), &reference("r")));
    let message = "this namespace has no secret, which references and addresses are found by: it is \
                   made with the first API key";
    assert_eq!(found.unwrap_err().to_string(), message);
}

// ---- Show ----------------------------------------------------------------------------------------

#[track_caller]
fn show(store: &MemoryStore, id: &str, reveal: bool, timeline: bool) -> Value {
    let record = block_on(transactions::get(store, id)).unwrap();
    shown(&record.show(View { reveal, timeline }).unwrap())
}

/// Why 0.50 in October? By the list that was in force then, whatever has been set since.
#[test]
fn a_transaction_names_its_key_and_its_price_list() {
    let bench = bench();
    let (desk, file) = (desk(), br#"{"currencyCode":"EUR","unitPrices":{"tree":"0.50","kg":"2"}}"#);
    let set = |prices: &[u8]| {
        let catalogue = prices::parse(prices).unwrap();
        block_on(prices::set(&*bench.store, &desk.author(), Mode::Test, catalogue)).unwrap()
    };
    let time = set(file);
    let id = id_of(&bench.create(UNIT, &minimal()));
    desk.clock.0.set(NOW_MS + 1);
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
fn what_is_shown_of_a_transaction_is_masked() {
    let bench = bench();
    let id = id_of(&bench.create(UNIT, &order()));
    let masked = show(&bench.store, &format!(" {id}\n"), false, false);
    let text = masked.to_string().replace("canary-order", "");
    assert!(!text.contains("canary") && !text.contains("edit_key"), "{text}");
    let pledge = &masked["transaction"]["pledges"][0];
    assert_eq!(pledge["recipient"], json!({ "email": "c…@e…", "firstName": "c…", "name": "c…" }));
    assert_eq!((&masked["row"]["unpriced"], &masked["repeatable"]), (&json!(1), &json!(false)));
    let whole = show(&bench.store, &id, true, false);
    assert_eq!(whole["transaction"]["pledges"][0]["recipient"]["email"], "canary@example.org");
    assert!(!whole.to_string().contains("edit_key"));
    let with_address = show(&bench.store, &id, false, true);
    assert!(with_address["transaction"]["timelineUrl"].as_str().unwrap().contains("?edit_key="));

    let desk = desk();
    let record = block_on(transactions::get(&*bench.store, &id)).unwrap();
    let view = View { reveal: true, timeline: true };
    let reveal = || block_on(transactions::reveal(&*bench.store, &desk.author(), &record, view));
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
        let message = record.show(View::default()).unwrap_err().to_string();
        assert!(
            message.starts_with(&format!("{id}: the stored transaction is damaged: ")),
            "{message}"
        );
        assert!(!message.contains("canary"), "{message}");
    }
    for text in ["ptran_", "secret", &TransactionKey(&id).name()] {
        let outcome = block_on(transactions::get(&store, text));
        let message = "this is not the ID of a transaction, which begins with `ptran_`: take it from \
                       a list or an answer";
        assert_eq!(outcome.unwrap_err().to_string(), message);
    }
    let other = TransactionId::new(&SECRET, &scope("u", Mode::Test), "r", [2; 16]);
    let outcome = block_on(transactions::get(&store, other.as_str()));
    let message = format!("there is no transaction {other} here: is it one of this place?");
    assert_eq!(outcome.unwrap_err().to_string(), message);
}

// ---- Erase ---------------------------------------------------------------------------------------

/// Erases the only transaction.
fn erase(bench: &TestService<MemoryStore>) -> Result<Option<String>, String> {
    let (name, ..) = transaction(&bench.store);
    let id = TransactionKey::parse(&name).unwrap();
    let outcome = block_on(async {
        let record = transactions::get(&*bench.store, id.as_str()).await?;
        let desk = desk();
        desk.clock.0.set(bench.clock.0.get());
        transactions::erase(&*bench.store, &desk.author(), &record).await
    });
    let erased = outcome.map_err(|error| error.to_string())?;
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
    let before = records(&bench.store, "");
    assert_eq!(
        erase(&bench),
        Err("it was created less than 5 minutes ago, and a repeat of the create could bring it \
             back: nothing was erased, try again in 60 s"
            .to_owned())
    );
    assert_eq!(records(&bench.store, ""), before);
    bench.store.set_hidden(None);
    pass(&bench, 1);
    assert_eq!(erase(&bench), Ok(None));
    assert_eq!(bench.isolate().send(&request).headers["idempotent-replayed"], "true");
    assert_erased(&bench, &id);
}

/// A create that broke off between its two writes was not acknowledged, and will be repeated.
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
    assert!(message.starts_with(&format!("the create of {id} was broken off")), "{message}");
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
fn what_was_erased_is_still_summed_and_no_longer_found() {
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
    for by in [reference("canary-order"), reference("erased"), email("canary@example.org")] {
        assert_eq!(found_ids(&bench.store, "unit_dev", None, &by), [""; 0]);
    }
    let (rows, usage) = sum(&bench.store, month("2026-01"));
    assert_eq!((&*usage.sums[0].amount, rows[0].erased.as_deref()), ("1.50", Some(time)));
    pass(&bench, 1);
    assert_eq!(erase(&bench), Ok(Some(time.to_owned())));
    assert_eq!(transaction(&bench.store), erased, "once more changes nothing");
    assert_eq!(records(&bench.store, "erased:"), mark);
    assert_eq!(show(&bench.store, &id, true, false)["row"]["erased"], time);
}

/// An erasure that breaks off can be marked already: until it is run again, that keeps restores from
/// bringing the person back.
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

/// The steps of an erasure of the person of [`order`], each of at most 10 transactions on 2 pages: the IDs
/// of those erased and refused.
fn erase_person(bench: &TestService<MemoryStore>) -> Vec<(Vec<String>, Vec<String>)> {
    let desk = desk();
    desk.clock.0.set(bench.clock.0.get());
    let (mut steps, mut next) = (Vec::new(), None::<Position>);
    loop {
        bench.store.take_lists();
        let (author, address) = (desk.author(), "Canary@example.org");
        let step = transactions::erase_person_step(
            &*bench.store,
            &author,
            "unit_dev",
            address,
            next.as_ref(),
            10,
            2,
        );
        let step = block_on(step).unwrap();
        assert!((1..=2).contains(&bench.store.take_lists().len()));
        assert_eq!(step.damaged, Damaged::default());
        let erased: Vec<_> = step.erased.into_iter().map(|erased| erased.id).collect();
        let young = "it was created less than 5 minutes ago";
        let broken = |id: &str| format!("the create of {id} was broken off");
        let refused = step.refused.into_iter().map(|(id, why)| {
            assert!(why.starts_with(young) || why.starts_with(&broken(&id)), "{why}");
            id
        });
        let refused: Vec<_> = refused.collect();
        assert!(erased.len() + refused.len() <= 10);
        steps.push((erased, refused));
        let text = step.next.map(|next| next.to_string());
        next = text.as_deref().map(|text| Position::parse(text).unwrap());
        if next.is_none() {
            return steps;
        }
    }
}

/// Lists of Workers KV may show what was erased for a minute: it is met again, and comes to no harm.
#[test]
fn a_person_is_erased_in_steps_that_come_to_an_end() {
    for is_stale in [false, true] {
        let bench = bench();
        let mut mine: BTreeSet<_> = (0..24).map(|_| id_of(&bench.create(UNIT, &order()))).collect();
        mine.extend((0..3).map(|_| id_of(&bench.create(LIVE_UNIT, &order()))));
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
        let steps = erase_person(&bench);
        let all = |steps: &[(Vec<String>, Vec<String>)], part: fn(&(Vec<_>, Vec<_>)) -> Vec<_>| {
            steps.iter().flat_map(part).collect::<Vec<String>>()
        };
        let (erased, refused) = (all(&steps, |it| it.0.clone()), all(&steps, |it| it.1.clone()));
        assert_eq!((erased.len(), refused.len()), (mine.len(), 2), "each is met once");
        assert_eq!(erased.into_iter().collect::<BTreeSet<_>>(), mine);
        let left = BTreeSet::from([broken_off, young]);
        assert_eq!(refused.into_iter().collect::<BTreeSet<_>>(), left);
        pass(&bench, 5);
        let again = all(&erase_person(&bench), |it| it.0.clone()).into_iter().collect();
        let expected = if is_stale { &left | &mine } else { left };
        assert_eq!(expected, again);
        bench.store.freeze_lists(false);
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
    let (bench, desk) = (bench(), desk());
    let mut ids: Vec<_> = (0..4).map(|_| id_of(&bench.create(UNIT, &order()))).collect();
    ids.sort();
    pass(&bench, 5);
    desk.clock.0.set(bench.clock.0.get());
    let broken: &'static str = Box::leak(format!("transaction:{}", ids[2]).into_boxed_str());
    let step = |from: Option<&Position>| {
        let (author, email) = (desk.author(), "canary@example.org");
        block_on(transactions::erase_person_step(
            &*bench.store,
            &author,
            "unit_dev",
            email,
            from,
            20,
            40,
        ))
    };
    bench.store.set_failing(Some(broken));
    let first = step(None).unwrap();
    let erased = |step: &PersonStep| step.erased.iter().map(|it| it.id.clone()).collect::<Vec<_>>();
    assert_eq!(erased(&first), ids[..2]);
    let error = step(first.next.as_ref()).unwrap_err();
    assert_eq!(error, OperatorError::Store(StoreError::Unavailable));
    bench.store.set_failing(None);
    let second = step(first.next.as_ref()).unwrap();
    assert_eq!((erased(&second), second.next), (ids[2..].to_vec(), None));
}

// ---- Sums ----------------------------------------------------------------------------------------

fn month(text: &str) -> UsageQuery {
    UsageQuery { month: Some(Month::parse(text).unwrap()), ..UsageQuery::default() }
}

/// All rows, and their sums.
fn sum(store: &MemoryStore, query: UsageQuery) -> (Vec<Row>, Usage) {
    let mut report = Report::new(store, query);
    let mut rows = Vec::new();
    while let Some(page) = block_on(report.next()).unwrap() {
        rows.extend(page);
    }
    (rows, report.finish())
}

/// Keeps the metadata of a transaction, whose value is never read.
fn put_summed(
    store: &MemoryStore,
    number: u8,
    of: (&str, Mode),
    time: &str,
    amount: &str,
) -> String {
    let (unit, mode) = of;
    let id = TransactionId::new(&SECRET, &scope(unit, mode), "r", [number; 16]);
    let metadata = json!({ "version": 1, "mode": mode, "unit": unit, "editKey": "0",
        "summary": { "createdAt": time, "amount": amount, "currencyCode": "EUR", "unpriced": number } });
    store.keep(&TransactionKey(&id).name(), b"", metadata.to_string().as_bytes());
    id.to_string()
}

#[test]
fn a_month_is_summed_exactly_by_unit_mode_and_currency() {
    let store = MemoryStore::default();
    store.set_page_length(2);
    let nines = "9".repeat(350) + ".99";
    let (live_a, live_b, test_b) = (("a", Mode::Live), ("b", Mode::Live), ("b", Mode::Test));
    let put = |number, of, time, amount| put_summed(&store, number, of, time, amount);
    let mut november = vec![
        put(1, live_b, "2026-11-01T00:00:00.000Z", "0.10"),
        put(2, live_b, "2026-11-30T23:59:59.999Z", "0.20"),
        put(5, test_b, "2026-11-15T00:00:00.000Z", "8.00"),
        put(6, live_a, "2026-11-15T00:00:00.000Z", &nines),
        put(7, live_a, "2026-11-15T00:00:00.000Z", "0.01"),
    ];
    put(3, live_b, "2026-12-01T00:00:00.000Z", "4.00");
    put(4, live_b, "2026-10-31T23:59:59.999Z", "4.00");
    let damaged = [
        put(8, live_a, "2026-11-15T00:00:00.000Z", "1e999999999"),
        put(9, live_a, "2026-11-15T00:00:00.000Z", ""),
    ];
    november.sort();
    let (rows, usage) = sum(&store, month("2026-11"));
    let mut ids: Vec<_> = rows.into_iter().map(|row| row.id).collect();
    ids.sort();
    assert_eq!(ids, november);
    let first = damaged.iter().min().map(|id| format!("transaction:{id}"));
    assert_eq!(usage.damaged, Damaged { count: 2, first });
    let sum_of = |unit, mode, transactions: u64, unpriced: u64, amount: &str| {
        json!({ "unit": unit, "mode": mode, "currencyCode": "EUR", "transactions": transactions,
                "unpriced": unpriced, "amount": amount, "settled": null })
    };
    let million = format!("1{}.00", "0".repeat(350));
    assert_eq!(
        shown(&usage.sums),
        json!([
            sum_of("a", "live", 2, 13, &million),
            sum_of("b", "test", 1, 5, "8.00"),
            sum_of("b", "live", 2, 3, "0.30"),
        ])
    );
    assert_eq!(usage.transactions, 5);
    let settlements = ["live:a", "live:b", "test:b"].map(|it| format!("settlement:{it}:2026-11"));
    let mut reads = store.take_reads();
    reads.sort();
    assert_eq!(reads, settlements, "no transaction is read");
    let wanted = Wanted { unit: Some("b".to_owned()), mode: Some(Mode::Live) };
    let (rows, usage) = sum(&store, UsageQuery { wanted, ..month("2026-11") });
    assert_eq!((rows.len(), &*usage.sums[0].amount), (2, "0.30"));
    assert_eq!(store.take_reads(), [&*settlements[1]]);
    assert_eq!(sum(&store, UsageQuery::default()).1.transactions, 7, "of all time");
    assert_eq!(store.take_reads(), [""; 0]);
}

#[test]
fn transactions_with_an_offering_that_had_no_price_are_summed_by_themselves() {
    let bench = bench();
    for (key, offering) in [(UNIT, "tre"), (LIVE_UNIT, "tre"), (UNIT, "tree"), (UNIT, "new")] {
        let mut order = minimal();
        order["pledges"] = json!([
            { "impact": { "amount": 3, "offeringId": offering } },
            { "impact": { "amount": 1, "offeringId": "tree" } },
        ]);
        bench.create(key, &order);
    }
    let (rows, usage) = sum(&bench.store, UsageQuery { unpriced: true, ..UsageQuery::default() });
    assert!(rows.iter().all(|row| row.unpriced == 1) && rows.len() == 3, "{rows:?}");
    let unpriced: Vec<_> =
        usage.sums.iter().map(|sum| (sum.mode, sum.transactions, sum.unpriced)).collect();
    assert_eq!(unpriced, [(Mode::Test, 2, 2), (Mode::Live, 1, 1)]);
    assert_eq!(sum(&bench.store, UsageQuery::default()).1.transactions, 4);
}

// ---- Months that are kept ------------------------------------------------------------------------

/// 2026-12-02T00:00:00Z, from which on November has ended.
const NOVEMBER_ENDED_MS: u64 = 1_796_169_600_000;

/// Counts a shop in steps of so many list calls, each of which goes on by a text.
fn count(store: &MemoryStore, now_ms: u64, unit: &str, lists: usize) -> (CountStep, usize) {
    let desk = desk();
    desk.clock.0.set(now_ms);
    let mut next: Option<Partial> = None;
    for steps in 1.. {
        store.take_lists();
        let step = usage::count_step(store, &desk.clock, unit, Mode::Live, next.as_ref(), lists);
        let step = block_on(step).unwrap();
        assert!((1..=lists).contains(&store.take_lists().len()));
        let Some(partial) = step.next else { return (step, steps) };
        assert_eq!(step.months, []);
        next = Some(Partial::parse(&partial.to_string()).unwrap());
        desk.clock.0.set(now_ms + 40 * 24 * 60 * MINUTE); // a form that waits for a month
    }
    unreachable!()
}

#[test]
fn a_shop_is_counted_in_steps_and_its_ended_months_are_kept() {
    let store = MemoryStore::default();
    put_secret(&store, &SECRET);
    store.set_page_length(2);
    let nines = "9".repeat(350) + ".99";
    for (number, time, amount) in [
        (1, "2026-11-01T00:00:00.000Z", "0.10"),
        (2, "2026-11-30T23:59:59.999Z", "0.20"),
        (3, "2026-10-31T23:59:59.999Z", "4.00"),
        (4, "2026-12-01T00:00:00.000Z", "5.00"),
        (5, "2025-12-15T00:00:00.000Z", &*nines),
        (6, "2025-12-16T00:00:00.000Z", "0.01"),
        (7, "2026-10-01T00:00:00.000Z", "1e9"),
        (8, "some time ago", "1.00"),
    ] {
        put_summed(&store, number, ("a", Mode::Live), time, amount);
    }
    let dollars = put_summed(&store, 9, ("a", Mode::Live), "2026-11-09T00:00:00.000Z", "7.00");
    let name = format!("transaction:{dollars}");
    let mut metadata = store.metadata(&name).remove(0);
    metadata["summary"]["currencyCode"] = json!("USD");
    store.keep(&name, b"", metadata.to_string().as_bytes());
    for (unit, mode) in [("a", Mode::Test), ("a:b", Mode::Live)] {
        put_summed(&store, 1, (unit, mode), "2026-11-01T00:00:00.000Z", "1.00");
    }
    store.keep("usage:live:a:b:2026-11", b"{}", b"null");
    let settlement = json!({ "paidAt": "2026-11-05T00:00:00.000Z", "sums": [], "invoice": "1",
        "by": "ada", "at": "2026-11-05T00:00:00.000Z" });
    store.keep("settlement:live:a:2026-10", settlement.to_string().as_bytes(), b"null");
    let sum = |code: &str, amount: &str, transactions: u64, unpriced: u64| json!({ "currencyCode": code, "amount": amount, "transactions": transactions, "unpriced": unpriced });
    let counted_at = "2026-12-02T00:00:00.000Z";
    let month = |month: &str, sums: &[Value], transactions: u64, settled: &Value| {
        json!({ "month": month, "sums": sums, "transactions": transactions, "countedAt": counted_at,
            "settled": settled })
    };
    let none = Value::Null;
    let million = format!("1{}.00", "0".repeat(350));
    let december = month("2026-12", &[sum("EUR", "5.00", 1, 4)], 1, &none);
    let ended = [
        month("2026-11", &[sum("USD", "7.00", 1, 9), sum("EUR", "0.30", 2, 3)], 3, &none),
        month("2026-10", &[sum("EUR", "4.00", 1, 3)], 1, &settlement),
        month("2025-12", &[sum("EUR", &million, 2, 11)], 2, &none),
    ];
    for (lists, steps) in [(1, 5), (2, 3), (9, 1)] {
        let (step, taken) = count(&store, NOVEMBER_ENDED_MS, "a", lists);
        assert_eq!((taken, step.listed, step.damaged.count), (steps, 9, 2));
        assert_eq!(json!(step.months), json!([vec![december.clone()], ended.to_vec()].concat()));
    }
    store.take_lists();
    store.take_reads();
    let kept = block_on(usage::kept(&store, "a", Mode::Live)).unwrap();
    assert_eq!(json!(kept), json!(ended));
    store.set_page_length(100);
    assert_eq!((store.take_lists().len(), store.reads()), (2, 6), "4 names on pages of 2");
    assert_eq!(block_on(usage::kept(&store, "a", Mode::Test)), Ok(vec![]));
    count(&store, NOVEMBER_ENDED_MS - 1, "a:b", 1);
    assert_eq!(store.value("usage:live:a:b:2026-11").unwrap(), "{}", "before it has ended");
    store.edit("usage:live:a:2026-10", |_| "{}".to_owned());
    let kept = block_on(usage::kept(&store, "a", Mode::Live)).unwrap();
    assert_eq!(json!(kept), json!([ended[0], ended[2]]), "as one that was not counted");
}

#[test]
fn nobody_keeps_other_sums_than_were_counted() {
    let store = many_shops();
    store.set_page_length(2);
    let clock = desk().clock;
    let count = |unit, mode, partial: &Partial| {
        block_on(usage::count_step(&store, &clock, unit, mode, Some(partial), 1))
    };
    let first = usage::count_step(&store, &clock, "shop_77", Mode::Live, None, 1);
    let partial = block_on(first).unwrap().next.unwrap();
    let text = partial.to_string();
    let changed = text.replacen(r#""amount":"2.00""#, r#""amount":"0.00""#, 1);
    assert_ne!(changed, text);
    let changed = Partial::parse(&changed).unwrap();
    let before = store.names();
    for (unit, mode, partial) in [
        ("shop_77", Mode::Live, &changed),
        ("shop_77", Mode::Test, &partial),
        ("shop_78", Mode::Live, &partial),
    ] {
        let message = "nothing was counted: what was counted before is of another shop or release, or \
                       was changed; begin again";
        assert_eq!(count(unit, mode, partial).unwrap_err().to_string(), message);
    }
    assert!(count("shop_77", Mode::Live, &partial).is_ok());
    assert_eq!(store.names(), before);
    for hostile in ["", ".", &text[1..], &format!("{text}{}", " ".repeat(65_536))] {
        assert_eq!(Partial::parse(hostile), None);
    }
}
