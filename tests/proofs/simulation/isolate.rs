//! An isolate of the service at one location, with its own caches and clock.

use crate::callers::{Answer, Owner};
use crate::executor::Time;
use crate::kv::{Call, Calls, READ_MS};
use crate::namespace::Namespace;
use crate::random::Random;
use crate::times::EPOCH_MS;
use impact_pledge::buyer::delivery::Timer;
use impact_pledge::buyer::timeline::Timelines;
use impact_pledge::pledges::http::{Body, BodyError, Request, Reservation, next_chunk_bytes};
use impact_pledge::pledges::service::{
    Caches, Clock, LedgerQueue, Outbox, RequestLog, Service, Settings,
};
use impact_pledge::pledges::store::StoredValue as _;
use impact_pledge::pledges::time::TimeZones;
use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

/// While all owners together hold at most this many bytes, a single owner may hold more than its share.
pub const CALM_BYTES: usize = 8 * 1024 * 1024;

/// A clock that is `ahead_ms` milliseconds ahead, or behind if the number is negative.
pub struct SkewedClock {
    pub time: Rc<Time>,
    pub ahead_ms: i64,
}

impl Clock for SkewedClock {
    fn now_ms(&self) -> u64 {
        (EPOCH_MS + self.time.now_ms()).saturating_add_signed(self.ahead_ms)
    }
}

impl TimeZones for SkewedClock {
    fn utc_offset(&self, _: &str, _: i64) -> Option<i32> {
        None // no shop of the simulation has one
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
    pub timelines: Timelines,
    pub caches: Caches,
    pub settings: Settings,
    pub bodies: Rc<Bodies>,
}

/// The request bodies that an isolate holds. Also keeps the highest numbers of bytes so far: of all bodies
/// together, and of the bodies of one owner.
#[derive(Default)]
pub struct Bodies {
    held: RefCell<Vec<Rc<HeldBody>>>,
    pub most: Cell<usize>,
    pub most_of_owner: Cell<usize>,
}

/// The bytes of a body that have arrived, for a request that has not ended.
pub struct HeldBody {
    owner: Owner,
    bytes: Cell<usize>,
    calls: Rc<Calls>,
}

impl HeldBody {
    /// Returns the held bytes. A create request that reads a transaction counts 0 bytes: it waits for the
    /// answer to another create request, and has freed its own body before.
    fn bytes(&self) -> usize {
        let calls = self.calls.list.borrow();
        let reads = |call: &Call| call.operation == "get" && call.name.starts_with("transaction:");
        if calls.iter().any(reads) { 0 } else { self.bytes.get() }
    }
}

impl Bodies {
    /// Begins a body, of which no byte has arrived.
    pub fn begin(&self, owner: Owner, calls: &Rc<Calls>) -> Rc<HeldBody> {
        let body = HeldBody { owner, bytes: Cell::default(), calls: Rc::clone(calls) };
        let body = Rc::new(body);
        self.held.borrow_mut().push(Rc::clone(&body));
        body
    }

    fn add(&self, body: &HeldBody, bytes: usize) {
        body.bytes.set(body.bytes.get() + bytes);
        let held = self.held.borrow();
        let own = held.iter().filter(|other| other.owner == body.owner);
        let own = own.map(|own| own.bytes()).sum();
        let all = held.iter().map(|body| body.bytes()).sum();
        self.most_of_owner.set(self.most_of_owner.get().max(own));
        self.most.set(self.most.get().max(all));
    }

    fn end(&self, body: &Rc<HeldBody>) {
        self.held.borrow_mut().retain(|other| !Rc::ptr_eq(other, body));
    }
}

impl Isolate {
    /// Serves one request, including its body.
    pub async fn serve(
        &self,
        store: &Namespace,
        request: &SimulatedRequest,
        outbox: Option<&dyn Outbox>,
        ledger: Option<&dyn LedgerQueue>,
    ) -> Answer {
        let Isolate { clock, entropy, timelines: recipients, caches, settings, .. } = self;
        let request_log = RequestLog::default();
        let service = Service {
            store,
            clock,
            entropy,
            recipients,
            caches,
            settings,
            outbox,
            ledger,
            request_log,
        };
        let response = service.handle(request).await;
        let has = |wanted| response.headers.iter().any(|(name, _)| *name == wanted);
        let (is_replayed, asks_to_repeat) = (has("idempotent-replayed"), has("retry-after"));
        let body = match response.body {
            Body::Empty => Some(vec![]),
            Body::Bytes(bytes) => Some(bytes),
            Body::Stored(value) => value.read(READ_MS).await.ok(),
            Body::Spliced(value, splice) => {
                value.read(READ_MS).await.ok().map(|bytes| splice.apply(bytes))
            }
        };
        let (status, log) = (response.status, response.log);
        Answer { status, is_replayed, asks_to_repeat, body, log, json: OnceCell::new() }
    }
}

pub struct SimulatedRequest {
    pub method: &'static str,
    pub url: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
    pub upload: Upload,
}

/// The upload of a body: how long it takes, whether it breaks off, and where its bytes are counted.
pub struct Upload {
    pub calls: Rc<Calls>,
    pub takes_ms: u64,
    pub is_broken: bool,
    pub bodies: Rc<Bodies>,
    /// The body, until the request ends.
    pub held: Rc<HeldBody>,
}

impl Upload {
    /// Simulates the arrival of the next `bytes` bytes of a body that has `of` bytes in total. Counts these
    /// bytes, and waits for their share of the upload's time.
    async fn come(&self, bytes: usize, of: usize) {
        self.bodies.add(&self.held, bytes);
        let share = self.takes_ms * bytes as u64 / of.max(1) as u64;
        if share > 0 {
            self.calls.time.sleep(share).await;
        }
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        self.bodies.end(&self.held);
    }
}

impl SimulatedRequest {
    /// Reads the body as the Worker does: all at once, or in pieces. Each piece is counted.
    async fn read(&self, reservation: &mut Reservation<'_>) -> Result<(), BodyError> {
        let of = self.body.len();
        if self.header("content-length").is_some() && reservation.read_ahead(of)? {
            self.upload.come(of, of).await;
            return Ok(());
        }
        let mut come = 0;
        while come < of {
            let piece = next_chunk_bytes(come).min(of - come);
            reservation.read(come + piece, of)?;
            self.upload.come(piece, of).await;
            come += piece;
        }
        Ok(reservation.read(of, of)?)
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
        let Upload { calls, is_broken, .. } = &self.upload;
        let call = calls.begin("body", "", None, None);
        let read = self.read(reservation).await;
        calls.end(call, |_| {});
        read?;
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
