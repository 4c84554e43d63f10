//! Tests the hashes of order numbers in the ledger. An erasure removes them.

use futures_executor::block_on;
use impact_pledge::office::orders::rows::orders::Direction;
use impact_pledge::office::orders::rule::{SearchKey, TransactionFilter, find};
use impact_pledge::office::shops::rows::names;
use impact_pledge::pledges::order_number::{folded, order_number};
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

/// If a transaction is erased and its metadata lacks the quantities, its record is read. The reference in the
/// record then only says that it was erased. The hash of this text must not be stored, because all erased
/// transactions would then look like one order.
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
fn an_order_is_found_in_workers_kv_by_its_exact_reference() {
    let service = seeded();
    let store = &*service.store;
    put_secret(store);
    let mut both = [created(&service, "SH-1053"), created(&service, "SH-1053")];
    both.sort();
    created(&service, "SH-1054");
    let search = |text: &str| {
        let filter = TransactionFilter { unit: Some("unit_dev".to_owned()), mode: None };
        let by = SearchKey::Reference(text.to_owned());
        let ledger = SqliteLedger::default();
        let found = find(store, &ledger, (&filter, &by), &Direction::Newest, 9);
        let found = block_on(found).unwrap().transactions.into_iter();
        let mut names: Vec<_> = found.map(|order| ["transaction:", &order.id].concat()).collect();
        names.sort();
        names
    };
    assert_eq!(search("SH-1053"), both);
    assert_eq!(search("sh-1053"), [""; 0], "a list by prefix needs the exact reference");
}
