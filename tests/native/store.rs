//! The store in memory, and what keys and access mean in any store.

use futures_executor::block_on;
use impact_pledge::auth::ApiKey;
use impact_pledge::pledge::TransactionId;
use impact_pledge::scope::Mode;
use impact_pledge::secret::NamespaceSecret;
use impact_pledge::store::{
    CatalogueKey, CredentialKey, Key, NoMetadata, OperatorStore, ProfileKey, SecretKey, Store as _,
    StoreError, TransactionKey, TransactionMetadata,
};
use support::memory::MemoryStore;
use support::stores::{access, conforms, edit_key, id, replay_key, scope, value};

// ---- Memory ------------------------------------------------------------------------------------

#[test]
fn memory_conforms() {
    block_on(conforms(&MemoryStore::default()));
}

#[test]
fn a_broken_store_says_so_and_forgets_nothing() {
    let store = MemoryStore::default();
    let transaction = id(1);
    let key = TransactionKey(&transaction);
    block_on(async {
        store.put(&key, b"kept".to_vec(), &access("u")).await.unwrap();
        store.set_broken(true);
        assert_eq!(
            store.put(&key, b"lost".to_vec(), &access("u")).await,
            Err(StoreError::Unavailable)
        );
        assert_eq!(store.get(&key).await.unwrap_err(), StoreError::Unavailable);
        store.set_broken(false);
        assert_eq!(value(&store, &key).await.unwrap(), b"kept");
    });
}

