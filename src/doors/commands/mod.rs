//! The exports of the operators' wasm module. The scripts pass a namespace of Workers KV and its ledger.
//!
//! `run` runs one of the [`operations`](crate::office::operations). The other exports are the rules of backups and restores; the
//! scripts read and write the backup files. Exports take and return plain objects. They throw errors as text, or the error
//! that the namespace threw.

mod backups;
mod kv;
mod ledger;
mod own_rows;
mod restore;
mod run;
mod seed;

use super::platform::Platform;
use crate::office::audit::rule::Author;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::prelude::{JsCast as _, JsValue};

type CommandOutcome = Result<JsValue, JsValue>;

/// Converts a value to plain objects like those of `JSON.parse`. `None` becomes null.
fn to_js(value: &impl Serialize) -> CommandOutcome {
    value
        .serialize(&Serializer::json_compatible())
        .map_err(|_| "this value cannot be converted to JavaScript".into())
}

/// Makes an object with one member, to be thrown.
fn thrown_as(name: &str, value: &impl Serialize) -> JsValue {
    let error = js_sys::Object::new();
    let value = to_js(value).unwrap_or_else(|error| error);
    let _ = js_sys::Reflect::set(&error, &name.into(), &value); // cannot fail on a new object
    error.into()
}

/// Returns the author of a change for the audit log: the person with the name `by`.
fn author(by: &str) -> Result<Author<'_, Platform, Platform>, JsValue> {
    let author = Author::new(by, &Platform, &Platform);
    author.map_err(|error| format!("{error}: set it with `--by`").into())
}

/// Converts an argument that a script passed. If the argument breaks one of this crate's own rules, such as
/// the format of IDs, the error says which rule. serde's own messages are replaced, because they quote
/// values.
fn from_js<T: DeserializeOwned>(value: JsValue) -> Result<T, JsValue> {
    serde_wasm_bindgen::from_value(value).map_err(|error| {
        let error = JsValue::from(error).dyn_into::<js_sys::Error>();
        let rule = error.map(|error| String::from(error.message())).unwrap_or_default();
        let is_ours = !rule.is_empty() && !SERDES.iter().any(|start| rule.starts_with(start));
        match is_ours {
            true => rule.into(),
            false => "a script passed an argument of the wrong type".into(),
        }
    })
}

/// The beginnings of serde's own error messages.
const SERDES: [&str; 6] = [
    "invalid ",
    "unknown ",
    "missing field ",
    "duplicate field ",
    "there are no ",
    "data did not ",
];
