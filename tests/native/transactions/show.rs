//! Tests how a transaction is shown.

use super::{bench, id_of, order, records, scope, shown};
use futures_executor::block_on;
use impact_pledge::office::orders::rule as transactions;
use impact_pledge::office::orders::rule::ViewOptions;
use impact_pledge::office::prices::rule as prices;
use impact_pledge::office::prices::rule::Edit;
use impact_pledge::pledges::auth::ApiKey;
use impact_pledge::pledges::scope::Mode;
use impact_pledge::pledges::store::{Key as _, PriceListKey, TransactionKey};
use impact_pledge::pledges::types::TransactionId;
use serde_json::{Value, json};
use support::ledger::SqliteLedger;
use support::memory::MemoryStore;
use support::service::{NOW_MS, SECRET, UNIT, minimal, test_operator};

#[track_caller]
pub fn show(store: &MemoryStore, id: &str, reveal: bool, timeline: bool) -> Value {
    let record = block_on(transactions::get(store, id)).unwrap();
    shown(&record.show(ViewOptions { reveal, timeline }).unwrap())
}

/// The charge follows from the price list at the time of the create request, so the transaction names that
/// list. Later lists do not explain the charge.
#[test]
fn a_transaction_names_its_key_and_its_price_list() {
    let bench = bench();
    let (test_operator, file) =
        (test_operator(), br#"{"currencyCode":"EUR","unitPrices":{"tree":"0.50","kg":"2"}}"#);
    let set = |prices: &[u8]| {
        let edit = Edit::All(prices::parse(prices).unwrap());
        let author = test_operator.author();
        let ledger = SqliteLedger::default();
        let set = prices::set(
            &*bench.store,
            &ledger,
            &author,
            PriceListKey::of_mode(Mode::Test),
            &edit,
            None,
        );
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
        let message = "this is not the ID of a transaction. Such an ID begins with `ptran_`: copy it \
                       from a list or from an answer of the API";
        assert_eq!(outcome.unwrap_err().to_string(), message);
    }
    let other = TransactionId::new(&SECRET, &scope("u", Mode::Test), "r", [2; 16]);
    let outcome = block_on(transactions::get(&store, other.as_str()));
    let message = format!(
        "there is no transaction {other} in this environment: check the ID and the environment"
    );
    assert_eq!(outcome.unwrap_err().to_string(), message);
}
