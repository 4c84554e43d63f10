//! What the wasm of the operator's commands exports.

use crate::operator;
use wasm_bindgen::prelude::wasm_bindgen;

/// Runs a command; [`operator::run`] says what it returns. What is wrong is thrown as text.
#[wasm_bindgen]
pub fn run(command: &str, input: &[u8]) -> Result<String, String> {
    operator::run(command, input)
}
