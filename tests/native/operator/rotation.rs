//! Tests how an API key is replaced while the old one keeps working.

use super::key_list::{list, name};
use super::{FixedEntropy, make, name_of, names, refused, shown};
use futures_executor::block_on;
use impact_pledge::office::keys::rule as keys;
use impact_pledge::office::keys::rule::Rotated;
use impact_pledge::office::shared::rule::error::OperatorError;
use impact_pledge::pledges::auth::KeyRecord;
use impact_pledge::pledges::scope::Mode;
use impact_pledge::pledges::store::{
    Key, ListPage, ListingStore, OperatorStore, Store, StoreError, Stored,
};
use serde_json::json;
use std::cell::Cell;
use support::ledger::SqliteLedger;
use support::memory::MemoryStore;
use support::service::{TestOperator, team, unit};

pub fn rotate(store: &MemoryStore, key: &str, keep: u32) -> Result<Rotated, OperatorError> {
    let test_operator = TestOperator::with(FixedEntropy([7; 32]));
    block_on(keys::rotate(store, &SqliteLedger::default(), &test_operator.author(), key, keep))
        .map(|done| done.outcome)
}

#[test]
fn a_key_that_replaces_another_may_do_the_same() {
    for keep in [0, 86_400] {
        let store = MemoryStore::default();
        let made =
            make(&store, KeyRecord { label: "x".to_owned(), ..KeyRecord::new(Mode::Live, team()) });
        store.edit(&name_of(made.secret().unwrap()), |text| {
            text.replacen('{', "{\"later\": [1], ", 1)
        });
        let before = store.value(&name_of(made.secret().unwrap())).unwrap();
        let rotated = rotate(&store, made.secret().unwrap(), keep).unwrap();
        let new = &rotated.made.row.name;
        assert_eq!(store.value(&new.name).unwrap(), before, "as it was spelled");
        assert_eq!(rotated.replaces, made.row.name);
        let rows = shown(&list(&store));
        let row = |id: &str| rows.as_array().unwrap().iter().find(|row| row["id"] == *id).cloned();
        let row_of_new = row(&new.id).unwrap();
        assert_eq!((&row_of_new["label"], row_of_new.get("ends")), (&json!("x"), None));
        assert_eq!(row_of_new["predecessor"], json!(made.row.name.id));
        let (ends, old) = match keep {
            0 => ("2026-01-31T12:00:00Z", None),
            _ => ("2026-02-01T12:00:00Z", Some((json!("1970-01-02T00:00:00Z"), json!(new.id)))),
        };
        let end = rotated.end.unwrap();
        assert_eq!((&*end.ends, end.revoked), (ends, false));
        let kept = row(&made.row.name.id);
        assert_eq!(kept.map(|row| (row["ends"].clone(), row["successor"].clone())), old);
    }
}

#[test]
fn an_end_is_not_put_off() {
    let store = MemoryStore::default();
    let old = make(&store, KeyRecord::new(Mode::Test, unit("u")));
    let first = rotate(&store, old.secret().unwrap(), 3_600).unwrap();
    for (keep, ends) in [(86_400, "2026-01-31T13:00:00Z"), (60, "2026-01-31T12:01:00Z")] {
        assert_eq!(rotate(&store, old.secret().unwrap(), keep).unwrap().end.unwrap().ends, ends);
    }
    let row = block_on(keys::get(&store, old.secret().unwrap())).unwrap().unwrap().note.unwrap();
    assert_eq!(row.ends.as_deref(), Some("2026-01-31T12:01:00Z"));
    assert_eq!(row.successor, Some(first.made.row.name.id));
}

/// An operator's store. During one call, another operator revokes the key. `is_now` chooses this call by its
/// kind and the name of its record.
struct Racing<'s> {
    store: &'s MemoryStore,
    key: &'s str,
    is_now: fn(&str, &str) -> bool,
    is_done: Cell<bool>,
}

impl Racing<'_> {
    async fn revoke_at(&self, work: &str, name: &str) {
        if !self.is_done.get() && (self.is_now)(work, name) {
            self.is_done.set(true);
            keys::revoke(
                self.store,
                &SqliteLedger::default(),
                &TestOperator::with(FixedEntropy([8; 32])).author(),
                self.key,
            )
            .await
            .unwrap();
        }
    }
}

