//! Tests the price list of a single unit. It applies to that unit in place of the mode's general price list.

use futures_executor::block_on;
use impact_pledge::office::orders::rule as transactions;
use impact_pledge::office::payments::rule as payments;
use impact_pledge::office::prices::rule as prices;
use impact_pledge::office::prices::rule::Edit;
use impact_pledge::office::shared::rule::error::OperatorError;
use impact_pledge::office::shops::rule::units;
use impact_pledge::pledges::http::Body;
use impact_pledge::pledges::scope::Mode;
use impact_pledge::pledges::service::{RequestLog, Service};
use impact_pledge::pledges::store::{
    Key, MAX_UNIT_PRICES_BYTES, PriceListKey, Store, StoreError, Stored,
};
use serde_json::{Value, json};
use std::cell::Cell;
use support::ledger::SqliteLedger;
use support::memory::MemoryStore;
use support::service::{
    Answer, CountedEntropy, LIVE_UNIT, NOW_MS, PATH, TEAM, TestOperator, TestRequest, TestService,
    UNIT, changes, key_record, minimal, put_key, repeatable, seed, seeded, test_operator, unit,
    yield_now,
};

const MODE_LIST: &str = "catalogue:test";
const OWN_LIST: &str = "catalogue:test:unit_dev";
const OWN: &str =
    r#"{"currencyCode":"EUR","unitPrices":{"oak":"7"},"prices":"2026-01-01T00:00:00.000Z"}"#;
const TREES: &str = r#"{"currencyCode":"EUR","unitPrices":{"tree":"2"}}"#;

fn keep_own(service: &TestService<MemoryStore>) {
    service.store.keep(OWN_LIST, OWN.as_bytes(), b"null");
}

fn order(offering: &str) -> Value {
    let mut order = minimal();
    order["pledges"][0]["impact"]["offeringId"] = json!(offering);
    order
}

fn charge(answer: &Answer) -> String {
    let charge = &answer.json()["charge"];
    format!("{} {}", charge["amount"].as_str().unwrap(), charge["currencyCode"].as_str().unwrap())
}

/// Returns which price lists were read since the last call.
fn lists_read(service: &TestService<MemoryStore>) -> Vec<String> {
    let mut reads = service.store.take_reads();
    reads.retain(|name| name.starts_with("catalogue:"));
    reads.sort();
    reads
}

// ---- The service ---------------------------------------------------------------------------------

#[test]
fn a_list_of_a_unit_replaces_that_of_the_mode_for_this_unit_alone() {
    let service = seeded();
    keep_own(&service);
    let of_team = |unit: &str, body: &Value| {
        let body = body.to_string().into_bytes();
        let request = TestRequest::new("POST", PATH, TEAM).with_body(body);
        service.send(&request.with_header("x-service-unit-id", unit))
    };
    for (answer, expected) in [
        (service.create(UNIT, &order("oak")), "21.00 EUR"),
        (service.create(UNIT, &order("tree")), "0.00 EUR"), // the mode's prices do not apply
        (of_team("unit_dev", &order("oak")), "21.00 EUR"),
        (of_team("unit_dev_two", &order("tree")), "1.50 USD"),
        (service.create(LIVE_UNIT, &order("tree")), "1.50 USD"),
    ] {
        assert_eq!(charge(&answer), expected);
    }
    let names = service.store.names();
    let of_own = names.iter().filter(|name| name.starts_with("transaction:")).filter(|name| {
        let summary = &service.store.metadata(name)[0]["summary"];
        summary["prices"] == "2026-01-01T00:00:00.000Z"
    });
    assert_eq!(of_own.count(), 3, "the metadata names the time of the list");
}

