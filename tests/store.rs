//! What every store must do, whatever keeps its records.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected should panic")]

use futures_executor::block_on;
use impact_pledge::auth::{ApiKey, Mode, Scope};
use impact_pledge::idempotency::{IdempotencyKey, ReplayHash};
use impact_pledge::pledge::{EditKey, TransactionId};
use impact_pledge::store::{
    Access, CatalogueKey, CredentialKey, Key, MemoryStore, ReplayKey, Store, StoreError,
    StoredValue as _, TransactionKey,
};

fn id(seed: u8) -> TransactionId {
    TransactionId::from_bytes([seed; 15])
}

fn edit_key(seed: u8) -> EditKey {
    EditKey::from_bytes([seed; 20])
}

fn scope(unit: &str, mode: Mode) -> Scope {
    Scope { unit: unit.to_owned(), mode }
}

fn access(unit: &str) -> Access {
    Access::new(scope(unit, Mode::Test), &edit_key(1))
}

fn replay_key(text: &str) -> ReplayKey {
    let key = IdempotencyKey::parse(text).unwrap();
    ReplayKey(ReplayHash::new(&scope("unit", Mode::Test), &key))
}

// ---- The suite ---------------------------------------------------------------------------------

/// An empty store of any kind passes this.
async fn conforms<S: Store>(store: &S) {
    what_was_never_written_is_absent(store).await;
    what_was_written_is_found(store).await;
    a_second_write_replaces_the_first(store).await;
    kinds_of_records_do_not_meet(store).await;
    values_are_any_bytes(store).await;
    metadata_is_any_text(store).await;
    many_records_are_told_apart(store).await;
}

async fn value<S: Store, K: Key>(store: &S, key: &K) -> Option<Vec<u8>> {
    let stored = store.get(key).await.unwrap()?;
    Some(stored.value.read().await.unwrap())
}

async fn what_was_never_written_is_absent<S: Store>(store: &S) {
    assert!(store.get(&TransactionKey(&id(0))).await.unwrap().is_none());
    assert!(store.get(&CredentialKey(ApiKey::new("k").hash())).await.unwrap().is_none());
    assert!(store.get(&CatalogueKey).await.unwrap().is_none());
    assert!(store.get(&replay_key("k")).await.unwrap().is_none());
}

async fn what_was_written_is_found<S: Store>(store: &S) {
    store.put(&TransactionKey(&id(1)), b"{\"a\":1}".to_vec(), &access("unit")).await.unwrap();
    let stored = store.get(&TransactionKey(&id(1))).await.unwrap().unwrap();
    assert_eq!(stored.metadata, access("unit"));
    assert_eq!(stored.value.read().await.unwrap(), b"{\"a\":1}");
}

async fn a_second_write_replaces_the_first<S: Store>(store: &S) {
    store
        .put(&TransactionKey(&id(2)), b"a longer first value".to_vec(), &access("a"))
        .await
        .unwrap();
    store.put(&TransactionKey(&id(2)), b"second".to_vec(), &access("b")).await.unwrap();
    let stored = store.get(&TransactionKey(&id(2))).await.unwrap().unwrap();
    assert_eq!(stored.metadata, access("b"));
    assert_eq!(stored.value.read().await.unwrap(), b"second");
}

async fn kinds_of_records_do_not_meet<S: Store>(store: &S) {
    let credential = CredentialKey(ApiKey::new("k").hash());
    store.put(&credential, b"key".to_vec(), &()).await.unwrap();
    store.put(&CatalogueKey, b"catalogue".to_vec(), &()).await.unwrap();
    store.put(&replay_key("k"), b"replay".to_vec(), &()).await.unwrap();
    store.put(&TransactionKey(&id(3)), b"transaction".to_vec(), &access("u")).await.unwrap();
    assert_eq!(value(store, &credential).await.unwrap(), b"key");
    assert_eq!(value(store, &CatalogueKey).await.unwrap(), b"catalogue");
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

#[test]
fn memory_conforms() {
    block_on(conforms(&MemoryStore::default()));
}

// ---- Memory alone ------------------------------------------------------------------------------

#[test]
fn a_broken_store_says_so_and_forgets_nothing() {
    let store = MemoryStore::default();
    let transaction = id(1);
    let key = TransactionKey(&transaction);
    block_on(async {
        store.put(&key, b"kept".to_vec(), &access("u")).await.unwrap();
        store.set_broken(true);
        assert_eq!(store.put(&key, b"lost".to_vec(), &access("u")).await, Err(StoreError));
        assert_eq!(store.get(&key).await.unwrap_err(), StoreError);
        store.set_broken(false);
        assert_eq!(value(&store, &key).await.unwrap(), b"kept");
    });
}

// ---- Keys --------------------------------------------------------------------------------------

#[test]
fn a_key_owns_its_prefix_and_fits() {
    let names = [
        (TransactionKey(&id(1)).name(), "transaction:ptran_"),
        (
            CredentialKey(ApiKey::new("k").hash()).name(),
            "key:8254c329a92850f6d539dd376f4816ee2764517da5e0235514af433164480d7a",
        ),
        (CatalogueKey.name(), "catalogue"),
        (replay_key("k").name(), "idempotency:"),
    ];
    for (name, prefix) in names {
        assert!(name.starts_with(prefix) && name.len() <= 512, "`{name}`");
    }
}

fn lifetime<K: Key>(_: &K) -> Option<u32> {
    K::LIFETIME_SECONDS
}

#[test]
fn only_a_replay_goes_by_itself() {
    assert_eq!(lifetime(&TransactionKey(&id(1))), None);
    assert_eq!(lifetime(&CredentialKey(ApiKey::new("k").hash())), None);
    assert_eq!(lifetime(&CatalogueKey), None);
    assert_eq!(lifetime(&replay_key("k")), Some(86_400));
}

// ---- Access ------------------------------------------------------------------------------------

#[test]
fn a_record_is_for_one_unit_and_mode() {
    let access = Access::new(scope("unit", Mode::Live), &edit_key(1));
    assert!(access.allows(&scope("unit", Mode::Live)));
    assert!(!access.allows(&scope("unit", Mode::Test)));
    assert!(!access.allows(&scope("other", Mode::Live)));
    assert!(!access.allows(&scope("", Mode::Live)));
    assert!(!access.allows(&scope("unit ", Mode::Live)));
}

#[test]
fn an_edit_key_opens_one_record() {
    let access = Access::new(scope("unit", Mode::Live), &edit_key(1));
    let right = edit_key(1).to_string();
    assert!(access.opens_with(&right));
    let (_, shorter) = right.split_at(1);
    for wrong in ["", shorter, &right.to_uppercase(), &format!("{right}a"), edit_key(2).as_str()] {
        assert!(!access.opens_with(wrong), "`{wrong}`");
    }
    assert!(!serde_json::to_string(&access).unwrap().contains(&right), "only its hash is kept");
}

/// Workers KV takes 1,024 bytes of metadata.
#[test]
fn access_fits_beside_its_record() {
    let bytes = serde_json::to_vec(&access(&"u".repeat(800))).unwrap();
    assert!(bytes.len() <= 1_024, "{} bytes", bytes.len());
}
