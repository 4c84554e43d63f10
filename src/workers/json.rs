//! Plain values of the platform, by way of JSON.

use js_sys::JSON;
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::JsValue;

/// Returns a plain value.
///
/// # Errors
/// Never for what our types write.
pub fn to_js(value: &impl Serialize) -> Result<JsValue, JsValue> {
    let json = serde_json::to_string(value).map_err(|error| error.to_string())?;
    JSON::parse(&json)
}

/// Reads a plain value; `None` if it is of another shape.
pub fn from_js<T: DeserializeOwned>(value: &JsValue) -> Option<T> {
    let json = JSON::stringify(value).ok()?.as_string()?;
    serde_json::from_slice(json.as_bytes()).ok() // `from_str` would be compiled besides
}
