//! The reasons why a change of an update is refused.

use crate::buyer::updates::MAX_UPDATES;
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::refused::{ArgumentName, RefusalCode};
use crate::office::updates::rows::updates::{Pledges, UpdateRow};
use crate::pledges::store::MAX_UPDATES_BYTES;
use std::fmt::Display;

/// Maximum number of characters of an ID that a message quotes.
const MAX_QUOTED: usize = 80;

pub(super) fn refused(problem: impl Display) -> OperatorError {
    OperatorError::invalid(in_words(problem))
}

pub(super) fn refused_at(
    argument: impl Into<ArgumentName>,
    code: RefusalCode,
    problem: impl Display,
) -> OperatorError {
    OperatorError::at(argument, code, in_words(problem))
}

fn in_words(problem: impl Display) -> String {
    format!("nothing was saved: {problem}")
}

pub(super) fn unknown(id: &str) -> OperatorError {
    let quoted: String = id.chars().take(MAX_QUOTED).collect();
    let problem = format_args!("there is no update `{quoted}`");
    refused_at("update", RefusalCode::NotFound, problem)
}

pub(super) fn already(state: &str, row: &UpdateRow) -> OperatorError {
    refused(format_args!(
        "the update is already {state}: {} changed it at {}",
        row.changed_by, row.changed_at
    ))
}

pub(super) fn overtaken(row: &UpdateRow) -> OperatorError {
    refused(format_args!(
        "{} changed the update at {}, after you had opened it. Open the update again to see the change",
        row.changed_by, row.changed_at
    ))
}

pub(super) fn full(Pledges { month, offering, .. }: &Pledges) -> OperatorError {
    refused(format_args!(
        "{offering} already has {MAX_UPDATES} published updates for {month}, or its updates have more \
         than {} KiB together. Withdraw or shorten one of them",
        MAX_UPDATES_BYTES / 1_024
    ))
}
