//! Tests the store that uses Workers KV. Runs in Node on workerd's own KV, with the binding from
//! wrangler.toml.

#![cfg(all(target_family = "wasm", feature = "server"))]
#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected should panic")]

use impact_pledge::doors::cloudflare::{KvNamespace, KvStore};
use impact_pledge::pledges::auth::ApiKey;
use impact_pledge::pledges::scope::Mode;
use impact_pledge::pledges::store::{
    CredentialKey, Key, ListingStore as _, NoMetadata, OperatorStore as _, PriceListKey,
    Store as _, StoreError, TransactionKey, TransactionMetadata,
};
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

/// A platform with an empty namespace. Disposing of the platform also disposes of the namespace.
async fn empty() -> Platform {
    start(&js_sys::JSON::parse(r#"{"persist": false}"#).unwrap()).await
}

fn store(platform: &Platform) -> KvStore {
    KvStore::new(platform.env().pledges().unchecked_into())
}

fn operators_store(platform: &Platform) -> KvStore {
    KvStore::for_operators(platform.env().pledges().unchecked_into())
}

/// Lists the names and metadata of all records, sorted by name.
async fn listed(platform: &Platform) -> Vec<Value> {
    let text = js_sys::JSON::stringify(&platform.env().pledges().list().await).unwrap();
    let list: Value = serde_json::from_str(&String::from(text)).unwrap();
    list.get("keys").and_then(Value::as_array).unwrap().clone()
}

/// A record's name that may be any text, because another program may have chosen it.
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
async fn kv_conforms_for_operators() {
    let platform = empty().await;
    conforms(&operators_store(&platform)).await;
    platform.dispose().await;
}

/// A namespace without records. It notes the options of each read.
fn noting() -> JsValue {
    js_sys::eval(
        "({ noted: [], getWithMetadata(name, options) {
            this.noted.push(options);
            return Promise.resolve({ value: null, metadata: null });
        } })",
    )
    .unwrap()
}

#[wasm_bindgen_test]
async fn reads_are_as_recent_as_the_key_or_the_operator_demands() {
    const AS_KV_LIKES: &str = r#""stream""#;
    const RECENT: &str = r#"{"type":"stream","cacheTtl":30}"#;
    for (for_operators, expected) in [(false, [RECENT, AS_KV_LIKES]), (true, [RECENT, RECENT])] {
        let namespace = noting();
        let binding: KvNamespace = namespace.clone().unchecked_into();
        let store = match for_operators {
            true => KvStore::for_operators(binding),
            false => KvStore::new(binding),
        };
        assert!(store.get(&CredentialKey(ApiKey::new("k").hash())).await.unwrap().is_none());
        assert!(store.get(&TransactionKey(&id(1))).await.unwrap().is_none());
        let noted = js_sys::Reflect::get(&namespace, &"noted".into()).unwrap();
        let noted = js_sys::JSON::stringify(&noted).unwrap();
        assert_eq!(noted, format!("[{}]", expected.join(",")));
    }
}

#[wasm_bindgen_test]
async fn a_list_has_names_metadata_and_expirations_page_by_page() {
    let platform = empty().await;
    let store = operators_store(&platform);
    let (first, second) = (RawKey("list:a".into()), RawKey("list:b".into()));
    store.put(&first, b"1".to_vec(), &()).await.unwrap();
    store.put_for(&second, b"2".to_vec(), &(), 3_600).await.unwrap();
    store.put(&TransactionKey(&id(1)), vec![], &access("u")).await.unwrap();

    let page = store.list("list:", None).await.unwrap();
    let names: Vec<_> = page.records.iter().map(|record| record.name.as_str()).collect();
    assert_eq!(names, ["list:a", "list:b"]);
    assert_eq!(store.names("list:").await.unwrap(), names);
    let ends: Vec<_> = page.records.iter().map(|record| record.expiration.is_some()).collect();
    assert_eq!(ends, [false, true]);
    assert_eq!(page.cursor, None);
    assert!(store.names("other:").await.unwrap().is_empty());

    let page = store.list(TransactionKey::PREFIX, None).await.unwrap();
    let metadata = page.records.into_iter().map(|record| record.metadata).collect();
    let metadata: Vec<TransactionMetadata> = serde_json::from_value(metadata).unwrap();
    assert_eq!(metadata, [access("u")]);

    for number in 0..1_001 {
        store.put(&RawKey(format!("many:{number:04}")), vec![], &()).await.unwrap();
    }
    let page = store.list("many:", None).await.unwrap();
    assert_eq!(page.records.len(), 1_000);
    let last = store.list("many:", page.cursor.as_deref()).await.unwrap();
    assert_eq!(last.records.into_iter().map(|it| it.name).collect::<Vec<_>>(), ["many:1000"]);
    assert_eq!(last.cursor, None);
    platform.dispose().await;
}

