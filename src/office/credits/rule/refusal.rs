//! The errors for a credit that is refused.

use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::refused::{ArgumentName, RefusalCode};
use std::fmt::Display;

/// Returns an error that says that nothing was credited, and why.
pub(super) fn invalid(problem: impl Display) -> OperatorError {
    OperatorError::invalid(in_words(problem))
}

/// Returns an error that says that nothing was credited because of another change at the same moment.
pub(super) fn conflict(problem: impl Display) -> OperatorError {
    OperatorError::try_again(in_words(problem))
}

/// Returns the error that nothing was credited because one argument is invalid.
pub(super) fn invalid_at(
    argument: impl Into<ArgumentName>,
    code: RefusalCode,
    problem: impl Display,
) -> OperatorError {
    OperatorError::at(argument, code, in_words(problem))
}

fn in_words(problem: impl Display) -> String {
    format!("nothing was credited: {problem}")
}
