//! Handles one call of the client: builds the head of its requests, interprets responses, and decides about
//! retries.

use super::js::{ClientCall, Reply, random, to_double};
use crate::pledges::api::answer;
use crate::pledges::api::answer::ErrorReason;
use crate::pledges::api::{Credentials, InvalidArgument, Operation, RequestHead};
use crate::pledges::idempotency::IdempotencyKey;
use crate::pledges::retry::{Environment, Failure, Next, Policy, RetriedRequest, RetryAfter};
use js_sys::Date;
use serde::{Serialize, Serializer};

/// The kind of a response. A call can also end without a response, for example by a timeout: JavaScript handles these
/// cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallKind {
    Transaction,
    /// The response is an error, or its body does not match the contract.
    Refused(ErrorReason),
}

/// The result of an attempt. `call.ts` completes it, and `client.ts` converts it to a transaction or an error.
#[derive(Default)]
pub struct Conclusion {
    /// The kind of the response; `None` if there was no response.
    kind: Option<CallKind>,
    /// The `charge.amount` of a transaction, or the message of an error.
    text: String,
    /// The member `error` of a response body in the error shape (§7).
    error: Option<String>,
    next: Next,
}

/// Serializes the conclusion as an array. An object with named members would need code for maps in
/// serde-wasm-bindgen, which adds 1.4 KB after Brotli compression.
impl Serialize for Conclusion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let kind = self.kind.map(|kind| match kind {
            CallKind::Transaction => "transaction",
            CallKind::Refused(reason) => reason.into(),
        });
        let Next { wait_ms, retry_after_ms, is_withheld, may_be_recorded } = self.next;
        let next = (wait_ms, retry_after_ms, is_withheld, may_be_recorded);
        (kind, &self.text, &self.error, next).serialize(serializer)
    }
}

/// Returns the head of a call's requests: the method, the path and the headers.
///
/// # Errors
/// If an argument cannot be sent.
pub fn head(call: &ClientCall) -> Result<RequestHead, InvalidArgument> {
    let (api_key, unit_id) = (call.api_key(), call.unit_id());
    let credentials = Credentials::new(&api_key, unit_id.as_deref())?;
    match operation(call) {
        Operation::Get => {
            RequestHead::get(credentials, &call.subject().as_string().unwrap_or_default())
        }
        Operation::Create => {
            let key = call.idempotency_key().map(IdempotencyKey::new);
            let key = key.map(|key| key.ok_or(InvalidArgument::IdempotencyKey)).transpose()?;
            Ok(RequestHead::create(credentials, key.as_ref()))
        }
    }
}

/// Determines what a response means, and decides whether the request is retried.
pub fn conclude(
    call: &ClientCall,
    reply: Option<&Reply>,
    is_unsent: bool,
    retries: u32,
) -> Conclusion {
    let conclusion = reply.map(|reply| read(operation(call), reply)).unwrap_or_default();
    let retry_after = reply.and_then(Reply::retry_after);
    let date = reply.and_then(Reply::date);
    let failure = match (conclusion.kind, reply) {
        (Some(CallKind::Refused(ErrorReason::Other)), Some(reply)) => Failure::Status {
            status: reply.status(),
            retry_after: retry_after
                .as_deref()
                .map(|text| RetryAfter { text, date: date.as_deref() }),
            is_service: conclusion.error.is_some(),
        },
        (None, _) if is_unsent => Failure::Unsent,
        (None, _) => Failure::Unanswered,
        _ => return conclusion,
    };
    let environment = Environment { now_ms: Date::now() as u64, random: random(), http_date_ms };
    Conclusion { next: policy(call).next(retries, failure, environment), ..conclusion }
}

fn operation(call: &ClientCall) -> Operation {
    if call.is_create() { Operation::Create } else { Operation::Get }
}

fn read(operation: Operation, reply: &Reply) -> Conclusion {
    let (kind, text, error) =
        match answer::read(operation, reply.status(), &reply.body(), to_double) {
            Ok(amount) => (CallKind::Transaction, amount, None),
            Err(error) => (CallKind::Refused(error.reason), error.message, error.error),
        };
    Conclusion { kind: Some(kind), text, error, ..Conclusion::default() }
}

fn policy(call: &ClientCall) -> Policy {
    let request = match operation(call) {
        Operation::Get => RetriedRequest::Get,
        Operation::Create => RetriedRequest::Create {
            has_key: call.idempotency_key().is_some(),
            retry_creates: call.retry_creates(),
        },
    };
    Policy { max_retries: call.max_retries(), request }
}

/// Parses an HTTP date. Returns milliseconds since 1970.
///
/// Accepts only the format of `toUTCString`, although `Date.parse` accepts many others.
fn http_date_ms(text: &str) -> Option<u64> {
    let date = Date::new(&text.into());
    let ms = date.get_time(); // NaN for other texts, `Invalid Date` among them
    (ms.is_finite() && date.to_utc_string() == text).then_some(ms as u64)
}
