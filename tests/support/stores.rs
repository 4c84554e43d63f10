//! The tests that every kind of store must pass.

use impact_pledge::pledges::auth::ApiKey;
use impact_pledge::pledges::idempotency::{IdempotencyKey, ReplayHash};
use impact_pledge::pledges::scope::{Mode, Scope};
use impact_pledge::pledges::secret::NamespaceSecret;
use impact_pledge::pledges::store::{
    CredentialKey, Key, NoMetadata, PriceListKey, ReplayKey, Store, StoredValue as _,
    TransactionKey, TransactionMetadata,
};
use impact_pledge::pledges::types::{EditKey, TransactionId};

pub fn id(seed: u8) -> TransactionId {
    TransactionId::from_bytes([seed; 26])
}

pub fn edit_key(seed: u8) -> EditKey {
    EditKey::from_bytes([seed; 20])
}

pub fn scope(unit: &str, mode: Mode) -> Scope {
    Scope { unit: unit.to_owned(), mode }
}

pub fn access(unit: &str) -> TransactionMetadata {
    TransactionMetadata::new(scope(unit, Mode::Test), &edit_key(1))
}

pub fn replay_key(text: &str) -> ReplayKey {
    let key = IdempotencyKey::parse(text).unwrap();
    ReplayKey(ReplayHash::new(&NamespaceSecret::new([7; 32]), &scope("unit", Mode::Test), &key))
}

// ---- The suite ---------------------------------------------------------------------------------

/// Runs all tests of this file on a store, which must be empty.
pub async fn conforms<S: Store>(store: &S) {
    what_was_never_written_is_absent(store).await;
    what_was_written_is_found(store).await;
    a_second_write_replaces_the_first(store).await;
    kinds_of_records_do_not_meet(store).await;
    values_are_any_bytes(store).await;
    metadata_is_any_text(store).await;
    many_records_are_told_apart(store).await;
}

pub async fn value<S: Store, K: Key>(store: &S, key: &K) -> Option<Vec<u8>> {
    let stored = store.get(key).await.unwrap()?;
    Some(stored.value.read(K::READ_MS).await.unwrap())
}

async fn what_was_never_written_is_absent<S: Store>(store: &S) {
    assert!(store.get(&TransactionKey(&id(0))).await.unwrap().is_none());
    assert!(store.get(&CredentialKey(ApiKey::new("k").hash())).await.unwrap().is_none());
    assert!(store.get(&PriceListKey::of_mode(Mode::Test)).await.unwrap().is_none());
    assert!(store.get(&replay_key("k")).await.unwrap().is_none());
}

async fn what_was_written_is_found<S: Store>(store: &S) {
    store.put(&TransactionKey(&id(1)), b"{\"a\":1}".to_vec(), &access("unit")).await.unwrap();
    let stored = store.get(&TransactionKey(&id(1))).await.unwrap().unwrap();
    assert_eq!(stored.metadata, access("unit"));
    assert_eq!(stored.value.read(TransactionKey::READ_MS).await.unwrap(), b"{\"a\":1}");
}

async fn a_second_write_replaces_the_first<S: Store>(store: &S) {
    store
        .put(&TransactionKey(&id(2)), b"a longer first value".to_vec(), &access("a"))
        .await
        .unwrap();
    store.put(&TransactionKey(&id(2)), b"second".to_vec(), &access("b")).await.unwrap();
    let stored = store.get(&TransactionKey(&id(2))).await.unwrap().unwrap();
    assert_eq!(stored.metadata, access("b"));
    assert_eq!(stored.value.read(TransactionKey::READ_MS).await.unwrap(), b"second");
}

async fn kinds_of_records_do_not_meet<S: Store>(store: &S) {
    let credential = CredentialKey(ApiKey::new("k").hash());
    store.put(&credential, b"key".to_vec(), &NoMetadata).await.unwrap();
    store
        .put(&PriceListKey::of_mode(Mode::Test), b"catalogue".to_vec(), &NoMetadata)
        .await
        .unwrap();
    store.put(&replay_key("k"), b"replay".to_vec(), &NoMetadata).await.unwrap();
    store.put(&TransactionKey(&id(3)), b"transaction".to_vec(), &access("u")).await.unwrap();
    assert_eq!(value(store, &credential).await.unwrap(), b"key");
    assert_eq!(value(store, &PriceListKey::of_mode(Mode::Test)).await.unwrap(), b"catalogue");
    assert_eq!(value(store, &replay_key("k")).await.unwrap(), b"replay");
    assert_eq!(value(store, &TransactionKey(&id(3))).await.unwrap(), b"transaction");
}

async fn values_are_any_bytes<S: Store>(store: &S) {
    let megabytes = vec![b'x'; 5_000_000];
    for bytes in [vec![], vec![0], (0..=255).collect(), "🌳\u{0}é".into(), megabytes] {
        store.put(&TransactionKey(&id(4)), bytes.clone(), &access("u")).await.unwrap();
        assert!(value(store, &TransactionKey(&id(4))).await.unwrap() == bytes);
    }
}

async fn metadata_is_any_text<S: Store>(store: &S) {
    for unit in ["", "unit", "ünït \"🌳\" \\ \n \u{0}", "{\"mode\":\"live\"}", &"u".repeat(500)]
    {
        store.put(&TransactionKey(&id(5)), vec![], &access(unit)).await.unwrap();
        let stored = store.get(&TransactionKey(&id(5))).await.unwrap().unwrap();
        assert_eq!(stored.metadata, access(unit));
    }
}

async fn many_records_are_told_apart<S: Store>(store: &S) {
    for seed in 10..110 {
        store.put(&TransactionKey(&id(seed)), vec![seed], &access("u")).await.unwrap();
    }
    for seed in 10..110 {
        assert_eq!(value(store, &TransactionKey(&id(seed))).await.unwrap(), [seed]);
    }
}
