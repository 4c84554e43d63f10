//! Declares the JavaScript objects and functions that a call of the client uses. The objects have only plain
//! values, so reading them never throws.

use js_sys::Function;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

#[wasm_bindgen]
extern "C" {
    /// A call with its options: an object of plain values from the package's `client.ts`.
    pub type ClientCall;
    #[wasm_bindgen(method, getter, js_name = isCreate)]
    pub fn is_create(this: &ClientCall) -> bool;
    /// The body of a create call, or the ID of a get call.
    #[wasm_bindgen(method, getter)]
    pub fn subject(this: &ClientCall) -> JsValue;
    #[wasm_bindgen(method, getter, js_name = apiKey)]
    pub fn api_key(this: &ClientCall) -> String;
    #[wasm_bindgen(method, getter, js_name = baseUrl)]
    pub fn base_url(this: &ClientCall) -> String;
    #[wasm_bindgen(method, getter, js_name = unitId)]
    pub fn unit_id(this: &ClientCall) -> Option<String>;
    #[wasm_bindgen(method, getter, js_name = idempotencyKey)]
    pub fn idempotency_key(this: &ClientCall) -> Option<String>;
    #[wasm_bindgen(method, getter, js_name = maxRetries)]
    pub fn max_retries(this: &ClientCall) -> u32;
    /// The option `retryCreates`, if the caller set it.
    #[wasm_bindgen(method, getter, js_name = retryCreates)]
    pub fn retry_creates(this: &ClientCall) -> Option<bool>;
    /// The caller's own `fetch`.
    #[wasm_bindgen(method, getter)]
    pub fn fetch(this: &ClientCall) -> Option<Function>;

    /// A response whose body was read to its end, or up to the limit for its status.
    pub type Reply;
    #[wasm_bindgen(method, getter)]
    pub fn status(this: &Reply) -> u16;
    #[wasm_bindgen(method, getter, js_name = retryAfter)]
    pub fn retry_after(this: &Reply) -> Option<String>;
    #[wasm_bindgen(method, getter)]
    pub fn date(this: &Reply) -> Option<String>;
    #[wasm_bindgen(method, getter)]
    pub fn body(this: &Reply) -> Vec<u8>;

    /// A plain object.
    #[wasm_bindgen(js_name = Object)]
    pub type PlainObject;
    #[wasm_bindgen(constructor, js_class = "Object")]
    pub fn new() -> PlainObject;
    #[wasm_bindgen(method, indexing_setter)]
    pub fn set(this: &PlainObject, name: &str, value: &JsValue);

    #[wasm_bindgen(js_name = Number)]
    pub fn to_double(text: &str) -> f64;
    #[wasm_bindgen(js_namespace = Math)]
    pub fn random() -> f64;
    #[wasm_bindgen(catch, js_namespace = crypto, js_name = getRandomValues)]
    pub fn get_random_values(bytes: &mut [u8]) -> Result<(), JsValue>;
}
