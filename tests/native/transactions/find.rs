//! Tests how transactions are found.

use super::{
    bench, email, find, found_ids, id_of, ledger_of, order, put_secret, reference, scope, shown,
    wanted,
};
use futures_executor::block_on;
use impact_pledge::office::orders::rows::orders::Direction;
use impact_pledge::office::orders::rule as transactions;
use impact_pledge::office::orders::rule::{SearchKey, TransactionFilter};
use impact_pledge::office::shared::rows::port::Unbound;
use impact_pledge::office::shared::rule::coverage::DamagedRecords;
use impact_pledge::pledges::auth::ApiKey;
use impact_pledge::pledges::scope::{Mode, Scope};
use impact_pledge::pledges::store::{Key as _, TransactionKey};
use impact_pledge::pledges::types::TransactionId;
use serde_json::json;
use std::collections::BTreeSet;
use support::ledger::SqliteLedger;
use support::memory::{Listing, MemoryStore};
use support::service::{LIVE_UNIT, SECRET, UNIT, minimal, seeded};

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
}

/// Stores a transaction of this unit with the metadata that the service would write, but with an empty value.
/// The transaction's ID contains the bits of the shop `named`, which may be another shop.
fn put_listed(store: &MemoryStore, named: &Scope, unit: &str, reference: &str, number: u8) {
    let id = TransactionId::new(&SECRET, named, reference, [number; 16]);
    let hashes = SECRET.hashes(&scope(unit, named.mode), reference, "ada@example.org");
    let metadata = json!({ "version": 1, "mode": named.mode, "unit": unit, "editKey": "0", "summary": {
        "createdAt": format!("2026-11-15T00:00:00.{number:03}Z"), "amount": "1.00", "currencyCode": "EUR",
        "lookup": hashes, "quantities": [] } });
    store.keep(&TransactionKey(&id).name(), b"", metadata.to_string().as_bytes());
}

/// Returns a store with 200 shops. Each shop has five transactions in test mode and five in live mode.
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

/// Returns the list calls since the last call of this function: their prefixes, and how many names each
/// returned.
fn lists(store: &MemoryStore) -> Vec<(String, usize)> {
    store.take_lists().into_iter().map(|Listing { prefix, names }| (prefix, names)).collect()
}

#[test]
fn an_order_of_a_unit_that_the_ledger_lacks_is_found_by_one_list_call_for_each_mode() {
    let store = many_shops();
    let (test, live) = (scope("shop_77", Mode::Test), scope("shop_77", Mode::Live));
    let prefix = |scope: &Scope| TransactionKey::order_prefix(&SECRET, scope, "order-3");
    let count = |mode| {
        let (wanted, by) = (wanted(Some("shop_77"), mode), reference("order-3"));
        let ledger = SqliteLedger::default();
        let found = transactions::find(&store, &ledger, (&wanted, &by), &Direction::Newest, 9);
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
            let page = transactions::find(&store, &ledger, of, &from, 300);
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
        assert!(found.iter().all(|order| mode.is_none_or(|mode| order.scope.mode == mode)));
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
        let found = transactions::find(&store, &Unbound, (&wanted, &by), &Direction::Newest, 9);
        let message = block_on(found).unwrap_err().to_string();
        assert!(message.starts_with("this needs the ledger") && message.contains("`LEDGER_DB`"));
    }
    assert_eq!(lists(&store), []);
}

/// A transaction's ID contains 40 bits for its shop and 40 bits for its order. Different shops or orders may
/// have the same bits.
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
    let prefix = TransactionKey::scope_prefix(&scope("u", Mode::Live));
    store.keep(&format!("{prefix}x"), b"canary", b"{}");
    let id = TransactionId::new(&SECRET, &scope("u", Mode::Live), "r", [1; 16]);
    store.keep(&TransactionKey(&id).name(), b"canary", br#"{"mode":"canary"}"#);
    let other = TransactionKey::scope_prefix(&scope("v", Mode::Live));
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
    let found = block_on(transactions::find(&nothing, &ledger, of, &Direction::Newest, 9));
    let message = "nothing can be found by reference or address yet, because this namespace has no \
                   secret. The secret is created with the first API key";
    assert_eq!(found.unwrap_err().to_string(), message);
}
