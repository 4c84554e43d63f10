//! An isolate of the service: caches and a clock of its own, at one location.

use crate::executor::Time;
use crate::kv::{CallHandle, Calls, Namespace, READ_MS};
use crate::planted::{Bug, Memory, Planted};
use crate::recording::{RecordedEntropy, outcome};
use impact_pledge::handle::{Caches, Clock, Journal, Service, Settings};
use impact_pledge::http::{Body, BodyError, Request, Reservation, Response};
use impact_pledge::store::{Store, StoredValue};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::rc::Rc;

/// 2026-01-31T12:00:00Z, where virtual time begins.
pub const EPOCH_MS: u64 = 1_769_860_800_000;

/// A clock that is some seconds ahead, or behind below 0.
pub struct SkewedClock {
    pub time: Rc<Time>,
    pub ahead_ms: i64,
}

impl Clock for SkewedClock {
    fn now_ms(&self) -> u64 {
        (EPOCH_MS + self.time.now_ms()).saturating_add_signed(self.ahead_ms)
    }
}

pub struct Isolate {
    pub number: usize,
    pub location: usize,
    pub is_newer: bool,
    pub clock: SkewedClock,
    pub entropy: RecordedEntropy,
    pub caches: Caches,
    pub settings: Settings,
    pub bug: Option<Bug>,
    pub memory: Memory,
    pub bodies: Rc<Bodies>,
}

/// How many bytes of bodies an isolate holds, and held at most.
#[derive(Default)]
pub struct Bodies {
    now: Cell<usize>,
    pub most: Cell<usize>,
}

impl Isolate {
    /// Serves one request whole, its body included.
    pub async fn serve<S: Store>(&self, store: &S, request: &SimulatedRequest) -> Answer {
        let Isolate { clock, entropy, caches, settings, .. } = self;
        let journal = Journal::default();
        let service = Service { store, clock, entropy, caches, settings, journal };
        Answer::read(service.handle(request).await).await
    }

    /// The store of one request, with the bug that is planted.
    pub fn store(&self, inner: Namespace) -> Planted<'_> {
        Planted { inner, bug: self.bug, memory: &self.memory }
    }
}

/// An answer as a client received it.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub is_replayed: bool,
    /// All of them, by name.
    pub headers: Vec<(&'static str, String)>,
    /// `None` if it broke off.
    pub body: Option<Vec<u8>>,
    pub log: Option<String>,
    json: OnceCell<Value>,
}

impl Answer {
    pub async fn read<V: StoredValue>(response: Response<V>) -> Self {
        let of_media =
            response.media.headers().iter().map(|(name, value)| (*name, (*value).into()));
        let more = response.headers.into_iter().map(|(name, value)| (name, value.into_owned()));
        let more = more.chain(response.request_id.map(|id| ("x-request-id", id)));
        let mut headers: Vec<_> = of_media.chain(more).collect();
        headers.sort();
        let is_replayed = headers.iter().any(|(name, _)| *name == "idempotent-replayed");
        let body = match response.body {
            Body::Empty => Some(vec![]),
            Body::Bytes(bytes) => Some(bytes),
            Body::Stored(value) => value.read(READ_MS).await.ok(),
        };
        Answer {
            status: response.status,
            is_replayed,
            headers,
            body,
            log: response.log,
            json: OnceCell::new(),
        }
    }

    /// The body; null if it is not JSON.
    pub fn json(&self) -> &Value {
        let body = || self.body.as_deref().unwrap_or_default();
        self.json.get_or_init(|| serde_json::from_slice(body()).unwrap_or_default())
    }
}

pub struct SimulatedRequest {
    pub method: &'static str,
    pub url: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
    /// How the body arrives.
    pub upload: Option<Upload>,
}

/// How long a body takes, whether it breaks off, and where that is written down.
pub struct Upload {
    pub time: Rc<Time>,
    pub calls: Rc<Calls>,
    pub takes_ms: u64,
    pub is_broken: bool,
    pub bodies: Rc<Bodies>,
    /// How many of those bytes are its own, until the request ends.
    pub held: Cell<usize>,
}

impl Upload {
    fn hold(&self, bytes: usize) {
        let Bodies { now, most } = &*self.bodies;
        self.held.set(bytes);
        now.set(now.get() + bytes);
        most.set(most.get().max(now.get()));
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        self.bodies.now.set(self.bodies.now.get() - self.held.get());
    }
}

impl Request for SimulatedRequest {
    fn method(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.method)
    }

    fn url(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.url)
    }

    fn header(&self, name: &'static str) -> Option<String> {
        let (_, value) = self.headers.iter().find(|(header, _)| *header == name)?;
        Some(value.clone())
    }

    async fn body(
        &self,
        limit: usize,
        reservation: &mut Reservation<'_>,
    ) -> Result<Vec<u8>, BodyError> {
        reservation.resize(self.body.len())?;
        if let Some(upload @ Upload { time, calls, takes_ms, is_broken, .. }) = &self.upload {
            upload.hold(self.body.len());
            let now_ms = time.now_ms();
            let call = CallHandle::begin(calls, "body", String::new(), now_ms, String::new);
            time.sleep(*takes_ms).await;
            let arrived = if *is_broken { Err(BodyError::Broken) } else { Ok(()) };
            call.end(time.now_ms(), || outcome(Some(&arrived), |()| json!(null)));
            arrived?;
        }
        if self.body.len() > limit { Err(BodyError::TooLarge) } else { Ok(self.body.clone()) }
    }

    async fn is_over_limit(&self, _: &str) -> bool {
        false
    }
}

impl SimulatedRequest {
    /// A create or get with this API key.
    pub fn new(method: &'static str, url: String, key: &str) -> Self {
        let headers = vec![("authorization", format!("Bearer {key}"))];
        SimulatedRequest { method, url, headers, body: vec![], upload: None }
    }

    pub fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub fn with_body(self, body: Vec<u8>) -> Self {
        SimulatedRequest { body, ..self.with_header("content-type", "application/json") }
    }
}
