//! The exports of the operator's wasm: the functions of [`operator`](crate::operator), on a namespace
//! of Workers KV that the scripts pass. They take and return plain objects, and throw errors as text,
//! or the error that the namespace threw.

mod audit;
mod keys;
mod kv;
mod notifications;
mod payments;
mod records;
mod restore;
mod transactions;

use crate::operator::audit::Author;
use crate::platform::Platform;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::prelude::JsValue;

type Outcome = Result<JsValue, JsValue>;

/// Converts a value as `JSON.parse` would: to plain objects, with null for `None`.
fn to_js(value: &impl Serialize) -> Outcome {
    value.serialize(&Serializer::json_compatible()).map_err(|_| "this cannot be shown".into())
}

/// The person who changes records, for the record of changes.
fn author(by: &str) -> Result<Author<'_, Platform, Platform>, JsValue> {
    Author::new(by, &Platform, &Platform).map_err(|error| error.to_string().into())
}

/// Converts an argument. The error leaves out the reason, which would quote values.
fn from_js<T: DeserializeOwned>(value: JsValue) -> Result<T, JsValue> {
    serde_wasm_bindgen::from_value(value).map_err(|_| {
        "the scripts gave the operator's functions something else than they take".into()
    })
}
