//! Tests the operators' functions that find, show and erase transactions.

mod erase;
mod erase_person;
mod find;
mod show;

use futures_executor::block_on;
use impact_pledge::office::orders::rows::orders::Direction;
use impact_pledge::office::orders::rule as transactions;
use impact_pledge::office::orders::rule::{Found, SearchKey, TransactionFilter};
use impact_pledge::office::shared::rule::coverage::DamagedRecords;
use impact_pledge::pledges::scope::{Mode, Scope};
use impact_pledge::pledges::secret::NamespaceSecret;
use impact_pledge::pledges::store::TransactionKey;
use serde_json::{Value, json};
use support::ledger::SqliteLedger;
use support::memory::MemoryStore;
use support::service::{Answer, NOW_MS, SECRET, TestService, seeded, test_operator};

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

/// Returns a create request with every member that a shop can send. Each text contains the word `canary`, by
/// which tests find personal data that was not erased.
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
    for offering in ["canary@example.net", "for ADA, CANARY", "CANARY-ORDER/1", "@listed"] {
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
    block_on(transactions::find(store, &ledger, (wanted, by), from, most)).unwrap()
}

#[track_caller]
fn found_ids(store: &MemoryStore, unit: &str, mode: Option<Mode>, by: &SearchKey) -> Vec<String> {
    let found = find(store, &wanted(Some(unit), mode), by, &Direction::Newest, 1_000);
    assert_eq!(found.coverage.unwrap_or_default().damaged, DamagedRecords::default());
    let mut ids: Vec<_> = found.transactions.into_iter().map(|order| order.id).collect();
    ids.sort();
    ids
}

fn scope(unit: &str, mode: Mode) -> Scope {
    Scope { unit: unit.to_owned(), mode }
}

fn erase_with(
    bench: &TestService<MemoryStore>,
    ledger: &SqliteLedger,
) -> Result<Option<String>, String> {
    let (name, ..) = transaction(&bench.store);
    let id = TransactionKey::parse(&name).unwrap();
    let outcome = block_on(async {
        let record = transactions::get(&*bench.store, id.as_str()).await?;
        let test_operator = test_operator();
        test_operator.clock.0.set(bench.clock.0.get());
        transactions::erase(&*bench.store, ledger, &test_operator.author(), &record).await
    });
    let erased = outcome.map_err(|error| error.to_string())?.outcome;
    assert_eq!(erased.id, id.as_str());
    Ok(erased.before)
}

fn pass(bench: &TestService<MemoryStore>, minutes: u64) {
    bench.clock.0.set(bench.clock.0.get() + minutes * MINUTE);
}

const COLUMNS: &str = "SELECT json_array(email, quantities, erased IS NOT NULL) FROM transactions";
