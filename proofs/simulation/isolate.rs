//! An isolate of the service: caches and a clock of its own, at one location.

use crate::executor::Time;
use crate::kv::{Calls, Namespace, READ_MS};
use crate::random::Random;
use impact_pledge::handle::{Caches, Clock, Journal, Outbox, Service, Settings};
use impact_pledge::http::{Body, BodyError, Request, Reservation};
use impact_pledge::notify::Timer;
use impact_pledge::store::StoredValue as _;
use serde_json::Value;
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

impl Timer for SkewedClock {
    async fn pause(&self, milliseconds: u32) {
        self.time.sleep(u64::from(milliseconds)).await;
    }
}

pub struct Isolate {
    pub number: usize,
    pub location: usize,
    pub is_newer: bool,
    pub clock: SkewedClock,
    pub entropy: Random,
    pub caches: Caches,
    pub settings: Settings,
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
    pub async fn serve(
        &self,
        store: &Namespace,
        request: &SimulatedRequest,
        outbox: Option<&dyn Outbox>,
    ) -> Answer {
        let Isolate { clock, entropy, caches, settings, .. } = self;
        let journal = Journal::default();
        let service = Service { store, clock, entropy, caches, settings, outbox, journal };
        let response = service.handle(request).await;
        let has = |wanted| response.headers.iter().any(|(name, _)| *name == wanted);
        let (is_replayed, asks_to_repeat) = (has("idempotent-replayed"), has("retry-after"));
        let body = match response.body {
            Body::Empty => Some(vec![]),
            Body::Bytes(bytes) => Some(bytes),
            Body::Stored(value) => value.read(READ_MS).await.ok(),
        };
        let (status, log) = (response.status, response.log);
        Answer { status, is_replayed, asks_to_repeat, body, log, json: OnceCell::new() }
    }
}

/// An answer as a client received it.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub is_replayed: bool,
    pub asks_to_repeat: bool,
    /// `None` if it broke off.
    pub body: Option<Vec<u8>>,
    pub log: Option<String>,
    json: OnceCell<Value>,
}

impl Answer {
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
    pub upload: Upload,
}

/// How long a body takes, whether it breaks off, and where that is written down.
pub struct Upload {
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

    fn id(&self) -> String {
        "simulated".to_owned()
    }

    async fn body(
        &self,
        limit: usize,
        reservation: &mut Reservation<'_>,
    ) -> Result<Vec<u8>, BodyError> {
        let Upload { calls, takes_ms, is_broken, .. } = &self.upload;
        reservation.read(self.body.len(), self.body.len())?;
        self.upload.hold(self.body.len());
        if *takes_ms > 0 {
            let call = calls.begin("body", "", None, None);
            calls.time.sleep(*takes_ms).await;
            calls.end(call, |_| {});
        }
        match () {
            () if *is_broken => Err(BodyError::Broken),
            () if self.body.len() > limit => Err(BodyError::TooLarge),
            () => Ok(self.body.clone()),
        }
    }

    async fn is_over_limit(&self, _: &str) -> bool {
        false
    }

    async fn pause(&self, milliseconds: u32) {
        let Upload { calls, .. } = &self.upload;
        let call = calls.begin("pause", "", None, None);
        calls.time.sleep(u64::from(milliseconds)).await;
        calls.end(call, |_| {});
    }
}