/// Returns a store over a stand-in for a namespace. The stand-in has a value for each name that is an even
/// number. A read of several records returns a map or, with `refuses_arrays`, an error that the result is too
/// large. Wrangler's own namespace cannot be used here, because its maps arrive empty.
fn of_even_numbers(refuses_arrays: bool) -> KvStore {
    let namespace = js_sys::eval(&format!(
        r#"({{ get(names) {{
            const valueOf = (name) => (name % 2 === 0 ? `value ${{name}}` : null);
            if (!Array.isArray(names)) return Promise.resolve(valueOf(names));
            if ({refuses_arrays}) return Promise.reject(new Error("KV GET_BULK failed: 413"));
            const found = new Map(names.map((name) => [name, valueOf(name)]).reverse());
            return Promise.resolve(found);
        }} }})"#
    ));
    KvStore::for_operators(namespace.unwrap().unchecked_into())
}

#[wasm_bindgen_test]
async fn values_have_the_sequence_of_their_keys_read_together_or_one_by_one() {
    let keys: Vec<_> = (0..20).map(|number| RawKey(number.to_string())).collect();
    let value = |number| (number % 2 == 0).then(|| format!("value {number}").into_bytes());
    let expected: Vec<_> = (0..20).map(value).collect();
    for refuses_arrays in [false, true] {
        let store = of_even_numbers(refuses_arrays);
        assert_eq!(store.get_values(&keys).await.unwrap(), expected, "{refuses_arrays}");
        assert!(store.get_values::<RawKey>(&[]).await.unwrap().is_empty());
    }
}

#[wasm_bindgen_test]
async fn a_removed_record_is_gone() {
    let platform = empty().await;
    let store = operators_store(&platform);
    let key = PriceListKey::of_mode(Mode::Test);
    store.put(&key, b"{}".to_vec(), &NoMetadata).await.unwrap();
    store.remove(&key).await.unwrap();
    assert!(listed(&platform).await.is_empty());
    store.remove(&key).await.unwrap(); // the record may be absent
    platform.dispose().await;
}

#[wasm_bindgen_test]
async fn no_record_goes_by_itself() {
    let platform = empty().await;
    let store = store(&platform);
    store.put(&PriceListKey::of_mode(Mode::Test), vec![], &NoMetadata).await.unwrap();
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
        r#"{"mode": "test", "unit": "unit_1", "editKey": "00"}"#,
        r#"{"mode": "test", "unit": null, "editKey": "00", "bytes": 5}"#,
        r#"{"mode": "test", "unit": 1, "editKey": "00", "bytes": 5}"#,
        r#"{"mode": "test", "unit": ["unit_1"], "editKey": "00", "bytes": 5}"#,
        r#"{"mode": "Test", "unit": "unit_1", "editKey": "00", "bytes": 5}"#,
    ] {
        put_raw(&platform, &key.name(), metadata).await;
        assert!(matches!(store.get(&key).await, Err(StoreError::Damaged(_))), "{metadata}");
    }
    let metadata =
        r#"{"editKey": "00", "unit": "unit_1", "mode": "test", "bytes": 5, "more": true}"#;
    put_raw(&platform, &key.name(), metadata).await;
    assert!(matches!(store.get(&key).await, Ok(Some(_))));
    for metadata in ["{}", "false", metadata] {
        put_raw(&platform, &PriceListKey::of_mode(Mode::Test).name(), metadata).await;
        assert!(
            matches!(store.get(&PriceListKey::of_mode(Mode::Test)).await, Ok(Some(_))),
            "{metadata}"
        );
    }
    platform.dispose().await;
}

/// Writes a record with any name and metadata, as another program might.
async fn put_raw(platform: &Platform, name: &str, metadata: &str) {
    let options = js_sys::JSON::parse(&format!(r#"{{"metadata": {metadata}}}"#)).unwrap();
    platform.env().pledges().put(name, "value", &options).await;
}
