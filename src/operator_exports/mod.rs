//! The exports of the operator's wasm: the functions of [`operator`](crate::operator), on a namespace
//! of Workers KV, and on its ledger, that the scripts pass. They take and return plain objects, and throw errors as text,
//! or the error that the namespace threw.

mod audit;
mod backups;
mod keys;
mod kv;
mod ledger;
mod notifications;
mod payments;
mod records;
mod restore;
mod transactions;

use crate::operator::audit::Author;
use crate::operator::{Done, OperatorError};
use crate::platform::Platform;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::prelude::{JsCast as _, JsValue};

type Outcome = Result<JsValue, JsValue>;

/// Converts a value as `JSON.parse` would: to plain objects, with null for `None`.
fn to_js(value: &impl Serialize) -> Outcome {
    value.serialize(&Serializer::json_compatible()).map_err(|_| "this cannot be shown".into())
}

/// The person who changes records, for the audit log.
fn author(by: &str) -> Result<Author<'_, Platform, Platform>, JsValue> {
    let author = Author::new(by, &Platform, &Platform);
    author.map_err(|error| format!("{error}: give it by `--by`").into())
}

/// The outcome of an operation that draws its own ID, and so was never done before.
fn now<T>(done: Result<Done<T>, OperatorError>) -> Result<T, OperatorError> {
    done.map(|done| done.outcome)
}

/// Converts an argument. The error is that of a rule of ours, such as that of IDs. serde's own are left out, as they
/// quote values.
fn from_js<T: DeserializeOwned>(value: JsValue) -> Result<T, JsValue> {
    serde_wasm_bindgen::from_value(value).map_err(|error| {
        let error = JsValue::from(error).dyn_into::<js_sys::Error>();
        let rule = error.map(|error| String::from(error.message())).unwrap_or_default();
        let is_ours = !rule.is_empty() && !SERDES.iter().any(|start| rule.starts_with(start));
        match is_ours {
            true => rule.into(),
            false => {
                "the scripts gave the operator's functions something else than they take".into()
            }
        }
    })
}

/// How serde's errors begin.
const SERDES: [&str; 6] = [
    "invalid ",
    "unknown ",
    "missing field ",
    "duplicate field ",
    "there are no ",
    "data did not ",
];
