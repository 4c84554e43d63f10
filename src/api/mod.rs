//! The wire, written once for both sides: paths, headers, statuses and bodies.

pub mod answer;
mod extract;
mod head;
mod names;
mod problem;

use crate::http::OWS;
pub use head::{Credentials, InvalidArgument, RequestHead};
pub use names::*;
pub use problem::{ErrorBody, Operation, Problem};

/// Encodes a body or a record as JSON. It cannot fail: only a map without string keys would.
pub fn to_json(value: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

/// Whether a `Content-Type` is JSON: its parameters, case and blanks do not matter.
pub fn is_json(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default();
    essence.trim_matches(OWS).eq_ignore_ascii_case(JSON)
}
