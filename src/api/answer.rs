//! What an answer of the service's means to a client, by its status and body.

use super::shape::{self, Mismatch, Taking};
use super::{Operation, problem};

/// An answer that is not the transaction that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What a client does about it.
    pub kind: Kind,
    /// The `error` of a body in the contract's error shape (§7).
    pub error: Option<String>,
    /// What is wrong and what to do, lower case and without a full stop.
    pub message: String,
}

/// The kinds of refusal that the contract tells apart, and the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
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
/// What the service said instead of a transaction, or what is wrong with the one that it sent.
pub fn read(operation: Operation, status: u16, body: &[u8]) -> Result<String, Refusal> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body); // a byte order mark
    if !(200..300).contains(&status) {
        return Err(refusal(operation, status, body));
    }
    let shape = match operation {
        Operation::Create => &shape::CREATED,
        Operation::Get => &shape::RETRIEVED,
    };
    shape.read(body).map(|taking| taking.amount).map_err(|mismatch| {
        match refusal(operation, status, body) {
            documented @ Refusal { kind: Kind::NotFound, .. } => documented,
            other => Refusal { message: not_the_contract(status, &mismatch), ..other },
        }
    })
}

fn refusal(operation: Operation, status: u16, body: &[u8]) -> Refusal {
    let body = shape::ERROR.read(body).ok();
    let kind = kind(operation, status, body.as_ref());
    let message = message(kind, status, body.as_ref());
    Refusal { kind, error: body.map(|body| body.error.into_owned()), message }
}

fn kind(operation: Operation, status: u16, body: Option<&Taking<'_>>) -> Kind {
    let not_found = body.is_some_and(|body| body.error == problem::TRANSACTION_NOT_FOUND);
    match (operation, status) {
        (Operation::Get, _) if not_found => Kind::NotFound,
        (_, 401) => Kind::Authentication,
        _ => Kind::Other,
    }
}

fn message(kind: Kind, status: u16, body: Option<&Taking<'_>>) -> String {
    let said = body.map(said).unwrap_or_default();
    match (kind, status) {
        (Kind::NotFound, _) => "there is no pledge transaction with this ID".to_owned(),
        (Kind::Authentication, _) => ["the service did not accept the API key", &said].concat(),
        // A page of a browser's is not told a redirect's status.
        (Kind::Other, 0 | 300..400) => {
            "the service answered with a redirect; set `baseUrl` to the address behind it"
                .to_owned()
        }
        (Kind::Other, _) if body.is_none() => {
            answered(status, " without a body of the contract's error shape")
        }
        (Kind::Other, _) => answered(status, &said),
    }
}

fn answered(status: u16, how: &str) -> String {
    ["the service answered ", itoa::Buffer::new().format(status), how].concat()
}

/// Most characters of the service's words in a message.
const MAX_SAID: usize = 1_000;

fn said(body: &Taking<'_>) -> String {
    let words = match &body.message {
        Some(message) => [": ", &body.error, ": ", message].concat(),
        None => [": ", &body.error].concat(),
    };
    words.chars().take(MAX_SAID).collect()
}

fn not_the_contract(status: u16, mismatch: &Mismatch) -> String {
    let place = match mismatch.pointer.as_str() {
        "" => "the body".to_owned(),
        pointer => ["`", pointer, "`"].concat(),
    };
    let how = [" with a body that is not the contract's: ", &place, " must be ", mismatch.expected];
    answered(status, &how.concat())
}
