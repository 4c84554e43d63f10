//! One call of the client's: attempts, and the waits between them.

use super::attempt::{self, Cut, Reply};
use super::limits::{Limits, Signal};
use super::outcome::Outcome;
use crate::api::answer::{self, Refusal};
use crate::api::{Caller, Head, Operation, Unfit};
use crate::idempotency::IdempotencyKey;
use crate::retry::{Failure, Moment, Policy};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

#[wasm_bindgen]
extern "C" {
    /// The options of one call, as `client.js` made them of the client's and the call's own.
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
    /// The caller's own `fetch`, if there is one.
    #[wasm_bindgen(method, getter)]
    pub fn fetch(this: &Call) -> Option<js_sys::Function>;
    /// Whether `fetch` here takes the signals of the `AbortController` here.
    #[wasm_bindgen(method, getter, js_name = takesSignal)]
    pub fn takes_signal(this: &Call) -> bool;

    #[wasm_bindgen(js_namespace = Date)]
    fn now() -> f64;
    #[wasm_bindgen(js_namespace = Math)]
    fn random() -> f64;
    #[wasm_bindgen(catch, js_namespace = crypto, js_name = getRandomValues)]
    fn get_random_values(bytes: &mut [u8]) -> Result<(), JsValue>;
}

/// Asks until there is an answer, or asking again makes no sense. `subject` is the body of a
/// create, the ID of a get.
pub async fn run(call: &Call, operation: Operation, subject: &JsValue) -> Outcome {
    let api_key = call.api_key();
    let request = match Request::new(call, &api_key, operation, subject) {
        Ok(request) => request,
        Err(unfit) => return Outcome::Unfit(unfit),
    };
    let mut retries = 0;
    let ended = loop {
        let ended = attempt::attempt(call, &request.head, request.body.as_ref()).await;
        let verdict = judge(operation, ended);
        let Some(wait_ms) = request.wait_ms(retries, &verdict) else { break verdict };
        if Limits::new(call.signal(), wait_ms).ended().await.is_aborted() {
            break Verdict::Cut(Cut::Aborted);
        }
        retries += 1;
    };
    Outcome::new(ended, request.idempotency_key, retries)
}

struct Request {
    head: Head,
    body: Option<JsValue>,
    idempotency_key: Option<String>,
    policy: Policy,
}

impl Request {
    fn new(
        call: &Call,
        api_key: &str,
        operation: Operation,
        subject: &JsValue,
    ) -> Result<Self, Unfit> {
        let unit_id = call.unit_id();
        let caller = Caller::new(api_key, unit_id.as_deref())?;
        let max_retries = call.max_retries();
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
        Ok(Request { head, body: Some(subject.clone()), idempotency_key: text, policy })
    }

    fn wait_ms(&self, retries: u32, verdict: &Verdict) -> Option<u32> {
        let moment = Moment { now_ms: now() as u64, random: random() };
        self.policy.wait_ms(retries, verdict.failure()?, moment)
    }
}

/// 128 random bits; `None` where there is no `crypto`: such a create is not repeated.
fn new_key() -> Option<String> {
    let mut bytes = [0; 16];
    get_random_values(&mut bytes).ok()?;
    Some(base16ct::lower::encode_string(&bytes))
}

/// How an attempt ended.
pub enum Verdict {
    /// With the transaction; holds its `charge.amount`.
    Transaction(Reply, String),
    /// With another answer.
    Refused(Reply, Refusal),
    /// Without an answer.
    Cut(Cut),
}

fn judge(operation: Operation, ended: Result<Reply, Cut>) -> Verdict {
    let reply = match ended {
        Ok(reply) => reply,
        Err(cut) => return Verdict::Cut(cut),
    };
    match answer::read(operation, reply.status, &reply.body) {
        Ok(amount) => Verdict::Transaction(reply, amount),
        Err(refusal) => Verdict::Refused(reply, refusal),
    }
}

impl Verdict {
    /// `None` for what is settled.
    fn failure(&self) -> Option<Failure<'_>> {
        match self {
            Verdict::Refused(reply, Refusal { kind: answer::Kind::Other, .. }) => {
                let retry_after = reply.retry_after.as_deref();
                Some(Failure::Status { status: reply.status, retry_after })
            }
            Verdict::Cut(Cut::TimedOut | Cut::Broken(_)) => Some(Failure::Unanswered),
            _ => None,
        }
    }
}
