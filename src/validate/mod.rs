//! Untrusted input becomes values, or *all* of its problems.

pub mod format;
pub mod json;
pub mod number;
mod report;
mod rules;

pub use json::MAX_DEPTH;
pub(crate) use report::summary;
pub use report::{Code, Issue, Path, Report, Step};

/// Every problem of a create request given as JSON bytes; none when it is valid.
pub fn bytes(json: &[u8]) -> Vec<Issue<'_>> {
    let mut report = Report::unbounded();
    json::walk(json, &mut (), &mut report);
    report.into_issues()
}
