//! The HTTP API, shared by the client and the service: paths, headers, statuses and bodies.

pub mod answer;
mod extract;
mod head;
mod names;
mod problem;

use super::http::OWS;
pub use head::{Credentials, InvalidArgument, RequestHead};
pub use names::*;
pub use problem::{ErrorBody, Operation, Problem};
use serde_json::value::{RawValue, to_raw_value};

/// Encodes a body or a record as JSON. Encoding never fails: the only possible error is a map whose keys are
/// not strings.
pub fn to_json(value: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

/// Encodes a value as JSON that becomes a part of other JSON.
pub fn to_raw_json(value: &impl serde::Serialize) -> Box<RawValue> {
    to_raw_value(value).unwrap_or_default()
}

/// Returns whether a `Content-Type` is JSON. Parameters, case and blanks are ignored.
pub fn is_json(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default();
    essence.trim_matches(OWS).eq_ignore_ascii_case(JSON)
}
