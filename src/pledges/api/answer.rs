//! Interprets the service's answer for a client, from its status and body.

use super::extract::{Extracted, Mismatch, extract};
use super::names::header;
use super::problem;
use super::problem::Operation;
use crate::pledges::schema::{CREATED, ERROR, Kind, RETRIEVED};
use crate::pledges::validate::number::ToDouble;
use strum::IntoStaticStr;

/// The error for an answer that does not contain the requested transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerError {
    pub reason: ErrorReason,
    /// The `error` member of a body in the contract's error shape (§7).
    pub error: Option<String>,
    /// The problem and how to solve it, in lower case and without a full stop.
    pub message: String,
}

/// The kinds of errors that the contract distinguishes, and one for all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
pub enum ErrorReason {
    /// The API key is missing or invalid. The client recognises this by the status 401.
    #[strum(to_string = "authentication_failed")]
    Authentication,
    /// No such transaction exists. The client recognises this by the body, because the contract does not
    /// state a status for it.
    #[strum(to_string = "not_found")]
    NotFound,
    /// The idempotency key has recorded a transaction with another payload. The client recognises this by the
    /// status 422 and the body, because a service may send 422 for other reasons.
    #[strum(to_string = "idempotency_key_reused")]
    KeyReused,
    /// Any other error.
    #[strum(to_string = "api_error")]
    Other,
}

/// Interprets an answer. Returns the transaction's `charge.amount` in the contract's form.
///
/// # Errors
/// If the answer is an error, or its transaction breaks the contract.
pub fn read(
    operation: Operation,
    status: u16,
    body: &[u8],
    to_double: ToDouble,
) -> Result<String, AnswerError> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body); // a byte order mark
    let extract = |kind| extract(body, kind, to_double);
    let answer_error = || answer_error(operation, status, extract(&ERROR_BODY));
    if !(200..300).contains(&status) {
        return Err(answer_error());
    }
    let transaction = match operation {
        Operation::Create => &CREATED_BODY,
        Operation::Get => &RETRIEVED_BODY,
    };
    let amount = extract(transaction).and_then(|body| body.amount.ok_or_else(Mismatch::of_amount));
    amount.map_err(|mismatch| match answer_error() {
        documented @ AnswerError { reason: ErrorReason::NotFound, .. } => documented,
        other => AnswerError { message: not_the_contract(status, &mismatch), ..other },
    })
}

static CREATED_BODY: Kind = Kind::Object(&CREATED);
static RETRIEVED_BODY: Kind = Kind::Object(&RETRIEVED);
static ERROR_BODY: Kind = Kind::Object(&ERROR);

fn answer_error(
    operation: Operation,
    status: u16,
    body: Result<Extracted, Mismatch>,
) -> AnswerError {
    // A body without a valid `error` does not have the contract's error shape.
    let body = body.ok().filter(|body| body.error.is_some());
    let reason = reason(operation, status, body.as_ref());
    let message = message(reason, status, body.as_ref());
    let error = body.and_then(|body| body.error);
    AnswerError { reason, error, message }
}

fn reason(operation: Operation, status: u16, body: Option<&Extracted>) -> ErrorReason {
    let error = body.and_then(|body| body.error.as_deref());
    match (operation, status, error) {
        (Operation::Get, _, Some(problem::TRANSACTION_NOT_FOUND)) => ErrorReason::NotFound,
        (Operation::Create, 422, Some(problem::IDEMPOTENCY_KEY_REUSED)) => ErrorReason::KeyReused,
        (_, 401, _) => ErrorReason::Authentication,
        _ => ErrorReason::Other,
    }
}

const NO_KEY: &str = "the service did not accept the API key";
const KEY_REUSED: &str = "this idempotency key has already recorded a transaction with other content; do \
                          not send this request again with another key, because that would record a \
                          second transaction";
const NO_UNIT: &str = "the service did not accept the API key for this unit; a team-level key needs \
                       the ID of one of its team's units as the option `unitId`";

fn message(reason: ErrorReason, status: u16, body: Option<&Extracted>) -> String {
    let words = body.map(words).unwrap_or_default();
    match (reason, status) {
        (ErrorReason::NotFound, _) => "there is no pledge transaction with this ID".to_owned(),
        // Without the service's text, which suggests another key.
        (ErrorReason::KeyReused, _) => KEY_REUSED.to_owned(),
        (ErrorReason::Authentication, _) if body.is_some_and(names_unit_header) => {
            [NO_UNIT, &words].concat()
        }
        (ErrorReason::Authentication, _) => [NO_KEY, &words].concat(),
        // A browser reports a redirect as status 0.
        (ErrorReason::Other, 0 | 300..400) => {
            "the service answered with a redirect; set `baseUrl` to the address behind it"
                .to_owned()
        }
        (ErrorReason::Other, _) if body.is_none() => {
            answered(status, " without a body of the contract's error shape")
        }
        (ErrorReason::Other, _) => answered(status, &words),
    }
}

/// Returns whether an error message names the header `X-Service-Unit-Id`. Such a message needs an
/// explanation, because users of the client set this header by an option.
fn names_unit_header(body: &Extracted) -> bool {
    let text = body.message.as_deref().unwrap_or_default().as_bytes();
    text.windows(header::UNIT_ID.len())
        .any(|name| name.eq_ignore_ascii_case(header::UNIT_ID.as_bytes()))
}

fn answered(status: u16, how: &str) -> String {
    ["the service answered ", itoa::Buffer::new().format(u32::from(status)), how].concat()
}

/// An error message quotes at most this many characters of the service's own text.
const MAX_WORDS: usize = 1_000;

fn words(body: &Extracted) -> String {
    let mut words = String::new();
    // The `error` in the 401 of a create request is the string "true" (§7).
    let error = body.error.iter().filter(|error| *error != "true");
    for text in error.chain(&body.message) {
        words += ": ";
        words += text;
    }
    words.truncate(words.char_indices().nth(MAX_WORDS).map_or(words.len(), |(end, _)| end));
    words
}

fn not_the_contract(status: u16, mismatch: &Mismatch) -> String {
    let place = match mismatch.pointer.as_str() {
        "" => "the body".to_owned(),
        pointer => ["`", pointer, "`"].concat(),
    };
    let how = [" with a body that is not the contract's: ", &place, " must be ", mismatch.expected];
    answered(status, &how.concat())
}
