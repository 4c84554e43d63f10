//! One call of the client's: attempts, and the waits between them.

use super::attempt::{AttemptError, attempt};
use super::limits::{self, Signal};
use crate::api::answer::{self, Reason};
use crate::api::{Credentials, InvalidArgument, Operation, RequestHead};
use crate::idempotency::IdempotencyKey;
use crate::retry::{Failure, Moment, Policy};
use js_sys::Date;
use serde::Serialize;
use serde_wasm_bindgen::preserve;
use wasm_bindgen::prelude::{JsCast as _, JsValue, wasm_bindgen};
use web_sys::AbortSignal;

#[wasm_bindgen]
extern "C" {
    /// One call with its options, as `call.js` of the package describes it.
    pub type Call;
    #[wasm_bindgen(method, getter, js_name = apiKey)]
    fn api_key(this: &Call) -> String;
    #[wasm_bindgen(method, getter, js_name = baseUrl)]
    fn base_url(this: &Call) -> String;
    #[wasm_bindgen(method, getter, js_name = unitId)]
    fn unit_id(this: &Call) -> Option<String>;
    #[wasm_bindgen(method, getter, js_name = idempotencyKey)]
    fn idempotency_key(this: &Call) -> Option<String>;
    #[wasm_bindgen(method, getter, js_name = timeoutMs)]
    pub fn timeout_ms(this: &Call) -> u32;
    #[wasm_bindgen(method, getter, js_name = maxRetries)]
    fn max_retries(this: &Call) -> u32;
    #[wasm_bindgen(method, getter, js_name = safeRepeats)]
    fn safe_repeats(this: &Call) -> bool;
    #[wasm_bindgen(method, getter)]
    pub fn signal(this: &Call) -> Option<Signal>;
    /// Whether the caller gave a `fetch` of their own.
    #[wasm_bindgen(method, getter, js_name = hasOwnFetch)]
    pub fn has_own_fetch(this: &Call) -> bool;
    /// Whether `fetch` here takes the signals of the `AbortController` here.
    #[wasm_bindgen(method, getter, js_name = takesSignal)]
    pub fn takes_signal(this: &Call) -> bool;
    /// Sends a request and reads its answer to the end: resolves to a [`Reply`].
    #[wasm_bindgen(method, catch)]
    pub fn exchange(
        this: &Call,
        input: &JsValue,
        init: &JsValue,
        signal: &AbortSignal,
    ) -> Result<js_sys::Promise, JsValue>;

    /// Asks whether there is time for another attempt after so many milliseconds, and reports it.
    #[wasm_bindgen(method)]
    fn retries(this: &Call, wait_ms: u32) -> bool;

    /// An answer, read to its end or to the bound of its kind.
    pub type Reply;
    #[wasm_bindgen(method, getter)]
    fn status(this: &Reply) -> u16;
    #[wasm_bindgen(method, getter, js_name = retryAfter)]
    fn retry_after(this: &Reply) -> Option<String>;
    #[wasm_bindgen(method, getter)]
    fn body(this: &Reply) -> Vec<u8>;

    #[wasm_bindgen(js_name = Number)]
    fn to_double(text: &str) -> f64;
    #[wasm_bindgen(js_namespace = Math)]
    fn random() -> f64;
    #[wasm_bindgen(catch, js_namespace = crypto, js_name = getRandomValues)]
    fn get_random_values(bytes: &mut [u8]) -> Result<(), JsValue>;
}

impl Call {
    pub fn url(&self, head: &RequestHead) -> String {
        self.base_url() + &head.path
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Transaction,
    Aborted,
    TimedOut,
    Connection,
    /// Before anything was sent.
    InvalidArgument,
    /// With another answer.
    #[serde(untagged)]
    Refused(Reason),
}

/// What a call came to: `conclude` in `client.js` reads it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Conclusion {
    kind: Outcome,
    /// `charge.amount` of a transaction, or what is wrong and what to do.
    text: String,
    /// The `error` of an answer in the contract's error shape.
    error: Option<String>,
    /// The [`Reply`], or what the connection failed with.
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

