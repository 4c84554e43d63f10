//! One call: attempts, and the waits between them.

use super::attempt::{AttemptError, attempt};
use super::js::{Call, Reply, get_random_values, random, to_double};
use super::limits::{self, Interruption};
use crate::api::answer::{self, Reason};
use crate::api::{Credentials, InvalidArgument, Operation, RequestHead};
use crate::idempotency::IdempotencyKey;
use crate::retry::{Environment, Failure, Policy};
use js_sys::Date;
use serde::Serialize;
use serde_wasm_bindgen::preserve;
use wasm_bindgen::prelude::{JsCast as _, JsValue};

/// The kind of a [`Conclusion`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Transaction,
    Aborted,
    TimedOut,
    Connection,
    /// An argument was refused before anything was sent.
    InvalidArgument,
    /// The answer was no transaction.
    #[serde(untagged)]
    Refused(Reason),
}

/// The result of a call. `conclude` in `client.ts` makes a transaction or an error of it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Conclusion {
    kind: Outcome,
    /// The `charge.amount` of a transaction, or the message of an error.
    text: String,
    /// The `error` of an answer's body in the error shape (§7).
    error: Option<String>,
    /// The [`Reply`], or the value that the connection failed with.
    #[serde(with = "preserve")]
    part: JsValue,
    url: String,
    idempotency_key: Option<String>,
    retries: u32,
}

impl Conclusion {
    fn new(kind: Outcome, text: String, part: JsValue) -> Self {
        let (error, url, idempotency_key) = (None, String::new(), None);
        Conclusion { kind, text, error, part, url, idempotency_key, retries: 0 }
    }

    fn from_attempt(operation: Operation, reply: Result<Reply, AttemptError>) -> Self {
        let reply = match reply {
            Ok(reply) => reply,
            Err(error) => return error.into(),
        };
        let answer = answer::read(operation, reply.status(), &reply.body(), to_double);
        let (kind, text, error) = match answer {
            Ok(amount) => (Outcome::Transaction, amount, None),
            Err(error) => (Outcome::Refused(error.reason), error.message, error.error),
        };
        Conclusion { error, ..Conclusion::new(kind, text, reply.into()) }
    }
}

impl From<AttemptError> for Conclusion {
    fn from(error: AttemptError) -> Self {
        let (kind, cause) = match error {
            AttemptError::Interrupted(Interruption::Aborted) => {
                (Outcome::Aborted, JsValue::UNDEFINED)
            }
            AttemptError::Interrupted(Interruption::TimedOut) => {
                (Outcome::TimedOut, JsValue::UNDEFINED)
            }
            AttemptError::Connection(cause) => (Outcome::Connection, cause),
        };
        Conclusion::new(kind, String::new(), cause)
    }
}

impl From<InvalidArgument> for Conclusion {
    fn from(argument: InvalidArgument) -> Self {
        let message = <&str>::from(argument).to_owned();
        Conclusion::new(Outcome::InvalidArgument, message, JsValue::UNDEFINED)
    }
}

/// Sends a request, and repeats it as the call's policy says. `subject` is the body of a create or
/// the ID of a get.
pub async fn run(call: &Call, operation: Operation, subject: JsValue) -> Conclusion {
    let request = match PreparedRequest::new(call, operation, subject) {
        Ok(request) => request,
        Err(argument) => return argument.into(),
    };
    let conclusion = request.run(call, operation).await;
    let url = call.base_url() + &request.head.path;
    Conclusion { url, idempotency_key: request.idempotency_key, ..conclusion }
}

/// The request of every attempt, and the policy of repeats.
struct PreparedRequest {
    head: RequestHead,
    body: Option<JsValue>,
    idempotency_key: Option<String>,
    policy: Policy,
}

impl PreparedRequest {
    fn new(call: &Call, operation: Operation, subject: JsValue) -> Result<Self, InvalidArgument> {
        let (api_key, unit_id) = (call.api_key(), call.unit_id());
        let credentials = Credentials::new(&api_key, unit_id.as_deref())?;
        match operation {
            Operation::Get => Self::get(call, credentials, subject),
            Operation::Create => Self::create(call, credentials, subject),
        }
    }

    fn get(
        call: &Call,
        credentials: Credentials<'_>,
        id: JsValue,
    ) -> Result<Self, InvalidArgument> {
        let head = RequestHead::get(credentials, &id.as_string().unwrap_or_default())?;
        let policy = Policy { max_retries: call.max_retries(), repeatable: true };
        Ok(PreparedRequest { head, body: None, idempotency_key: None, policy })
    }

    fn create(
        call: &Call,
        credentials: Credentials<'_>,
        body: JsValue,
    ) -> Result<Self, InvalidArgument> {
        let text = call.idempotency_key().or_else(|| call.safe_repeats().then(new_key).flatten());
        let key = text.clone().map(IdempotencyKey::new);
        let key = key.map(|key| key.ok_or(InvalidArgument::IdempotencyKey)).transpose()?;
        let head = RequestHead::create(credentials, key.as_ref());
        // The caller's own key alone does not mean that the service honours it.
        let repeatable = call.safe_repeats() && text.is_some();
        let policy = Policy { max_retries: call.max_retries(), repeatable };
        Ok(PreparedRequest { head, body: Some(body), idempotency_key: text, policy })
    }

    async fn run(&self, call: &Call, operation: Operation) -> Conclusion {
        let mut retries = 0;
        loop {
            let reply = attempt(call, &self.head, self.body.as_ref()).await;
            let conclusion = Conclusion { retries, ..Conclusion::from_attempt(operation, reply) };
            let wait_ms = self.wait_ms(&conclusion).filter(|wait_ms| call.may_retry(*wait_ms));
            let Some(wait_ms) = wait_ms else { return conclusion };
            if let aborted @ Interruption::Aborted = limits::wait(call.signal(), wait_ms).await {
                return Conclusion { retries, ..AttemptError::Interrupted(aborted).into() };
            }
            retries += 1;
        }
    }

    /// Returns the milliseconds to wait before the next attempt; `None` if this was the last.
    fn wait_ms(&self, conclusion: &Conclusion) -> Option<u32> {
        let retry_after;
        let failure = match conclusion.kind {
            Outcome::Refused(Reason::Other) => {
                let reply: &Reply = conclusion.part.unchecked_ref();
                retry_after = reply.retry_after();
                Failure::Status { status: reply.status(), retry_after: retry_after.as_deref() }
            }
            Outcome::TimedOut | Outcome::Connection => Failure::Unanswered,
            _ => return None,
        };
        let environment =
            Environment { now_ms: Date::now() as u64, random: random(), http_date_ms };
        self.policy.wait_ms(conclusion.retries, failure, environment)
    }
}

/// Parses an HTTP date. Returns milliseconds since 1970.
///
/// The text must be what `toUTCString` writes: `Date.parse` alone accepts many other texts.
fn http_date_ms(text: &str) -> Option<u64> {
    let date = Date::new(&text.into());
    let ms = date.get_time(); // NaN for other texts, `Invalid Date` among them
    (ms.is_finite() && date.to_utc_string() == text).then_some(ms as u64)
}

/// Generates an idempotency key: 128 random bits in hexadecimal; `None` where the platform has no
/// source of randomness.
fn new_key() -> Option<String> {
    let mut bytes = [0; 16];
    get_random_values(&mut bytes).ok()?;
    Some(base16ct::lower::encode_string(&bytes))
}