#[test]
fn both_lists_are_read_once_in_ten_seconds_and_a_missing_one_is_cached_too() {
    let service = seeded();
    let after = |ms: u64| {
        service.clock.0.set(service.clock.0.get() + ms);
        assert_eq!(service.create(UNIT, &minimal()).status, 200);
        lists_read(&service)
    };
    let both = [MODE_LIST, OWN_LIST];
    assert_eq!(after(0), both);
    assert_eq!(after(9_999), [""; 0]);
    assert_eq!(after(1), both);
    keep_own(&service);
    assert_eq!(after(10_000), both);
    service.clock.0.set(service.clock.0.get() + 5_000);
    assert_eq!(service.create("service_sk_test_dev_unit_two", &minimal()).status, 200);
    assert_eq!(lists_read(&service), ["catalogue:test:unit_dev_two"], "the mode's is cached");
    assert_eq!(after(5_000), both);
}

/// A store that counts how many price lists are read at the same time.
#[derive(Default)]
struct Counted {
    store: MemoryStore,
    running: Cell<usize>,
    most: Cell<usize>,
}

impl Store for Counted {
    type Value = Vec<u8>;

    async fn get<K: Key>(
        &self,
        key: &K,
    ) -> Result<Option<Stored<Vec<u8>, K::Metadata>>, StoreError> {
        if !key.name().starts_with("catalogue:") {
            return self.store.get(key).await;
        }
        self.running.set(self.running.get() + 1);
        self.most.set(self.most.get().max(self.running.get()));
        yield_now().await;
        self.running.set(self.running.get() - 1);
        self.store.get(key).await
    }

    async fn put<K: Key>(
        &self,
        key: &K,
        value: Vec<u8>,
        metadata: &K::Metadata,
    ) -> Result<(), StoreError> {
        self.store.put(key, value, metadata).await
    }
}

#[test]
fn both_lists_are_read_at_the_same_time() {
    let store = Counted::default();
    seed(&store);
    let service = TestService::new(store, "");
    let TestService { store, clock, entropy, timelines, caches, settings, .. } = &service;
    let request =
        TestRequest::new("POST", PATH, UNIT).with_body(minimal().to_string().into_bytes());
    let answer = block_on(
        Service {
            store: &**store,
            clock,
            entropy,
            recipients: timelines,
            caches,
            settings,
            outbox: None,
            ledger: None,
            request_log: RequestLog::default(),
        }
        .handle(&request),
    );
    assert!(answer.status == 200 && matches!(answer.body, Body::Bytes(_)));
    assert_eq!(store.most.get(), 2);
}

#[test]
fn a_list_that_cannot_be_read_is_never_replaced_by_another() {
    let service = seeded();
    service.store.keep(OWN_LIST, b"{}", b"null");
    assert_eq!(service.create(UNIT, &minimal()).status, 503);
    assert_eq!(service.create("service_sk_test_dev_unit_two", &minimal()).status, 200);
    service.clock.0.set(NOW_MS + 10_000);
    service.store.set_failing(Some(OWN_LIST));
    assert_eq!(service.create(UNIT, &minimal()).status, 503);
    service.store.set_failing(None);
    keep_own(&service);
    service.store.keep(MODE_LIST, b"{}", b"null");
    assert_eq!(charge(&service.create(UNIT, &order("oak"))), "21.00 EUR", "its own is enough");
    let other = service.isolate();
    assert_eq!(other.create("service_sk_test_dev_unit_two", &minimal()).status, 503);
}

#[test]
fn a_replay_has_the_first_charge_whatever_list_there_is_now() {
    let service = seeded();
    let first = service.send(&repeatable(&minimal()));
    assert_eq!(charge(&first), "1.50 USD");
    for list in [OWN, TREES, "{}"] {
        service.store.keep(OWN_LIST, list.as_bytes(), b"null");
        service.clock.0.set(service.clock.0.get() + 10_000);
        for isolate in [&service, &service.isolate()] {
            let replay = isolate.send(&repeatable(&minimal()));
            assert_eq!((replay.status, &replay.text), (200, &first.text), "{list}");
        }
    }
}

