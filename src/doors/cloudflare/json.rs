//! Converts plain values between Rust and JavaScript through JSON, and writes log lines.

use js_sys::JSON;
use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use wasm_bindgen::prelude::JsValue;
use worker::console_error;

/// Converts a Rust value to a plain JavaScript value.
///
/// # Errors
/// Never for the types of this crate.
pub fn to_js(value: &impl Serialize) -> Result<JsValue, JsValue> {
    let json = serde_json::to_string(value).map_err(|error| error.to_string())?;
    JSON::parse(&json)
}

/// Converts a plain JavaScript value to a Rust value. Returns `None` if the value does not have the shape
/// of the Rust type.
pub fn from_js<T: DeserializeOwned>(value: &JsValue) -> Option<T> {
    let json = JSON::stringify(value).ok()?.as_string()?;
    serde_json::from_slice(json.as_bytes()).ok() // other code uses `from_slice`, so `from_str` would add to the wasm
}

/// Logs an error as a JSON object with these members.
pub fn log_error(members: &[(&str, &str)]) {
    let line = serde_json::to_string(&JsonLine(members)).unwrap_or_default(); // never fails
    console_error!("{line}");
}

struct JsonLine<'a>(&'a [(&'a str, &'a str)]);

impl Serialize for JsonLine<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}
