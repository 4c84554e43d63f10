//! Workers KV as a store, on workerd's own KV, as wrangler.toml binds it. Runs in Node.

#![cfg(all(target_family = "wasm", feature = "server"))]
#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected should panic")]

use impact_pledge::scope::Mode;
use impact_pledge::store::{CatalogueKey, Key, NoMetadata, Store as _, StoreError, TransactionKey};
use impact_pledge::workers::{KvNamespace, KvStore};
use serde_json::Value;
use std::borrow::Cow;
use support::stores::{access, conforms, id, replay_key};
use wasm_bindgen::prelude::{JsCast as _, JsValue, wasm_bindgen};
use wasm_bindgen_test::wasm_bindgen_test;

#[wasm_bindgen(module = "wrangler")]
extern "C" {
    type Platform;
    #[wasm_bindgen(js_name = getPlatformProxy)]
    async fn start(options: &JsValue) -> Platform;
    #[wasm_bindgen(method, getter)]
    fn env(this: &Platform) -> Env;
    #[wasm_bindgen(method)]
    async fn dispose(this: &Platform);

    type Env;
    #[wasm_bindgen(method, getter, js_name = PLEDGES)]
    fn pledges(this: &Env) -> Pledges;

    #[wasm_bindgen(extends = KvNamespace)]
    type Pledges;
    #[wasm_bindgen(method)]
    async fn list(this: &Pledges) -> JsValue;
    #[wasm_bindgen(method)]
    async fn put(this: &Pledges, name: &str, value: &str, options: &JsValue);
}

/// A platform whose namespace is empty, and goes with it.
async fn empty() -> Platform {
    start(&js_sys::JSON::parse(r#"{"persist": false}"#).unwrap()).await
}

fn store(platform: &Platform) -> KvStore {
    KvStore(platform.env().pledges().unchecked_into())
}

/// Lists the names and metadata of all records, sorted by name.
async fn listed(platform: &Platform) -> Vec<Value> {
    let text = js_sys::JSON::stringify(&platform.env().pledges().list().await).unwrap();
    let list: Value = serde_json::from_str(&String::from(text)).unwrap();
    list.get("keys").and_then(Value::as_array).unwrap().clone()
}

/// A key that is none of the service's.
struct RawKey(String);

impl Key for RawKey {
    type Metadata = ();
    const KIND: &'static str = "raw";
    const PREFIX: &'static str = "";
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.0)
    }
}

#[wasm_bindgen_test]
async fn kv_conforms() {
    let platform = empty().await;
    conforms(&store(&platform)).await;
    platform.dispose().await;
}

#[wasm_bindgen_test]
async fn no_record_goes_by_itself() {
    let platform = empty().await;
    let store = store(&platform);
    store.put(&CatalogueKey(Mode::Test), vec![], &NoMetadata).await.unwrap();
    store.put(&replay_key("k"), vec![], &NoMetadata).await.unwrap();
    store.put(&TransactionKey(&id(1)), vec![], &access("u")).await.unwrap();
    let expirations: Vec<_> = listed(&platform)
        .await
        .iter()
        .map(|record| record.get("expiration").and_then(Value::as_f64))
        .collect();
    assert!(expirations.iter().all(Option::is_none), "{expirations:?}");
    platform.dispose().await;
}

#[wasm_bindgen_test]
async fn what_kv_refuses_is_a_failure_of_the_store() {
    let platform = empty().await;
    let store = store(&platform);
    let long = RawKey("k".repeat(513));
    assert_eq!(store.put(&long, vec![], &()).await, Err(StoreError::Unavailable));
    assert!(matches!(store.get(&long).await, Err(StoreError::Unavailable)));
    let much = access(&"u".repeat(1_024));
    let put = store.put(&TransactionKey(&id(1)), vec![], &much).await;
    assert_eq!(put, Err(StoreError::Unavailable));
    assert!(listed(&platform).await.is_empty());
    platform.dispose().await;
}

#[wasm_bindgen_test]
async fn a_record_with_other_metadata_is_not_taken_for_the_keys() {
    let platform = empty().await;
    let store = store(&platform);
    let transaction = id(1);
    let key = TransactionKey(&transaction);
    for metadata in [
        "null",
        "7",
        r#""test""#,
        r#"["test", "unit_1", "00"]"#,
        "{}",
        r#"{"mode": "test", "unit": "unit_1"}"#,
        r#"{"mode": "test", "unit": null, "editKey": "00"}"#,
        r#"{"mode": "test", "unit": 1, "editKey": "00"}"#,
        r#"{"mode": "test", "unit": ["unit_1"], "editKey": "00"}"#,
        r#"{"mode": "Test", "unit": "unit_1", "editKey": "00"}"#,
    ] {
        put_raw(&platform, &key.name(), metadata).await;
        assert!(matches!(store.get(&key).await, Err(StoreError::Damaged(_))), "{metadata}");
    }
    let metadata = r#"{"editKey": "00", "unit": "unit_1", "mode": "test", "more": true}"#;
    put_raw(&platform, &key.name(), metadata).await;
    assert!(matches!(store.get(&key).await, Ok(Some(_))));
    for metadata in ["{}", "false", metadata] {
        put_raw(&platform, &CatalogueKey(Mode::Test).name(), metadata).await;
        assert!(matches!(store.get(&CatalogueKey(Mode::Test)).await, Ok(Some(_))), "{metadata}");
    }
    platform.dispose().await;
}

/// A record as another program might leave it.
async fn put_raw(platform: &Platform, name: &str, metadata: &str) {
    let options = js_sys::JSON::parse(&format!(r#"{{"metadata": {metadata}}}"#)).unwrap();
    platform.env().pledges().put(name, "value", &options).await;
}