/// An isolate caches price lists of units up to a total size. The lists of this test have 4 times that size.
#[test]
fn an_isolate_caches_lists_of_units_up_to_a_limit() {
    let service = seeded();
    let prices: Value = (0..5_000).map(|number| (format!("o{number}"), json!("1"))).collect();
    let large = json!({ "currencyCode": "EUR", "unitPrices": prices }).to_string();
    assert!(large.len() <= MAX_UNIT_PRICES_BYTES);
    let create = |number: usize, list: &str| {
        let (key, name) = (format!("service_sk_test_{number}"), format!("u{number}"));
        put_key(&*service.store, &key, &key_record(Mode::Test, unit(&name)));
        service.store.keep(&format!("catalogue:test:{name}"), list.as_bytes(), b"null");
        assert_eq!(service.create(&key, &order("o1")).status, 200);
    };
    let are_cached = |list: &str, count: usize| {
        (0..count).for_each(|number| create(number, list));
        lists_read(&service);
        create(0, list);
        lists_read(&service).is_empty()
    };
    assert!(are_cached(&large, 5));
    service.clock.0.set(NOW_MS + 10_000);
    assert!(!are_cached(&large, 26));
    service.clock.0.set(NOW_MS + 20_000);
    assert!(are_cached(OWN, 500), "many small lists fit");
}

// ---- Operators -----------------------------------------------------------------------------------

fn own() -> PriceListKey<'static> {
    PriceListKey::of_unit(Mode::Test, "unit_dev")
}

fn set(
    (store, ledger): (&MemoryStore, &SqliteLedger),
    operator: &TestOperator<CountedEntropy>,
    of: PriceListKey<'_>,
    list: &str,
    seen: Option<&str>,
) -> Result<String, OperatorError> {
    let edit = Edit::All(prices::parse(list.as_bytes()).unwrap());
    operator.clock.0.set(operator.clock.0.get() + 1);
    let author = operator.author();
    block_on(prices::set(store, ledger, &author, of, &edit, seen)).map(|done| done.outcome)
}

fn remove(
    (store, ledger): (&MemoryStore, &SqliteLedger),
    operator: &TestOperator<CountedEntropy>,
    seen: Option<&str>,
) -> Result<String, OperatorError> {
    operator.clock.0.set(operator.clock.0.get() + 1);
    let author = operator.author();
    let removed = prices::remove(store, ledger, &author, (Mode::Test, "unit_dev"), seen);
    block_on(removed).map(|done| done.outcome)
}

#[track_caller]
fn refused<T: std::fmt::Debug>(outcome: Result<T, OperatorError>, words: &str) {
    let error = outcome.unwrap_err().to_string();
    assert!(error.contains(words), "{error}");
}

#[test]
fn a_list_of_a_unit_is_set_kept_listed_and_removed() {
    let (service, operator) = (seeded(), test_operator());
    let (store, ledger) = (&*service.store, SqliteLedger::default());
    let at = (store, &ledger);
    let first = set(at, &operator, own(), TREES, None).unwrap();
    let kept = format!("prices:unit:test:unit_dev:{first}");
    let now = block_on(prices::current(store, &ledger, own())).unwrap();
    assert_eq!((now.revision(), store.value(&kept).is_some()), (&*first, true));
    assert!(store.names().contains(&"unit:unit_dev".to_owned()), "the unit is registered");
    let id = service.create(UNIT, &minimal()).json()["id"].as_str().unwrap().to_owned();
    let cheap = r#"{"currencyCode":"EUR","unitPrices":{"tree":"1"}}"#;
    let second = set(at, &operator, own(), cheap, Some(&first)).unwrap();
    assert_eq!(
        block_on(prices::units(store, Mode::Test, 9)).unwrap(),
        (vec!["unit_dev".into()], false)
    );
    assert_eq!(block_on(prices::units(store, Mode::Live, 9)).unwrap(), (vec![], false));

    let record = block_on(transactions::get(store, &id)).unwrap();
    let charged = block_on(record.prices(store)).unwrap().unwrap();
    assert_eq!((&*charged.time, charged.unit.as_deref()), (&*first, Some("unit_dev")));
    assert_eq!(charged.price_list.unit_prices["tree"].as_str(), "2");

    let removal = block_on(prices::current(store, &ledger, own())).unwrap().compare_removal();
    let risks = ["the currency changes from EUR to USD"];
    assert_eq!((removal.prices.len(), &*removal.risks), (2, &risks.map(str::to_owned)[..]));
    refused(remove(at, &operator, Some(&first)), "now have other prices");
    let third = remove(at, &operator, Some(&second)).unwrap();
    assert_eq!(store.copy(OWN_LIST), None);
    refused(remove(at, &operator, None), "have no price list of their own");
    let later = service.isolate();
    assert_eq!(charge(&later.create(UNIT, &minimal())), "1.50 USD");

    let history = block_on(prices::history(store, own(), 9, 9)).unwrap();
    let history: Vec<_> = history.iter().map(|entry| (&*entry.time, entry.removed)).collect();
    assert_eq!(history, [(&*first, false), (&second, false), (&third, true)]);
    let of_mode = PriceListKey::of_mode(Mode::Test);
    assert_eq!(block_on(prices::history(store, of_mode, 9, 9)).unwrap(), []);
    let changes = changes(store, &ledger);
    let changes: Vec<_> = changes.iter().map(|it| (&*it.command, &*it.on[0])).collect();
    let versions =
        [&first, &second, &third].map(|time| format!("prices:unit:test:unit_dev:{time}"));
    let made = [("prices set", 0), ("prices set", 1), ("prices remove", 2)];
    for (command, version) in made {
        assert!(changes.contains(&(command, &*versions[version])), "{changes:?}");
    }
}

