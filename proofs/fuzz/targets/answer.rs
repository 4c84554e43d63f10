//! The answers of a service, as the client reads them: an operation, a status and a body.

use impact_pledge::api::Operation;
use impact_pledge::api::answer::{self, Reason};
use impact_pledge::pledge::{PledgeTransaction, RetrievedPledgeTransaction};
use impact_pledge::validate::number::to_double;
use serde_json::Value;

const STATUSES: [u16; 16] =
    [200, 200, 200, 200, 201, 204, 0, 301, 400, 401, 404, 413, 422, 429, 500, 503];
const MARK: &[u8] = b"\xef\xbb\xbf";

/// The first byte is the operation and the status.
pub fn run(input: &[u8]) {
    let Some((first, body)) = input.split_first() else { return };
    let operation = if first & 16 == 0 { Operation::Create } else { Operation::Get };
    let status = STATUSES[usize::from(first & 15)];
    let json = body.strip_prefix(MARK).unwrap_or(body);
    match answer::read(operation, status, body, to_double) {
        Ok(amount) => {
            assert!((200..300).contains(&status));
            is_money(&amount);
            is_transaction(operation, json);
        }
        Err(error) => {
            assert!(error.message.chars().count() <= 1_200, "{}", error.message);
            assert_eq!(error.reason == Reason::NotFound, is_not_found(operation, json));
            assert!(error.reason != Reason::Authentication || status == 401);
            let is_text = str::from_utf8(json).is_ok(); // serde_json passes over bytes that are not
            let is_mistaken =
                (200..300).contains(&status) && is_text && record(operation, json).is_ok();
            assert!(!is_mistaken || is_more_than_a_record_knows(&error.message, json));
        }
    }
}

fn is_money(amount: &str) {
    let (whole, cents) = amount.strip_prefix('-').unwrap_or(amount).split_once('.').unwrap();
    assert!(!whole.is_empty() && cents.len() == 2, "{amount}");
    assert!([whole, cents].concat().bytes().all(|byte| byte.is_ascii_digit()), "{amount}");
    assert!(whole == "0" || !whole.starts_with('0'), "{amount}");
}

/// An answer that the client accepts can be read as a record by the service. serde_json reads no half of a surrogate pair.
fn is_transaction(operation: Operation, json: &[u8]) {
    let has_escapes = json.windows(2).any(|escape| escape == b"\\u");
    assert!(has_escapes || record(operation, json).is_ok(), "{:?}", record(operation, json));
}

fn record(operation: Operation, json: &[u8]) -> serde_json::Result<()> {
    match operation {
        Operation::Create => serde_json::from_slice::<PledgeTransaction<'_>>(json).map(drop),
        Operation::Get => serde_json::from_slice::<RetrievedPledgeTransaction<'_>>(json).map(drop),
    }
}

/// A record's amount is what the service wrote itself, and what it passes over may be deep.
fn is_more_than_a_record_knows(message: &str, json: &[u8]) -> bool {
    let brackets = json.iter().filter(|byte| b"[{".contains(byte)).count();
    message.contains("`/charge/amount`") || brackets >= 60
}

/// §7: by its body alone, whatever the status, unless it is a transaction.
fn is_not_found(operation: Operation, json: &[u8]) -> bool {
    let body: Value = serde_json::from_slice(json).unwrap_or_default();
    operation == Operation::Get && body["error"] == "Pledge transaction not found"
}
