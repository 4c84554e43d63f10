//! What the wasm of the operator's commands exports: [`operator`](crate::operator)'s functions, over
//! a namespace of Workers KV that the scripts hand over. They take and return plain objects.
//!
//! What is wrong is thrown: as text, or as what the namespace threw.

mod keys;
mod kv;
mod records;
mod transactions;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::prelude::JsValue;

type Outcome = Result<JsValue, JsValue>;

/// As `JSON.parse` would make it: objects, and null for what is missing.
fn to_js(value: &impl Serialize) -> Outcome {
    value.serialize(&Serializer::json_compatible()).map_err(|_| "this cannot be shown".into())
}

/// The reason is left out: it would quote values.
fn from_js<T: DeserializeOwned>(value: JsValue) -> Result<T, JsValue> {
    serde_wasm_bindgen::from_value(value).map_err(|_| {
        "the scripts gave the operator's functions something else than they take".into()
    })
}
