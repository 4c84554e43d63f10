//! Tests the operators' functions for keys, teams, prices, profiles and the audit log.

mod audit;
mod demo;
mod key_list;
mod new_keys;
mod prices;
mod profiles;
mod rotation;
mod teams;

use futures_executor::block_on;
use impact_pledge::office::keys::rule as keys;
use impact_pledge::office::keys::rule::MadeKey;
use impact_pledge::office::shared::rule::error::OperatorError;
use impact_pledge::pledges::auth::{ApiKey, KeyRecord};
use impact_pledge::pledges::service::Entropy;
use serde_json::Value;
use std::fmt::Debug;
use support::ledger::SqliteLedger;
use support::memory::MemoryStore;
use support::service::test_operator;

#[track_caller]
fn refused(outcome: Result<impl Debug, OperatorError>, message: &str) {
    assert_eq!(outcome.unwrap_err().to_string(), message);
}

fn shown(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

/// Returns a record as it is stored.
#[track_caller]
fn stored(store: &MemoryStore, name: &str) -> Value {
    serde_json::from_str(&store.value(name).unwrap_or_else(|| panic!("no `{name}`"))).unwrap()
}

/// Returns a record without its member `change`, and asserts that this member may name an entry of the audit log.
#[track_caller]
fn changed(store: &MemoryStore, name: &str) -> Value {
    let mut record = stored(store, name);
    let change = record.as_object_mut().unwrap().remove("change").unwrap();
    assert!(change.as_str().unwrap().starts_with("audit:"), "{change}");
    record
}

/// Returns the names of all records, except the audit log.
fn names(store: &MemoryStore) -> Vec<String> {
    store.names().into_iter().filter(|name| !name.starts_with("audit:")).collect()
}

/// A source of randomness that always returns these bytes.
struct FixedEntropy([u8; 32]);

impl Entropy for FixedEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.iter_mut().zip(self.0).for_each(|(byte, drawn)| *byte = drawn);
    }
}

#[track_caller]
fn make(store: &MemoryStore, record: KeyRecord) -> MadeKey {
    block_on(keys::create(store, &SqliteLedger::default(), &test_operator().author(), record))
        .unwrap()
        .outcome
}

fn name_of(key: &str) -> String {
    format!("key:{}", ApiKey::new(key).hash().to_hex())
}
