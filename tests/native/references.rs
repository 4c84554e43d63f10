//! Tests the hashes of order numbers in the ledger. Records of earlier releases lack these hashes, and an
//! erasure removes them.

use futures_executor::block_on;
use impact_pledge::office::orders::rows::orders;
use impact_pledge::office::orders::rows::orders::Direction;
use impact_pledge::office::shops::rows::names;
use impact_pledge::office::system::rows::findings;
use impact_pledge::pledges::order_number::{folded, order_number};
use impact_pledge::pledges::scope::{Mode, Scope};
use impact_pledge::pledges::store::TransactionKey;
use impact_pledge::pledges::types::ERASED_EMAIL;
use serde_json::{Value, json};
use support::ledger::SqliteLedger;
use support::memory::MemoryStore;
use support::service::{NOW_MS, SECRET, TestService, UNIT, minimal, seeded};

const MINUTE: u64 = 60_000;

fn put_secret(store: &MemoryStore) {
    store.keep("secret", json!({ "secret": *SECRET }).to_string().as_bytes(), b"null");
}

/// Creates a transaction with this reference. Returns the name of its record.
fn created(service: &TestService<MemoryStore>, reference: &str) -> String {
    let mut order = minimal();
    order["reference"] = json!(reference);
    let id = service.create(UNIT, &order).json()["id"].as_str().unwrap().to_owned();
    ["transaction:", &id].concat()
}

/// Rewrites a record as earlier releases wrote it. The record then has a hash of the exact reference instead
/// of the order number's hash.
fn make_old(store: &MemoryStore, name: &str, reference: &str, value: Option<&[u8]>) {
    let own = store.value(name).unwrap();
    let names = store.names().into_iter().filter(|key| key.starts_with("transaction:"));
    let at = names.collect::<Vec<_>>().iter().position(|key| key == name).unwrap();
    let mut metadata: Value = store.metadata("transaction:")[at].clone();
    let lookup = metadata["summary"]["lookup"].as_object_mut().unwrap();
    assert!(lookup.remove("order").is_some());
    lookup.insert("reference".to_owned(), json!(SECRET.reference(&scope(), reference)));
    store.keep(name, value.unwrap_or(own.as_bytes()), metadata.to_string().as_bytes());
}

fn scope() -> Scope {
    Scope { mode: Mode::Test, unit: "unit_dev".to_owned() }
}

fn found(ledger: &SqliteLedger, reference: &str) -> usize {
    let asked = (&[scope()][..], reference);
    let page = orders::by_reference(ledger, &SECRET, asked, &Direction::Newest, 10);
    block_on(page).unwrap().orders.len()
}

#[test]
fn spellings_of_one_order_number_are_equal() {
    let rows = [
        ("1053", "1053"),
        ("#1053", "1053"),
        ("  # # 10\u{2003}53\n", "1053"),
        ("SH-1053", "sh-1053"),
        ("SH 1053", "sh1053"),
        ("10#53", "10#53"),
        ("Straße", "STRASSE"),
        ("ΣΊΣΥΦΟς", "σίσυφοσ"),
        ("#", ""),
        ("", " "),
    ];
    for (one, other) in rows {
        assert_eq!(order_number(one), order_number(other), "{one}");
    }
    let long = "A ".repeat(500);
    assert_eq!(order_number(&long), "a".repeat(500));
    assert_eq!(order_number(&[&*long, "B"].concat()), [&*long, "B"].concat(), "1,001 bytes");
    for (one, other) in
        [("1053", "1054"), ("SH-1053", "SH1053"), ("10-53", "1053"), ("1053#", "1053")]
    {
        assert_ne!(order_number(one), order_number(other), "{one}");
    }
    assert_eq!(folded("ẞÀÉ ı".chars()), folded("ssàé i".chars()));
}

#[test]
fn a_record_of_an_earlier_release_is_read_once_and_then_found_in_any_spelling() {
    let service = seeded();
    let store = &*service.store;
    put_secret(store);
    let old = created(&service, "SH-1053");
    created(&service, "SH-1054");
    make_old(store, &old, "SH-1053", None);
    let ledger = SqliteLedger::default();
    store.take_reads();
    ledger.reconcile(store, NOW_MS + 10 * MINUTE);
    let reads = |store: &MemoryStore| {
        let reads = store.take_reads();
        reads.into_iter().filter(|name| name.starts_with("transaction:")).collect::<Vec<_>>()
    };
    assert_eq!(reads(store), [old]);
    assert_eq!(["SH-1053", "#sh - 1053", "sh-1054"].map(|text| found(&ledger, text)), [1, 1, 1]);
    ledger.reconcile(store, NOW_MS + 100 * MINUTE);
    assert_eq!(reads(store), [""; 0]);
    assert_eq!(found(&ledger, "sh-1053"), 1);
}

/// If a record's value is unreadable, the ledger creates its row from the record's metadata.
#[test]
fn an_unreadable_value_of_an_earlier_release_keeps_its_row() {
    let service = seeded();
    put_secret(&service.store);
    let old = created(&service, "SH-1053");
    make_old(&service.store, &old, "SH-1053", Some(b"damaged"));
    let ledger = SqliteLedger::default();
    ledger.reconcile(&*service.store, NOW_MS + 10 * MINUTE);
    assert_eq!(block_on(findings::findings(&ledger, 10)).unwrap(), []);
    assert_eq!(["SH-1053", "sh-1053"].map(|text| found(&ledger, text)), [1, 0], "the exact one");
}