#[test]
fn what_an_operator_needs_works_in_memory() {
    let store = MemoryStore::default();
    store.set_page_length(2);
    let keys = ["a", "b", "c"].map(|text| CredentialKey(ApiKey::new(text).hash()));
    block_on(async {
        for key in &keys {
            store.put(key, key.name().into_bytes(), &NoMetadata).await.unwrap();
        }
        store.put_for(&keys[0], b"ends".to_vec(), &NoMetadata, 60).await.unwrap();
        store.put(&CatalogueKey(Mode::Test), vec![], &NoMetadata).await.unwrap();
        let first = store.list(CredentialKey::PREFIX, None).await.unwrap();
        let rest = store.list(CredentialKey::PREFIX, first.cursor.as_deref()).await.unwrap();
        assert!(first.cursor.is_some() && rest.cursor.is_none());
        let listed: Vec<_> = first.records.into_iter().chain(rest.records).collect();
        let mut names: Vec<_> = keys.iter().map(Key::name).collect();
        names.sort();
        assert_eq!(listed.iter().map(|record| record.name.clone()).collect::<Vec<_>>(), names);
        let ends = listed.iter().find(|record| record.name == keys[0].name());
        assert_eq!(ends.unwrap().expiration, Some(60));
        OperatorStore::remove(&store, &keys[1]).await.unwrap();
        let values = store.get_values(&keys).await.unwrap();
        assert_eq!(values, [Some(b"ends".to_vec()), None, Some(keys[2].name().into_bytes())]);
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
        (CatalogueKey(Mode::Test).name(), "catalogue:test"),
        (CatalogueKey(Mode::Live).name(), "catalogue:live"),
        (replay_key("k").name(), "idempotency:"),
        (ProfileKey("unit").name(), "profile:unit"),
        (SecretKey.name(), "secret"),
    ];
    for (name, prefix) in names {
        assert!(name.starts_with(prefix) && name.len() <= 512, "`{name}`");
    }
}

#[test]
fn a_listed_name_is_read_by_the_key_of_its_kind_alone() {
    let credential = CredentialKey(ApiKey::new("k").hash());
    let names = [
        TransactionKey(&id(1)).name(),
        credential.name(),
        replay_key("k").name(),
        ProfileKey("unit").name(),
        CatalogueKey(Mode::Test).name(),
        SecretKey.name(),
    ];
    let read = |read: fn(&str) -> bool| names.iter().map(|name| read(name)).collect::<Vec<_>>();
    let only = |index| (0..names.len()).map(|other| other == index).collect::<Vec<_>>();
    assert_eq!(read(|name| TransactionKey::parse(name) == Some(id(1))), only(0));
    assert_eq!(read(|name| CredentialKey::parse(name).is_some()), only(1));
    assert_eq!(read(|name| ProfileKey::parse(name) == Some(ProfileKey("unit"))), only(3));
    for wrong in ["transaction:ptran_", "key:", "key:abc", "idempotency:ABC", "transaction:"] {
        assert!(TransactionKey::parse(wrong).is_none(), "`{wrong}`");
        assert!(CredentialKey::parse(wrong).is_none());
    }
    assert_eq!(CredentialKey::parse(&credential.name()), Some(credential));
}

#[test]
fn one_shop_and_one_order_are_prefixes_of_their_transactions_alone() {
    let secret = NamespaceSecret::new([7; 32]);
    let shops = [scope("u", Mode::Test), scope("u", Mode::Live), scope("v", Mode::Test)];
    let references = ["order-1", "order-2"];
    let mut listed = 0;
    for (shop, reference) in shops.iter().flat_map(|shop| references.map(|text| (shop, text))) {
        let id = TransactionId::new(&secret, shop, reference, [9; 16]);
        let name = TransactionKey(&id).name();
        for (other, text) in shops.iter().flat_map(|shop| references.map(|text| (shop, text))) {
            let of_shop = name.starts_with(&TransactionKey::shop_prefix(other));
            let of_order = name.starts_with(&TransactionKey::order_prefix(&secret, other, text));
            assert_eq!(of_shop, other == shop);
            assert_eq!(of_order, other == shop && text == reference);
            listed += usize::from(of_order);
        }
    }
    assert_eq!(listed, shops.len() * references.len());
    let (hex, all) = (ApiKey::new("k").hash().id(), CredentialKey::PREFIX);
    assert_eq!(CredentialKey::hash_prefix(&hex), format!("{all}{hex}"));
}

fn cache_seconds<K: Key>(_: &K) -> Option<u32> {
    K::CACHE_SECONDS
}

/// With the 10 s of the isolate a revoked key lives 40 s at most.
#[test]
fn only_a_key_is_cached_for_less_than_usual() {
    assert_eq!(cache_seconds(&TransactionKey(&id(1))), None);
    assert_eq!(cache_seconds(&CredentialKey(ApiKey::new("k").hash())), Some(30));
    assert_eq!(cache_seconds(&CatalogueKey(Mode::Test)), None);
    assert_eq!(cache_seconds(&replay_key("k")), None);
}

// ---- TransactionMetadata ------------------------------------------------------------------------------------

#[test]
fn a_record_is_for_one_unit_and_mode() {
    let access = TransactionMetadata::new(scope("unit", Mode::Live), &edit_key(1));
    assert!(access.allows(&scope("unit", Mode::Live)));
    assert!(!access.allows(&scope("unit", Mode::Test)));
    assert!(!access.allows(&scope("other", Mode::Live)));
    assert!(!access.allows(&scope("", Mode::Live)));
    assert!(!access.allows(&scope("unit ", Mode::Live)));
}

#[test]
fn an_edit_key_opens_one_record() {
    let access = TransactionMetadata::new(scope("unit", Mode::Live), &edit_key(0xAB));
    let right = edit_key(0xAB).to_string();
    assert!(access.opens_with(&right));
    let (_, shorter) = right.split_at(1);
    for wrong in ["", shorter, &right.to_uppercase(), &format!("{right}a"), edit_key(2).as_str()] {
        assert!(!access.opens_with(wrong), "`{wrong}`");
    }
    let kept = serde_json::to_string(&access).unwrap();
    assert!(!kept.contains(&right), "only its hash is kept");
}

/// Workers KV takes 1,024 bytes of metadata.
#[test]
fn access_fits_beside_its_record() {
    let bytes = serde_json::to_vec(&access(&"u".repeat(800))).unwrap();
    assert!(bytes.len() <= 1_024, "{} bytes", bytes.len());
}
