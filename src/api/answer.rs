//! What an answer means to a client, by its status and body.

use super::shape::{self, Mismatch, Taking};
use super::{Operation, header, problem};
use serde::Serialize;

/// An answer that is not the transaction that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerError {
    /// What a client does about it.
    pub reason: Reason,
    /// The `error` of a body in the contract's error shape (§7).
    pub error: Option<String>,
    /// What is wrong and what to do, lower case and without a full stop.
    pub message: String,
}

/// The reasons that the contract distinguishes, and the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Missing or invalid key: known by the status 401.
    Authentication,
    /// No such transaction: known by the body, as the contract does not show its status.
    NotFound,
    /// Anything else.
    Other,
}

/// Reads an answer: gives `charge.amount` of a transaction as the contract writes it.
///
/// # Errors
/// What the service answered instead of a transaction, or what is wrong with the one that it sent.
pub fn read(operation: Operation, status: u16, body: &[u8]) -> Result<String, AnswerError> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body); // a byte order mark
    if !(200..300).contains(&status) {
        return Err(answer_error(operation, status, body));
    }
    let shape = match operation {
        Operation::Create => &shape::CREATED,
        Operation::Get => &shape::RETRIEVED,
    };
    shape.read(body).map(|taking| taking.amount).map_err(|mismatch| {
        match answer_error(operation, status, body) {
            documented @ AnswerError { reason: Reason::NotFound, .. } => documented,
            other => AnswerError { message: not_the_contract(status, &mismatch), ..other },
        }
    })
}

fn answer_error(operation: Operation, status: u16, body: &[u8]) -> AnswerError {
    let body = shape::ERROR.read(body).ok();
    let reason = reason(operation, status, body.as_ref());
    let message = message(reason, status, body.as_ref());
    AnswerError { reason, error: body.map(|body| body.error.into_owned()), message }
}

fn reason(operation: Operation, status: u16, body: Option<&Taking<'_>>) -> Reason {
    let not_found = body.is_some_and(|body| body.error == problem::TRANSACTION_NOT_FOUND);
    match (operation, status) {
        (Operation::Get, _) if not_found => Reason::NotFound,
        (_, 401) => Reason::Authentication,
        _ => Reason::Other,
    }
}

const NO_KEY: &str = "the service did not accept the API key";
const NO_UNIT: &str = "the service did not accept the API key for this unit; a team-level key needs \
                       the ID of one of its team's units as the option `unitId`";

fn message(reason: Reason, status: u16, body: Option<&Taking<'_>>) -> String {
    let words = body.map(words).unwrap_or_default();
    match (reason, status) {
        (Reason::NotFound, _) => "there is no pledge transaction with this ID".to_owned(),
        (Reason::Authentication, _) if body.is_some_and(names_unit_header) => {
            [NO_UNIT, &words].concat()
        }
        (Reason::Authentication, _) => [NO_KEY, &words].concat(),
        // A browser shows a page no redirect's status.
        (Reason::Other, 0 | 300..400) => {
            "the service answered with a redirect; set `baseUrl` to the address behind it"
                .to_owned()
        }
        (Reason::Other, _) if body.is_none() => {
            answered(status, " without a body of the contract's error shape")
        }
        (Reason::Other, _) => answered(status, &words),
    }
}

/// Whether an answer asks for the header of the unit, which a caller of the client knows as an
/// option.
fn names_unit_header(body: &Taking<'_>) -> bool {
    body.message.as_deref().is_some_and(|text| text.to_ascii_lowercase().contains(header::UNIT_ID))
}

fn answered(status: u16, how: &str) -> String {
    ["the service answered ", itoa::Buffer::new().format(status), how].concat()
}

/// Most characters of the service's own text in a message.
const MAX_WORDS: usize = 1_000;

fn words(body: &Taking<'_>) -> String {
    // The `error` of a create's 401 is the string "true" (§7).
    let error = Some(&*body.error).filter(|error| *error != "true");
    let words = [error, body.message.as_deref()].into_iter().flatten();
    let words: String = words.flat_map(|words| [": ", words]).collect();
    words.chars().take(MAX_WORDS).collect()
}

fn not_the_contract(status: u16, mismatch: &Mismatch) -> String {
    let place = match mismatch.pointer.as_str() {
        "" => "the body".to_owned(),
        pointer => ["`", pointer, "`"].concat(),
    };
    let how = [" with a body that is not the contract's: ", &place, " must be ", mismatch.expected];
    answered(status, &how.concat())
}
