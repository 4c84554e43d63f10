//! What a call came to, as `client.js` takes it.

use super::attempt::{Cut, Reply};
use super::call::Verdict;
use super::send::object;
use crate::api::Unfit;
use crate::api::answer::{Kind, Refusal};
use js_sys::Uint8Array;
use wasm_bindgen::prelude::JsValue;

/// The end of a call.
pub enum Outcome {
    /// An option or argument that no request can carry.
    Unfit(Unfit),
    /// Whatever came of asking.
    Ended(Vec<(&'static str, JsValue)>),
}

impl Outcome {
    /// How a call ended, after so many retries.
    pub fn new(verdict: Verdict, idempotency_key: Option<String>, retries: u32) -> Self {
        let mut members = match verdict {
            Verdict::Transaction(reply, amount) => transaction(reply, &amount),
            Verdict::Refused(reply, refusal) => refused(reply, refusal),
            Verdict::Cut(Cut::Aborted) => vec![kind("aborted")],
            Verdict::Cut(Cut::TimedOut) => vec![kind("timeout")],
            Verdict::Cut(Cut::Broken(cause)) => vec![kind("connection"), ("cause", cause)],
        };
        members.extend(idempotency_key.map(|key| ("idempotencyKey", JsValue::from(key))));
        members.push(("retries", JsValue::from(retries)));
        Outcome::Ended(members)
    }

    /// A plain object with a `kind`.
    pub fn into_js(self) -> JsValue {
        let members = match self {
            Outcome::Unfit(unfit) => vec![kind("unfit"), ("message", unfit.message().into())],
            Outcome::Ended(members) => members,
        };
        // Setting a member of a new plain object cannot fail.
        object(members.into_iter()).map_or_else(|error| error, JsValue::from)
    }
}

fn kind(kind: &str) -> (&'static str, JsValue) {
    ("kind", JsValue::from_str(kind))
}

fn transaction(reply: Reply, amount: &str) -> Vec<(&'static str, JsValue)> {
    let mut members = vec![kind("transaction"), ("amount", JsValue::from_str(amount))];
    members.extend(answered(reply));
    members
}

fn refused(reply: Reply, refusal: Refusal) -> Vec<(&'static str, JsValue)> {
    let mut members = vec![
        kind(match refusal.kind {
            Kind::Authentication => "authentication",
            Kind::NotFound => "not_found",
            Kind::Other => "api",
        }),
        ("message", refusal.message.into()),
    ];
    members.extend(refusal.error.map(|error| ("error", error.into())));
    members.extend(answered(reply));
    members
}

fn answered(reply: Reply) -> [(&'static str, JsValue); 3] {
    let body = Uint8Array::from(reply.body.as_slice());
    [("status", reply.status.into()), ("headers", reply.headers), ("body", body.into())]
}