    fn of_attempt(operation: Operation, reply: Result<Reply, AttemptError>) -> Self {
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
            AttemptError::Aborted => (Outcome::Aborted, JsValue::UNDEFINED),
            AttemptError::TimedOut => (Outcome::TimedOut, JsValue::UNDEFINED),
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

/// Sends the request until there is an answer, or repeating it makes no sense. `subject` is the
/// body of a create, the ID of a get.
pub async fn run(call: &Call, operation: Operation, subject: JsValue) -> Conclusion {
    let request = match PreparedRequest::new(call, operation, subject) {
        Ok(request) => request,
        Err(argument) => return argument.into(),
    };
    let conclusion = request.run(call, operation).await;
    let url = call.url(&request.head);
    Conclusion { url, idempotency_key: request.idempotency_key, ..conclusion }
}

/// What each attempt sends, and whether there may be more than one.
struct PreparedRequest {
    head: RequestHead,
    body: Option<JsValue>,
    idempotency_key: Option<String>,
    policy: Policy,
}

impl PreparedRequest {
    fn new(call: &Call, operation: Operation, subject: JsValue) -> Result<Self, InvalidArgument> {
        let (api_key, unit_id, max_retries) = (call.api_key(), call.unit_id(), call.max_retries());
        let credentials = Credentials::new(&api_key, unit_id.as_deref())?;
        if operation == Operation::Get {
            let head = RequestHead::get(credentials, &subject.as_string().unwrap_or_default())?;
            let policy = Policy { max_retries, repeatable: true };
            return Ok(PreparedRequest { head, body: None, idempotency_key: None, policy });
        }
        let text = call.idempotency_key().or_else(|| call.safe_repeats().then(new_key).flatten());
        let key = text.clone().map(IdempotencyKey::new);
        let key = key.map(|key| key.ok_or(InvalidArgument::IdempotencyKey)).transpose()?;
        let head = RequestHead::create(credentials, key.as_ref());
        // A key of the caller's own does not mean that the service honours it.
        let repeatable = call.safe_repeats() && text.is_some();
        let policy = Policy { max_retries, repeatable };
        Ok(PreparedRequest { head, body: Some(subject), idempotency_key: text, policy })
    }

    async fn run(&self, call: &Call, operation: Operation) -> Conclusion {
        let mut retries = 0;
        loop {
            let reply = attempt(call, &self.head, self.body.as_ref()).await;
            let conclusion = Conclusion { retries, ..Conclusion::of_attempt(operation, reply) };
            let wait_ms = self.wait_ms(&conclusion).filter(|wait_ms| call.retries(*wait_ms));
            let Some(wait_ms) = wait_ms else { return conclusion };
            if let aborted @ AttemptError::Aborted = limits::wait(call.signal(), wait_ms).await {
                return Conclusion { retries, ..aborted.into() };
            }
            retries += 1;
        }
    }

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
        let moment = Moment { now_ms: Date::now() as u64, random: random(), http_date_ms };
        self.policy.wait_ms(conclusion.retries, failure, moment)
    }
}

/// An HTTP date is what `toUTCString` writes; `Date.parse` alone would take many other texts.
fn http_date_ms(text: &str) -> Option<u64> {
    let date = Date::new(&text.into());
    let ms = date.get_time(); // NaN for most texts, `Invalid Date` among them
    (ms.is_finite() && date.to_utc_string() == text).then_some(ms as u64)
}

/// 128 random bits, hexadecimal; `None` where there is no source of randomness.
fn new_key() -> Option<String> {
    let mut bytes = [0; 16];
    get_random_values(&mut bytes).ok()?;
    Some(base16ct::lower::encode_string(&bytes))
}
