//! One call of the client's: attempts, and the waits between them.

use super::attempt::{Cut, attempt};
use super::limits::{Limits, Signal};
use crate::api::answer::{self, Kind, Refusal};
use crate::api::{Caller, Head, Operation, Unfit};
use crate::idempotency::IdempotencyKey;
use crate::retry::{Failure, Moment, Policy};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

#[wasm_bindgen]
extern "C" {
    /// One call with its options, as `call.js` of the package describes it.
    pub type Call;
    #[wasm_bindgen(method, getter, js_name = apiKey)]
    fn api_key(this: &Call) -> String;
    #[wasm_bindgen(method, getter, js_name = baseUrl)]
    pub fn base_url(this: &Call) -> String;
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
    ) -> Result<js_sys::Promise, JsValue>;
    /// Makes an outcome of the parts that its kind has.
    #[wasm_bindgen(method)]
    fn outcome(
        this: &Call,
        kind: &str,
        text: &str,
        error: Option<String>,
        part: &JsValue,
    ) -> Outcome;

    /// An answer, read to its end or to the bound of its kind.
    pub type Reply;
    #[wasm_bindgen(method, getter)]
    fn status(this: &Reply) -> u16;
    #[wasm_bindgen(method, getter, js_name = retryAfter)]
    fn retry_after(this: &Reply) -> Option<String>;
    #[wasm_bindgen(method, getter)]
    fn body(this: &Reply) -> Vec<u8>;

    /// What a call came to.
    pub type Outcome;
    #[wasm_bindgen(method, setter, js_name = idempotencyKey)]
    fn set_idempotency_key(this: &Outcome, key: Option<String>);
    #[wasm_bindgen(method, setter)]
    fn set_retries(this: &Outcome, retries: u32);

    #[wasm_bindgen(js_namespace = Date)]
    fn now() -> f64;
    #[wasm_bindgen(js_namespace = Math)]
    fn random() -> f64;
    #[wasm_bindgen(catch, js_namespace = crypto, js_name = getRandomValues)]
    fn get_random_values(bytes: &mut [u8]) -> Result<(), JsValue>;
}

/// Asks until there is an answer, or asking again makes no sense. `subject` is the body of a
/// create, the ID of a get.
pub async fn run(call: &Call, operation: Operation, subject: JsValue) -> Outcome {
    let request = match Request::new(call, operation, subject) {
        Ok(request) => request,
        Err(unfit) => return call.outcome("unfit", unfit.message(), None, &JsValue::NULL),
    };
    let mut retries = 0;
    let verdict = loop {
        let verdict =
            Verdict::of(operation, attempt(call, &request.head, request.body.as_ref()).await);
        let Some(wait_ms) = request.wait_ms(retries, &verdict) else { break verdict };
        if Limits::new(call.signal(), wait_ms).ended().await.is_aborted() {
            break Verdict::Cut(Cut::Aborted);
        }
        retries += 1;
    };
    let outcome = verdict.tell(call);
    outcome.set_idempotency_key(request.idempotency_key);
    outcome.set_retries(retries);
    outcome
}

struct Request {
    head: Head,
    body: Option<JsValue>,
    idempotency_key: Option<String>,
    policy: Policy,
}

impl Request {
    fn new(call: &Call, operation: Operation, subject: JsValue) -> Result<Self, Unfit> {
        let (api_key, unit_id, max_retries) = (call.api_key(), call.unit_id(), call.max_retries());
        let caller = Caller::new(&api_key, unit_id.as_deref())?;
        if operation == Operation::Get {
            let head = Head::get(caller, &subject.as_string().unwrap_or_default())?;
            let policy = Policy { max_retries, repeatable: true };
            return Ok(Request { head, body: None, idempotency_key: None, policy });
        }
        let text = call.idempotency_key().or_else(|| call.safe_repeats().then(new_key).flatten());
        let key = text.clone().map(|text| IdempotencyKey::new(text).ok_or(Unfit::IdempotencyKey));
        let head = Head::create(caller, key.transpose()?.as_ref());
        // Whoever gives a key of their own has not said yet that the service honours it.
        let repeatable = call.safe_repeats() && text.is_some();
        let policy = Policy { max_retries, repeatable };
        Ok(Request { head, body: Some(subject), idempotency_key: text, policy })
    }

    fn wait_ms(&self, retries: u32, verdict: &Verdict) -> Option<u32> {
        let retry_after = verdict.retry_after();
        let moment = Moment { now_ms: now() as u64, random: random() };
        self.policy.wait_ms(retries, verdict.failure(retry_after.as_deref())?, moment)
    }
}

/// 128 random bits; `None` where there is no `crypto`: such a create is not repeated.
fn new_key() -> Option<String> {
    let mut bytes = [0; 16];
    get_random_values(&mut bytes).ok()?;
    Some(base16ct::lower::encode_string(&bytes))
}

/// How an attempt ended.
enum Verdict {
    /// With the transaction; holds its `charge.amount`.
    Transaction(Reply, String),
    /// With another answer.
    Refused(Reply, Refusal),
    /// Without an answer.
    Cut(Cut),
}

impl Verdict {
    fn of(operation: Operation, ended: Result<Reply, Cut>) -> Self {
        let reply = match ended {
            Ok(reply) => reply,
            Err(cut) => return Verdict::Cut(cut),
        };
        match answer::read(operation, reply.status(), &reply.body()) {
            Ok(amount) => Verdict::Transaction(reply, amount),
            Err(refusal) => Verdict::Refused(reply, refusal),
        }
    }

    fn retry_after(&self) -> Option<String> {
        match self {
            Verdict::Refused(reply, _) => reply.retry_after(),
            _ => None,
        }
    }

    /// `None` for what is settled.
    fn failure<'r>(&self, retry_after: Option<&'r str>) -> Option<Failure<'r>> {
        match self {
            Verdict::Refused(reply, Refusal { kind: Kind::Other, .. }) => {
                Some(Failure::Status { status: reply.status(), retry_after })
            }
            Verdict::Cut(Cut::TimedOut | Cut::Broken(_)) => Some(Failure::Unanswered),
            _ => None,
        }
    }

    fn tell(self, call: &Call) -> Outcome {
        let kind = self.kind();
        match self {
            Verdict::Transaction(reply, amount) => call.outcome(kind, &amount, None, &reply),
            Verdict::Refused(reply, Refusal { message, error, .. }) => {
                call.outcome(kind, &message, error, &reply)
            }
            Verdict::Cut(Cut::Broken(cause)) => call.outcome(kind, "", None, &cause),
            Verdict::Cut(_) => call.outcome(kind, "", None, &JsValue::NULL),
        }
    }

    const fn kind(&self) -> &'static str {
        match self {
            Verdict::Transaction(..) => "transaction",
            Verdict::Refused(_, refusal) => match refusal.kind {
                Kind::Authentication => "authentication",
                Kind::NotFound => "not_found",
                Kind::Other => "api",
            },
            Verdict::Cut(Cut::Aborted) => "aborted",
            Verdict::Cut(Cut::TimedOut) => "timeout",
            Verdict::Cut(Cut::Broken(_)) => "connection",
        }
    }
}