/// An earlier release does not know the ledger's column for the hash of the reference. When such a release
/// erases a transaction, the hash stays in the transaction's row. This release removes the hash.
#[test]
fn a_hash_that_an_erasure_of_an_earlier_release_left_is_removed() {
    let service = seeded();
    let store = &*service.store;
    put_secret(store);
    let name = created(&service, "SH-1053");
    let ledger = SqliteLedger::default();
    ledger.reconcile(store, NOW_MS + 10 * MINUTE);
    let count = || ledger.sql("SELECT count(reference) FROM transactions");
    assert_eq!(count(), ["1"]);
    let erased = NOW_MS + 20 * MINUTE;
    ledger.sql(&format!(
        "UPDATE transactions SET erased = {erased}, email = NULL, changed = {erased}"
    ));
    let mut metadata = store.metadata("transaction:")[0].clone();
    metadata["summary"]["lookup"] = Value::Null;
    metadata["summary"]["erased"] = json!(impact_pledge::pledges::time::date_time(erased));
    store.keep(&name, store.value(&name).unwrap().as_bytes(), metadata.to_string().as_bytes());
    ledger.reconcile(store, NOW_MS + 100 * MINUTE);
    assert_eq!(count(), ["0"]);
    assert_eq!(found(&ledger, "sh-1053"), 0);
    assert_eq!(
        found(&ledger, "SH-1053"),
        1,
        "by the ID, which keeps 40 bits of the exact reference"
    );
}

/// The record of an erased transaction is read if its metadata lacks the quantities. Its reference says only that it was
/// erased: the hash of this text would make one order of all erased transactions.
#[test]
fn an_erased_record_that_is_read_gets_no_hash() {
    let service = seeded();
    let store = &*service.store;
    put_secret(store);
    let name = created(&service, "SH-1053");
    let mut metadata = store.metadata("transaction:")[0].clone();
    for (member, value) in [
        ("lookup", Value::Null),
        ("quantities", Value::Null),
        ("erased", json!("2026-01-31T12:10:00.000Z")),
    ] {
        metadata["summary"][member] = value;
    }
    let mut record: Value = serde_json::from_str(&store.value(&name).unwrap()).unwrap();
    record["pledges"][0]["recipient"]["email"] = json!(ERASED_EMAIL);
    store.keep(&name, record.to_string().as_bytes(), metadata.to_string().as_bytes());
    let ledger = SqliteLedger::default();
    ledger.reconcile(store, NOW_MS + 20 * MINUTE);
    let row = ledger.sql("SELECT json_array(quantities, email, reference) FROM transactions");
    assert_eq!(row, [r#"["[[\"tree\",3000000]]",null,null]"#]);
}

/// The names of 2,500 units come in three list pages. Each page replaces only the names in its own range of IDs.
#[test]
fn names_follow_the_register_over_several_lists() {
    let store = MemoryStore::default();
    let registered = br#"{"created":"2026-01-01T00:00:00Z","by":"ada"}"#;
    for number in 0..2_500 {
        store.keep(&format!("unit:shop-{number:04}"), registered, registered);
    }
    let profile = |name: &str| json!({ "name": name, "mail": false }).to_string();
    store.keep("profile:shop-2400", profile("Nordwald").as_bytes(), b"null");
    let ledger = SqliteLedger::default();
    let pass = |after: u64| ledger.reconcile(&store, NOW_MS + after * MINUTE);
    let find = |text: &str| block_on(names::find(&ledger, text, 9)).unwrap();
    pass(10);
    assert_eq!(ledger.sql("SELECT count(*) FROM names"), ["2500"]);
    assert_eq!(find("NORD").iter().map(|name| &*name.id).collect::<Vec<_>>(), ["shop-2400"]);
    assert_eq!((find("shop").len(), find("shop-00 ").len(), find("").len()), (9, 9, 0));
    store.remove("unit:shop-1700");
    store.keep("profile:shop-2400", profile("Südwald").as_bytes(), b"null");
    pass(100);
    assert_eq!(ledger.sql("SELECT count(*) FROM names"), ["2499"]);
    assert_eq!((find("nord").len(), find("südwald").len(), find("shop-1700").len()), (0, 1, 0));
}

#[test]
fn an_order_of_an_earlier_release_is_found_in_workers_kv_by_its_exact_reference() {
    let service = seeded();
    let store = &*service.store;
    put_secret(store);
    let old = created(&service, "SH-1053");
    make_old(store, &old, "SH-1053", None);
    let new = created(&service, "SH-1053");
    let search = |text: &str| {
        use impact_pledge::office::orders::rule::{SearchKey, TransactionFilter, find};
        let filter = TransactionFilter { unit: Some("unit_dev".to_owned()), mode: None };
        let by = SearchKey::Reference(text.to_owned());
        let found = find(store, None, (&filter, &by), &Direction::Newest, 9);
        let found = block_on(found).unwrap().transactions.into_iter();
        let mut names: Vec<_> = found.map(|order| ["transaction:", &order.id].concat()).collect();
        names.sort();
        names
    };
    let mut both = vec![old, new];
    both.sort();
    assert_eq!(search("SH-1053"), both);
    assert_eq!(search("sh-1053"), [""; 0], "a list by prefix needs the exact reference");
    assert!(both.iter().all(|name| TransactionKey::parse(name).is_some()));
}
