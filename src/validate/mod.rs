//! Untrusted input becomes values, or *all* of its problems.

pub mod compact;
pub mod format;
pub mod formats;
pub mod json;
pub(crate) mod lexer;
pub mod number;
pub mod place;
pub(crate) mod report;
mod rules;

pub use json::MAX_DEPTH;
pub(crate) use report::summary;
pub use report::{Code, Found, Issue, Path, Report, Step};

use crate::schema::BODY;
use compact::{Compact, Compacts};
use json::Source;

/// Every problem of a create request given as JSON bytes; none when it is valid.
pub fn bytes(json: &[u8]) -> Vec<Issue<'_>> {
    let mut report = Report::keeping(usize::MAX);
    json::walk(json, &BODY, &mut (), &mut report);
    report.into_issues()
}

/// Checks a request given as JSON. Puts its problems, without the first `skip`, into `room`, as
/// many as fit, in the order in which the JSON has them.
///
/// Returns how many problems there are behind the skipped ones. `skip` is 0, or what an earlier call
/// returned at most. `scratch` has as many bytes as the JSON, where that has escapes.
pub fn json(
    json: &[u8],
    source: Source,
    skip: usize,
    scratch: &mut [u8],
    room: &mut [Compact],
) -> usize {
    let mut problems = Compacts::of(json, skip, room);
    json::walk_with(json, &BODY, source, scratch, &mut (), &mut problems);
    problems.count()
}
