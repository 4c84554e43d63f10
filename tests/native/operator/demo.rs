//! Tests the development data.

use super::key_list::list;
use super::{name_of, names, stored};
use futures_executor::block_on;
use impact_pledge::office::demo;
use impact_pledge::office::demo::development as seed;
use impact_pledge::office::keys::rule as keys;
use impact_pledge::office::prices::rule as prices;
use impact_pledge::office::shared::rule::error::OperatorError;
use impact_pledge::office::shops::rule::units;
use impact_pledge::pledges::auth::KeyRecord;
use impact_pledge::pledges::charge::PriceList;
use impact_pledge::pledges::scope::Mode;
use impact_pledge::pledges::store::{PriceListKey, StoreError};
use impact_pledge::pledges::version::VERSION;
use serde_json::json;
use support::ledger::SqliteLedger;
use support::memory::MemoryStore;
use support::service::{TestOperator, test_operator};

#[test]
fn the_development_data_are_those_of_the_documents() {
    let store = MemoryStore::default();
    let keys = block_on(seed::seed(&store)).unwrap();
    assert_eq!(
        keys.iter().map(|row| &*row.key).collect::<Vec<_>>(),
        [
            "service_sk_test_dev_unit",
            "service_sk_live_dev_unit",
            "service_sk_test_dev_unit_two",
            "service_sk_test_dev_team",
            "service_sk_live_dev_team",
        ]
    );
    assert_eq!(
        names(&store).len(),
        keys.len() + 9,
        "with prices of both modes, the secret, a profile, a team of two units, and the register"
    );
    for row in &keys {
        let text = store.value(&name_of(&row.key)).unwrap();
        let mut record: KeyRecord = serde_json::from_str(&text).unwrap();
        assert!(record.secret.take().is_some());
        assert_eq!(record, row.record);
        assert!(row.key.starts_with(record.mode.key_prefix()));
    }
    assert!(list(&store).iter().all(|row| row.problem.is_none()));
    let (ledger, clock) = (SqliteLedger::default(), test_operator().clock);
    for _ in 0..2 {
        block_on(seed::seed_people(&ledger, &clock)).unwrap();
        assert_eq!(ledger.sql("SELECT address FROM people").len(), 2);
    }
    for name in ["catalogue:test", "catalogue:live"] {
        assert_eq!(
            stored(&store, name),
            json!({ "currencyCode": "USD", "unitPrices": { "tree": "0.50", "plastic-kg": "1.25" }, "version": VERSION })
        );
    }
}

#[test]
fn the_demo_is_written_once_with_prices_that_rose_and_a_month_that_is_paid() {
    let store = MemoryStore::default();
    let TestOperator { clock, entropy } = test_operator();
    block_on(seed::seed(&store)).unwrap();
    let today = store.value("catalogue:live");
    let write = || {
        block_on(demo::seed(
            &store,
            &SqliteLedger::default(),
            &clock,
            &entropy,
            "http://127.0.0.1:8787",
        ))
    };
    assert!(write().unwrap());
    let written = store.names();
    let count = |prefix: &str| written.iter().filter(|name| name.starts_with(prefix)).count();
    let counts = ["transaction:", "erased:", "prices:", "settlement:", "mail-failed:"].map(count);
    assert_eq!(counts, [61, 1, 4, 1, 1]);
    assert!(written.contains(&"settlement:live:unit_dev:2025-12".to_owned()));
    let prices = |text: Option<String>| serde_json::from_str::<PriceList>(&text.unwrap()).unwrap();
    assert_eq!(prices(store.value("catalogue:live")).unit_prices, prices(today).unit_prices);

    store.edit("catalogue:test", |text| text.replace("0.50", "7"));
    let (mine, before) = (store.value("catalogue:test"), store.names());
    assert!(!write().unwrap());
    assert_eq!((store.value("catalogue:test"), store.names()), (mine, before));
}

#[test]
fn the_demo_shop_links_to_the_order_of_the_month_before() {
    let shop = include_str!("../../../www/server/earlier.js");
    for origin in ["http://127.0.0.1:8787", "http://127.0.0.1:9000"] {
        let store = MemoryStore::default();
        let TestOperator { clock, entropy } = test_operator();
        block_on(seed::seed(&store)).unwrap();
        assert!(
            block_on(demo::seed(&store, &SqliteLedger::default(), &clock, &entropy, origin))
                .unwrap()
        );
        let records = store.names().into_iter().filter(|name| name.starts_with("transaction:"));
        let earlier: Vec<_> = records
            .map(|name| stored(&store, &name))
            .filter(|record| record["reference"] == "SH-7K2M9Q")
            .collect();
        let [earlier] = &*earlier else { panic!("{} orders", earlier.len()) };
        assert_eq!(
            earlier["createdAt"], "2025-12-16T12:00:00.000Z",
            "the middle of the month before"
        );
        let path = earlier["timelineUrl"].as_str().unwrap().strip_prefix(origin).unwrap();
        assert!(shop.contains(&format!("\"{path}\"")), "the shop has no link to {path}");
    }
}

#[test]
fn seeding_keeps_changes_of_developers() {
    let store = MemoryStore::default();
    store.keep("catalogue:test", b"mine", b"null");
    block_on(seed::seed(&store)).unwrap();
    assert_eq!(store.value("catalogue:test").unwrap(), "mine");
    let seeded = names(&store);
    let values: Vec<_> = seeded.iter().map(|name| store.value(name)).collect();
    block_on(seed::seed(&store)).unwrap();
    assert_eq!(
        (names(&store), seeded.iter().map(|name| store.value(name)).collect()),
        (seeded.clone(), values)
    );
}

#[test]
fn a_store_that_fails_is_said_to() {
    let store = MemoryStore::default();
    store.set_broken(true);
    let failure = OperatorError::Store(StoreError::Unavailable);
    assert_eq!(block_on(keys::list(&store, None, usize::MAX)).unwrap_err(), failure);
    assert_eq!(block_on(units::list(&store, usize::MAX)).unwrap_err(), failure);
    assert_eq!(
        block_on(prices::get(&store, PriceListKey::of_mode(Mode::Test))).unwrap_err(),
        failure
    );
    assert_eq!(block_on(seed::seed(&store)).unwrap_err(), failure);
}
