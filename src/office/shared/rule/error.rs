use super::refused::{ArgumentName, RefusalCode, Refused};
use crate::office::shared::rows::port::LedgerError;
use crate::pledges::store::StoreError;
use std::error::Error;
use std::fmt::{self, Display, Formatter};

pub(crate) type Result<T, E = OperatorError> = std::result::Result<T, E>;

/// Why a function failed. The text is for the operator, and contains no key and no personal data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperatorError {
    Store(StoreError),
    Ledger(LedgerError),
    /// The request repeats an operation that is running or was begun before. It changed nothing; the text
    /// says what to do.
    Repeated(String),
    /// The author has lost the right to make the change. It changed nothing.
    Denied(String),
    /// Any other problem, for example a wrong argument.
    Invalid(Refused),
}

impl OperatorError {
    /// Refuses a request for a reason that does not concern a single argument.
    pub fn invalid(text: impl Into<String>) -> Self {
        OperatorError::Invalid(Refused::from(text))
    }

    /// Refuses a request that may succeed later.
    pub fn try_again(text: impl Into<String>) -> Self {
        let refused = Refused::from(text);
        OperatorError::Invalid(Refused { code: RefusalCode::TryAgain, ..refused })
    }

    /// Refuses a request because of one argument.
    pub fn at(
        argument: impl Into<ArgumentName>,
        code: RefusalCode,
        text: impl Into<String>,
    ) -> Self {
        OperatorError::Invalid(Refused::at(argument, code, text))
    }

    /// Whether this refuses a request because of this argument.
    pub fn is_at(&self, field: &str) -> bool {
        let OperatorError::Invalid(refused) = self else { return false };
        refused.argument.as_ref().is_some_and(|argument| argument.field == field)
    }

    /// Returns the error for a change whose author has lost a right while the request was on its way.
    pub(crate) fn lost_right() -> Self {
        OperatorError::Denied(
            "nothing was changed: your role was changed while the form was sent. Reload the page"
                .to_owned(),
        )
    }
}

impl Display for OperatorError {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            OperatorError::Ledger(error) => return error.fmt(out),
            OperatorError::Store(StoreError::Unavailable) => {
                "the store did not answer, or refused the request"
            }
            OperatorError::Store(StoreError::Busy) => "the store is busy: try again in a moment",
            OperatorError::Store(StoreError::Damaged(problem))
            | OperatorError::Repeated(problem)
            | OperatorError::Denied(problem)
            | OperatorError::Invalid(Refused { text: problem, .. }) => problem,
        })
    }
}

impl Error for OperatorError {}

impl From<Refused> for OperatorError {
    fn from(refused: Refused) -> Self {
        OperatorError::Invalid(refused)
    }
}

impl From<StoreError> for OperatorError {
    fn from(error: StoreError) -> Self {
        OperatorError::Store(error)
    }
}

impl From<LedgerError> for OperatorError {
    fn from(error: LedgerError) -> Self {
        OperatorError::Ledger(error)
    }
}

/// Converts a JSON error. Such an error occurs when a record cannot be encoded, or when input breaks a rule of
/// its type.
impl From<serde_json::Error> for OperatorError {
    fn from(error: serde_json::Error) -> Self {
        OperatorError::invalid(without_position(&error))
    }
}

/// Returns the text of an error without its line and column. They are of no help, because a record has only
/// one line.
pub(crate) fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.as_str(), |(problem, _)| problem).to_owned()
}