impl Store for Racing<'_> {
    type Value = Vec<u8>;

    async fn get<K: Key>(
        &self,
        key: &K,
    ) -> Result<Option<Stored<Vec<u8>, K::Metadata>>, StoreError> {
        let found = self.store.get(key).await;
        self.revoke_at("get", &key.name()).await;
        found
    }

    async fn put<K: Key>(
        &self,
        key: &K,
        value: Vec<u8>,
        metadata: &K::Metadata,
    ) -> Result<(), StoreError> {
        self.store.put(key, value, metadata).await?;
        self.revoke_at("put", &key.name()).await;
        Ok(())
    }
}

impl ListingStore for Racing<'_> {
    async fn list(&self, prefix: &str, cursor: Option<&str>) -> Result<ListPage, StoreError> {
        self.store.list(prefix, cursor).await
    }
}

impl OperatorStore for Racing<'_> {
    async fn get_values<K: Key>(&self, keys: &[K]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        self.store.get_values(keys).await
    }

    async fn put_for<K: Key>(
        &self,
        key: &K,
        value: Vec<u8>,
        metadata: &K::Metadata,
        seconds: u32,
    ) -> Result<(), StoreError> {
        self.store.put_for(key, value, metadata, seconds).await
    }

    async fn remove<K: Key>(&self, key: &K) -> Result<(), StoreError> {
        OperatorStore::remove(self.store, key).await
    }

    async fn pause(&self, milliseconds: u32) {
        self.store.pause(milliseconds).await;
    }
}

#[test]
fn a_key_that_is_revoked_while_it_is_replaced_stays_revoked() {
    let moments: [fn(&str, &str) -> bool; 2] = [
        |work, name| work == "put" && name.starts_with("key:"), // the new key is written
        |work, name| work == "get" && name.starts_with("key:"), // the old key is read again
    ];
    for is_now in moments {
        let store = MemoryStore::default();
        let old = make(&store, KeyRecord::new(Mode::Test, unit("u")));
        let racing =
            Racing { store: &store, key: old.secret().unwrap(), is_now, is_done: Cell::default() };
        let test_operator = TestOperator::with(FixedEntropy([7; 32]));
        let rotated = block_on(keys::rotate(
            &racing,
            &SqliteLedger::default(),
            &test_operator.author(),
            old.secret().unwrap(),
            3_600,
        ))
        .unwrap();
        assert!(racing.is_done.get());
        let rotated = rotated.outcome;
        assert!(rotated.end.unwrap().revoked);
        assert_eq!(store.value(&name_of(old.secret().unwrap())), None);
        assert!(store.value(&name_of(rotated.made.secret().unwrap())).is_some());
    }
}

#[test]
fn a_key_is_not_replaced_by_one_that_cannot_work() {
    let store = MemoryStore::default();
    let record = r#"{"mode":"test","unit":"u"}"#;
    store.keep(&name("aa"), record.as_bytes(), b"null");
    store.keep(&name("bb"), b"{}", b"null");
    for (key, message) in [
        (
            "aa",
            "the key aa0000000000 cannot create transactions, because its record lacks the \
             namespace's secret: create a new key, and revoke this one",
        ),
        ("bb", "the record of the key bb0000000000 cannot be read: missing field `mode`"),
        ("cc", "there is no key cc0000000000: nothing was done"),
    ] {
        refused(rotate(&store, &name(key), 0), message);
    }
    assert_eq!(names(&store), [name("aa"), name("bb")]);
}

#[test]
fn the_new_key_works_where_the_end_of_the_old_one_could_not_be_written() {
    let store = MemoryStore::default();
    let old = make(&store, KeyRecord::new(Mode::Test, unit("u")));
    let before = store.value(&name_of(old.secret().unwrap())).unwrap();
    let prefix: &'static str = Box::leak(name_of(old.secret().unwrap()).into_boxed_str());
    store.set_unconfirmed(Some(prefix));
    let rotated = rotate(&store, old.secret().unwrap(), 60).unwrap();
    assert_eq!(rotated.end.unwrap_err(), OperatorError::Store(StoreError::Unavailable));
    assert_eq!(store.value(&name_of(rotated.made.secret().unwrap())).unwrap(), before);
}