#[test]
fn a_list_that_others_have_changed_or_removed_is_not_replaced_unseen() {
    let (store, ledger, ada) = (MemoryStore::default(), SqliteLedger::default(), test_operator());
    let at = (&store, &ledger);
    let first = set(at, &ada, own(), TREES, Some("none")).unwrap();
    let before = store.value(OWN_LIST).unwrap();
    refused(set(at, &ada, own(), OWN_SET, Some("none")), "now have other prices");
    let already = "already have these prices, set by ada@";
    refused(set(at, &ada, own(), TREES, Some("none")), already);
    let second = set(at, &ada, own(), OWN_SET, Some(&first)).unwrap();
    store.edit(OWN_LIST, |_| before.clone()); // KV still shows the first list
    refused(set(at, &ada, own(), TREES, Some(&first)), "now have other prices");
    refused(remove(at, &ada, Some(&first)), "now have other prices");
    let others = [PriceListKey::of_mode(Mode::Test), PriceListKey::of_unit(Mode::Live, "unit_dev")];
    for other in others.into_iter().chain([PriceListKey::of_unit(Mode::Test, "unit_dev:2")]) {
        set(at, &ada, other, TREES, Some("none")).unwrap(); // no conflict with another list
    }
    remove(at, &ada, Some(&second)).unwrap();
    refused(remove(at, &ada, None), "have no price list of their own");
    set(at, &ada, own(), TREES, Some("none")).unwrap();
}

const OWN_SET: &str = r#"{"currencyCode":"EUR","unitPrices":{"oak":"7"}}"#;

/// The ID of a unit may contain colons. So the names of a unit's records may begin with the name of another
/// unit's record.
#[test]
fn units_whose_names_begin_alike_have_lists_of_their_own() {
    let (store, ledger, operator) =
        (MemoryStore::default(), SqliteLedger::default(), test_operator());
    let ids = ["a", "a:b", "a:2026-01-01T00:00:00.000Z", "live", "unit:a"];
    for id in ids {
        let of = PriceListKey::of_unit(Mode::Live, id);
        let list = json!({ "currencyCode": "GBP", "unitPrices": { id: "1" } }).to_string();
        set((&store, &ledger), &operator, of, &list, Some("none")).unwrap();
    }
    let units = block_on(prices::units(&store, Mode::Live, 9)).unwrap().0;
    assert_eq!(units, ["a", "a:2026-01-01T00:00:00.000Z", "a:b", "live", "unit:a"]);
    assert_eq!(
        block_on(prices::units(&store, Mode::Live, 2)).unwrap(),
        (units[..2].to_vec(), true)
    );
    for id in ids {
        let of = PriceListKey::of_unit(Mode::Live, id);
        let history = block_on(prices::history(&store, of, 9, 9)).unwrap();
        let offerings: Vec<_> = history.iter().flat_map(|it| &it.change.prices).collect();
        assert_eq!((history.len(), &*offerings[0].offering), (1, id));
    }
    let wrong = PriceListKey::of_unit(Mode::Live, "a b");
    refused(set((&store, &ledger), &operator, wrong, TREES, None), "is not an ID");
    refused(block_on(prices::history(&store, wrong, 9, 9)), "is not an ID");
}

