//! Untrusted input becomes values, or *all* of its problems.

pub mod compact;
pub mod format;
pub mod json;
pub(crate) mod lexer;
pub mod number;
mod place;
pub mod record;
mod report;
mod rules;

pub use json::MAX_DEPTH;
pub(crate) use report::summary;
pub use report::{Code, Found, Issue, Path, Report, Step};

use crate::schema::BODY;
use compact::{Compact, Compacts};
use json::Source;
use place::Place;
use record::Records;

/// Every problem of a create request given as JSON bytes; none when it is valid.
pub fn bytes(json: &[u8]) -> Vec<Issue<'_>> {
    let mut report = Report::unbounded();
    json::walk(json, &mut (), &mut report);
    report.into_issues()
}

/// The problems of the value of one place, named by its rank and the index of the item that it
/// lies in. Gives their number, which may be more than there is room for. `scratch` has as many
/// bytes as the JSON, where that has escapes.
pub fn json_at(
    (rank, index): (u8, u32),
    json: &[u8],
    source: Source,
    scratch: &mut [u8],
    room: &mut [Compact],
) -> usize {
    let mut problems = Compacts::of(json, room);
    Place::root(&BODY).of_rank(rank, index, &mut |place| {
        json::walk_at(place, json, source, scratch, &mut (), &mut problems);
    });
    problems.count()
}

/// The problems of what the encoder wrote: of a request, or with the rank of an array of some of
/// its items. Gives their number, which may be more than there is room for.
pub fn records(rank: u8, records: Records<'_>, room: &mut [Compact]) -> usize {
    let mut problems = Compacts::of(&[], room);
    record::check(rank, records, &mut problems);
    problems.count()
}

/// Whether the numbers and texts that the encoder wrote are all as they must be.
pub fn are_fine(records: &Records<'_>) -> bool {
    record::are_fine(records)
}
