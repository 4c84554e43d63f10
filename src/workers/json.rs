//! Plain values of the platform, by way of JSON, and lines of its log.

use js_sys::JSON;
use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use wasm_bindgen::prelude::JsValue;
use worker::console_error;

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

/// Logs an error as an object of these members.
pub fn log_error(members: &[(&str, &str)]) {
    let line = serde_json::to_string(&Line(members)).unwrap_or_default(); // it cannot fail
    console_error!("{line}");
}

struct Line<'a>(&'a [(&'a str, &'a str)]);

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}
