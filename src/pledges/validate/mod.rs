//! Checks untrusted bodies against every rule of the request (§4.1), and reports *all* issues with their paths.

mod code;
pub mod compact;
mod encoding;
pub mod format;
pub mod instant;
pub(crate) mod issue;
pub mod json;
pub(crate) mod lexer;
pub mod node;
pub mod number;
mod path;
pub(crate) mod report;
pub(crate) mod rules;
pub(crate) mod string;

pub use code::Code;
pub use issue::{Issue, ValueType};
pub use json::MAX_DEPTH;
pub use path::{Path, Step};
pub use report::Report;
pub(crate) use report::summary;
pub use string::Text;

use super::schema::BODY;

/// Checks a create request given as JSON bytes. Returns its issues in the schema's order; the list is empty if the
/// request is valid.
pub fn check(json: &[u8]) -> Vec<Issue<'_>> {
    let mut report = Report::with_limit(usize::MAX);
    json::walk(json, &BODY, &mut (), &mut report);
    report.into_issues()
}
