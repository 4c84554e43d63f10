//! The error for a credit that is refused.

use crate::office::shared::rule::error::OperatorError;

/// Returns an error that says that nothing was credited, and why.
pub(super) fn invalid(problem: impl std::fmt::Display) -> OperatorError {
    OperatorError::Invalid(format!("nothing was credited: {problem}"))
}
