//! The JavaScript objects and functions that a call uses.
//!
//! A binding to anything that a caller passed catches exceptions, as the [module](super) requires.

use js_sys::{Function, Promise};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};
use web_sys::AbortSignal;

#[wasm_bindgen]
extern "C" {
    /// A call with its options: an object of plain values that the package's `call.ts` makes.
    pub type Call;
    #[wasm_bindgen(method, getter, js_name = apiKey)]
    pub fn api_key(this: &Call) -> String;
    #[wasm_bindgen(method, getter, js_name = baseUrl)]
    pub fn base_url(this: &Call) -> String;
    #[wasm_bindgen(method, getter, js_name = unitId)]
    pub fn unit_id(this: &Call) -> Option<String>;
    #[wasm_bindgen(method, getter, js_name = idempotencyKey)]
    pub fn idempotency_key(this: &Call) -> Option<String>;
    /// Returns the milliseconds that one attempt may take.
    #[wasm_bindgen(method, getter, js_name = timeoutMs)]
    pub fn timeout_ms(this: &Call) -> u32;
    #[wasm_bindgen(method, getter, js_name = maxRetries)]
    pub fn max_retries(this: &Call) -> u32;
    /// Whether a create with an idempotency key is safe to repeat.
    #[wasm_bindgen(method, getter, js_name = safeRepeats)]
    pub fn safe_repeats(this: &Call) -> bool;
    #[wasm_bindgen(method, getter)]
    pub fn signal(this: &Call) -> Option<Signal>;
    /// Whether the caller passed their own `fetch`.
    #[wasm_bindgen(method, getter, js_name = hasOwnFetch)]
    pub fn has_own_fetch(this: &Call) -> bool;
    /// Whether this `fetch` accepts the signals of this platform's `AbortController`.
    #[wasm_bindgen(method, getter, js_name = takesSignal)]
    pub fn takes_signal(this: &Call) -> bool;
    /// Sends a request and reads its answer to the end. Resolves to a [`Reply`].
    #[wasm_bindgen(method, catch)]
    pub fn exchange(
        this: &Call,
        input: &JsValue,
        init: &JsValue,
        signal: &AbortSignal,
    ) -> Result<Promise, JsValue>;
    /// Whether there is time for another attempt after so many milliseconds. If so, the caller's
    /// listeners get an event.
    #[wasm_bindgen(method, js_name = retries)]
    pub fn may_retry(this: &Call, wait_ms: u32) -> bool;

    /// An answer whose body is read to its end or to the limit of its status.
    pub type Reply;
    #[wasm_bindgen(method, getter)]
    pub fn status(this: &Reply) -> u16;
    #[wasm_bindgen(method, getter, js_name = retryAfter)]
    pub fn retry_after(this: &Reply) -> Option<String>;
    #[wasm_bindgen(method, getter)]
    pub fn body(this: &Reply) -> Vec<u8>;

    /// An `AbortSignal`, or an object that the caller passed as one: each of its members may throw.
    /// gloo-events would panic then.
    #[derive(Clone)]
    pub type Signal;
    #[wasm_bindgen(method, getter, catch)]
    pub fn aborted(this: &Signal) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(method, catch, js_name = addEventListener)]
    pub fn add_event_listener(
        this: &Signal,
        event: &str,
        listener: &Function,
    ) -> Result<(), JsValue>;
    #[wasm_bindgen(method, catch, js_name = removeEventListener)]
    pub fn remove_event_listener(
        this: &Signal,
        event: &str,
        listener: &Function,
    ) -> Result<(), JsValue>;

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
