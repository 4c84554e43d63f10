//! Untrusted input becomes values, or *all* of its problems.

pub mod compact;
pub mod format;
pub mod json;
pub(crate) mod lexer;
pub mod number;
pub(crate) mod place;
pub(crate) mod report;
mod rules;
pub mod texts;

pub use json::MAX_DEPTH;
pub(crate) use report::summary;
pub use report::{Code, Found, Issue, Path, Report, Step};

use crate::schema::BODY;
use compact::{Compact, Compacts};
use json::Source;

/// Every problem of a create request given as JSON bytes; none when it is valid.
pub fn bytes(json: &[u8]) -> Vec<Issue<'_>> {
    let mut report = Report::unbounded();
    json::walk(json, &mut (), &mut report);
    report.into_issues()
}

/// The problems of a request given as JSON. Gives their number, which may be more than there is
/// room for. `scratch` has as many bytes as the JSON, where that has escapes.
pub fn json(json: &[u8], source: Source, scratch: &mut [u8], room: &mut [Compact]) -> usize {
    let mut problems = Compacts::of(json, room);
    json::walk_with(json, &BODY, source, scratch, &mut (), &mut problems);
    problems.count()
}
