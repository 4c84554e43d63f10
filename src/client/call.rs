//! One call of the client's: attempts, and the waits between them.

use super::attempt::{AttemptError, attempt};
use super::limits::{self, End, Signal};
use crate::api::answer::{self, AnswerError, Reason};
use crate::api::{Credentials, InvalidArgument, Operation, RequestHead};
use crate::idempotency::IdempotencyKey;
use crate::retry::{Failure, Moment, Policy};
use serde::Serialize;
use serde_wasm_bindgen::preserve;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};
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

    /// An answer, read to its end or to the bound of its kind.
    pub type Reply;
    #[wasm_bindgen(method, getter)]
    fn status(this: &Reply) -> u16;
    #[wasm_bindgen(method, getter, js_name = retryAfter)]
    fn retry_after(this: &Reply) -> Option<String>;
    #[wasm_bindgen(method, getter)]
    fn body(this: &Reply) -> Vec<u8>;

    #[wasm_bindgen(js_namespace = Date)]
    fn now() -> f64;
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

/// What a call came to: `conclude` in `client.js` reads it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Conclusion {
    kind: &'static str,
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

/// How a call ended.
enum Outcome {
    /// With the transaction and its `charge.amount`.
    Transaction(Reply, String),
    /// With another answer.
    Refused(Reply, AnswerError),
    /// Without an answer.
    Failed(AttemptError),
    /// Before anything was sent.
    InvalidArgument(InvalidArgument),
}

impl Outcome {
    fn of(operation: Operation, reply: Result<Reply, AttemptError>) -> Self {
        let reply = match reply {
            Ok(reply) => reply,
            Err(error) => return Outcome::Failed(error),
        };
        match answer::read(operation, reply.status(), &reply.body()) {
            Ok(amount) => Outcome::Transaction(reply, amount),
            Err(error) => Outcome::Refused(reply, error),
        }
    }

    fn retry_after(&self) -> Option<String> {
        match self {
            Outcome::Refused(reply, _) => reply.retry_after(),
            _ => None,
        }
    }

    /// `None` for what a repeat would not change.
    fn failure<'r>(&self, retry_after: Option<&'r str>) -> Option<Failure<'r>> {
        match self {
            Outcome::Refused(reply, AnswerError { reason: Reason::Other, .. }) => {
                Some(Failure::Status { status: reply.status(), retry_after })
            }
            Outcome::Failed(AttemptError::TimedOut | AttemptError::Connection(_)) => {
                Some(Failure::Unanswered)
            }
            _ => None,
        }
    }

    const fn kind(&self) -> &'static str {
        match self {
            Outcome::Transaction(..) => "transaction",
            Outcome::Refused(_, error) => match error.reason {
                Reason::Authentication => "authentication_failed",
                Reason::NotFound => "not_found",
                Reason::Other => "api_error",
            },
            Outcome::Failed(AttemptError::Aborted) => "aborted",
            Outcome::Failed(AttemptError::TimedOut) => "timed_out",
            Outcome::Failed(AttemptError::Connection(_)) => "connection",
            Outcome::InvalidArgument(_) => "invalid_argument",
        }
    }

    fn into_conclusion(self) -> Conclusion {
        let kind = self.kind();
        let (text, error, part) = match self {
            Outcome::Transaction(reply, amount) => (amount, None, reply.into()),
            Outcome::Refused(reply, AnswerError { message, error, .. }) => {
                (message, error, reply.into())
            }
            Outcome::Failed(AttemptError::Connection(cause)) => (String::new(), None, cause),
            Outcome::Failed(_) => Default::default(),
            Outcome::InvalidArgument(argument) => {
                (argument.message().to_owned(), None, JsValue::UNDEFINED)
            }
        };
        Conclusion {
            kind,
            text,
            error,
            part,
            url: String::new(),
            idempotency_key: None,
            retries: 0,
        }
    }
}

/// Sends the request until there is an answer, or repeating it makes no sense. `subject` is the
/// body of a create, the ID of a get.
pub async fn run(call: &Call, operation: Operation, subject: JsValue) -> Conclusion {
    let request = match PreparedRequest::new(call, operation, subject) {
        Ok(request) => request,
        Err(argument) => return Outcome::InvalidArgument(argument).into_conclusion(),
    };
    let (outcome, retries) = request.run(call, operation).await;
    let url = call.url(&request.head);
    let idempotency_key = request.idempotency_key;
    Conclusion { url, idempotency_key, retries, ..outcome.into_conclusion() }
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

    /// Gives the number of repeats, too.
    async fn run(&self, call: &Call, operation: Operation) -> (Outcome, u32) {
        let mut retries = 0;
        loop {
            let reply = attempt(call, &self.head, self.body.as_ref()).await;
            let outcome = Outcome::of(operation, reply);
            let Some(wait_ms) = self.wait_ms(retries, &outcome) else { return (outcome, retries) };
            if limits::wait(call.signal(), wait_ms).await == End::Aborted {
                return (Outcome::Failed(AttemptError::Aborted), retries);
            }
            retries += 1;
        }
    }

    fn wait_ms(&self, retries: u32, outcome: &Outcome) -> Option<u32> {
        let retry_after = outcome.retry_after();
        let moment = Moment { now_ms: now() as u64, random: random() };
        self.policy.wait_ms(retries, outcome.failure(retry_after.as_deref())?, moment)
    }
}

/// 128 random bits, hexadecimal; `None` where there is no source of randomness.
fn new_key() -> Option<String> {
    let mut bytes = [0; 16];
    get_random_values(&mut bytes).ok()?;
    Some(base16ct::lower::encode_string(&bytes))
}