#[test]
fn a_list_of_a_unit_has_a_bound_of_its_own() {
    let (store, ledger, operator) =
        (MemoryStore::default(), SqliteLedger::default(), test_operator());
    let list = json!({ "currencyCode": "EUR", "unitPrices": { "x".repeat(64 * 1024): "1" } });
    let list = list.to_string();
    refused(set((&store, &ledger), &operator, own(), &list, None), "may have at most 65536 bytes");
    set((&store, &ledger), &operator, PriceListKey::of_mode(Mode::Test), &list, None).unwrap();
}

#[test]
fn a_unit_that_is_removed_has_no_list_left_in_either_mode() {
    let (store, ledger, operator) =
        (MemoryStore::default(), SqliteLedger::default(), test_operator());
    let live = PriceListKey::of_unit(Mode::Live, "unit_dev");
    for of in [own(), live, PriceListKey::of_unit(Mode::Live, "unit_dev_two")] {
        set((&store, &ledger), &operator, of, TREES, None).unwrap();
    }
    operator.clock.0.set(operator.clock.0.get() + 1);
    let removed = block_on(units::remove(&store, &ledger, &operator.author(), "unit_dev")).unwrap();
    assert!(removed.outcome);
    let names = store.names().into_iter().filter(|name| name.starts_with("catalogue:"));
    let lists: Vec<_> = names.filter(|name| store.copy(name).is_some()).collect();
    assert_eq!(lists, ["catalogue:live:unit_dev_two"]);
    for of in [own(), live] {
        let history = block_on(prices::history(&store, of, 9, 9)).unwrap();
        assert!(history.last().unwrap().removed);
    }
    set((&store, &ledger), &operator, own(), TREES, Some("none")).unwrap(); // the removal was seen
}

/// If a unit's own price list is set in the middle of a month, the unit is charged in two currencies in that
/// month.
#[test]
fn a_month_in_two_currencies_is_paid_in_both() {
    let (service, operator, ledger) = (seeded(), test_operator(), SqliteLedger::default());
    service.create(UNIT, &minimal());
    set((&service.store, &ledger), &operator, own(), TREES, None).unwrap();
    service.clock.0.set(NOW_MS + 10_000);
    service.create(UNIT, &minimal());
    let ended_ms = NOW_MS + 3 * 86_400_000;
    operator.clock.0.set(ended_ms);
    ledger.reconcile(&*service.store, ended_ms);
    let of = json!({ "unit": "unit_dev", "mode": "test", "month": "2026-01" });
    let mark = |amounts: Value| {
        let payment = json!({ "of": of, "amounts": amounts, "paidAt": "2026-02-01T09:30:00.000Z",
            "invoice": "7", "acceptUnpriced": 0 });
        let payment = serde_json::from_value(payment).unwrap();
        block_on(payments::mark(&*service.store, &ledger, &operator.author(), &payment))
    };
    let usd = json!({ "currencyCode": "USD", "amount": "1.50" });
    let eur = json!({ "currencyCode": "EUR", "amount": "6.00" });
    for wrong in
        [json!([usd]), json!([eur]), json!([usd, { "currencyCode": "EUR", "amount": "6.01" }])]
    {
        assert!(mark(wrong).is_err());
    }
    let paid = json!(mark(json!([usd, eur])).unwrap().outcome).to_string();
    assert!(paid.contains("1.50") && paid.contains("6.00"), "{paid}");
}
