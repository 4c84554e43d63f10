//! A request in, a response out: the service without its platform.

mod access;
mod cache;
mod cors;
mod create;
mod get;
mod in_flight;
mod journal;
mod network;
mod recent;
mod repeat;
mod response;
mod route;
mod settings;
mod timeline;

pub use cache::Caches;
pub use create::LEAST_PLEDGE_BYTES;
pub use in_flight::{MAX_BYTES as MAX_BYTES_IN_FLIGHT, Reservation};
pub use journal::Journal;
pub use response::{Body, Media, Response};
pub use settings::{Settings, Variables};

use crate::api::{self, Problem, header};
use crate::store::{Key, Store, StoreError, StoredValue as _};
use journal::Line;
use route::Route;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The time.
pub trait Clock {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    fn now_ms(&self) -> u64;
}

/// Draws random bytes that cannot be guessed.
pub trait Entropy {
    /// Fills `bytes`.
    fn fill(&self, bytes: &mut [u8]);
}

/// What of a request the service looks at.
#[expect(async_fn_in_trait, reason = "one thread: no caller needs the futures to be Send")]
pub trait Request {
    /// The method, such as `GET`.
    fn method(&self) -> Cow<'_, str>;
    /// The whole address, such as `https://example.org/v2/pledge-transaction?x=1`.
    fn url(&self) -> Cow<'_, str>;
    /// The value of a header, by its lower-case name.
    fn header(&self, name: &'static str) -> Option<String>;
    /// The body. Its bytes are reserved before they are read.
    ///
    /// # Errors
    /// If it has more than `limit` bytes, cannot be reserved, or breaks off.
    async fn body(
        &self,
        limit: usize,
        reservation: &mut Reservation<'_>,
    ) -> Result<Vec<u8>, BodyError>;
    /// Counts a refused key against the rate limit of the caller's network, and returns whether it
    /// is one too many. Without a rate limit none is.
    async fn is_over_limit(&self, network: &str) -> bool;
}

/// Why a body cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyError {
    /// It is longer than the limit.
    TooLarge,
    /// The requests in flight hold too many bytes already.
    Busy,
    /// It broke off.
    Broken,
}

/// The service for one request, with its ports.
#[derive(Debug)]
pub struct Service<'s, S, C, E> {
    /// Where records are.
    pub store: &'s S,
    /// The time.
    pub clock: &'s C,
    /// Randomness.
    pub entropy: &'s E,
    /// What outlives a request.
    pub caches: &'s Caches,
    /// What the operator sets.
    pub settings: &'s Settings,
    /// What is learnt of this one request.
    pub journal: Journal,
}

impl<S: Store, C: Clock, E: Entropy> Service<'_, S, C, E> {
    /// Serves one request. Every outcome is a response.
    pub async fn handle(&self, request: &impl Request) -> Response<S::Value> {
        let began_ms = self.clock.now_ms();
        let method = request.method();
        let url = request.url();
        let address = route::Address::parse(&url);
        let route = route::route(&method, &address);
        let template = route.as_ref().map_or("none", Route::template);
        let mut response = match route {
            Ok(Route::Create) => {
                self.create(request, &address).await.unwrap_or_else(Response::from)
            }
            Ok(Route::Get(id)) => self.get(request, &id).await.unwrap_or_else(Response::from),
            Ok(Route::Timeline(id)) => self.timeline(request, &id, &address).await,
            Ok(Route::Health) => {
                Response::json(api::to_json(&Health { version: &self.settings.version }))
            }
            Ok(Route::Options(allow)) => Response::options(allow),
            Err(problem) => Response::problem(&problem, None),
        };
        if method == "HEAD" {
            response.body = Body::Empty; // and the headers of the GET
        }
        self.log(request, template, began_ms, &mut response);
        self.settings.cors.apply(request, &mut response);
        response
    }

    /// Reads and decodes a record; `None` if there is none.
    async fn load<K: Key, T: DeserializeOwned>(&self, key: &K) -> Result<Option<T>, Problem> {
        let Some(stored) = self.wait(self.store.get(key)).await? else { return Ok(None) };
        let record = self.wait(stored.value.read_within(K::READ_MS)).await?;
        decode(K::KIND, &record).map(Some)
    }

    /// Waits for the store; the log shows for how long.
    async fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.journal.wait(self.clock, work).await
    }

    /// Gives an answer that is logged its line, and the request's ID, so that a caller and the
    /// operator can speak of the same one: the platform's, else a random one. All failures are
    /// logged, also those that an answer does without, and creates without a price; other successes
    /// as often as the settings say.
    fn log(
        &self,
        request: &impl Request,
        route: &'static str,
        began_ms: u64,
        response: &mut Response<S::Value>,
    ) {
        let cause = response.log.take();
        let unpriced = self.journal.unpriced.get();
        let is_failure = cause.is_some() || unpriced.is_some();
        if !is_failure && !self.settings.draws_log_line(self.entropy) {
            return;
        }
        let id = request.header(header::CF_RAY).unwrap_or_else(|| {
            let mut random = [0; 8];
            self.entropy.fill(&mut random);
            base16ct::lower::encode_string(&random)
        });
        let caller = self.journal.caller();
        let line = Line {
            request: &id,
            version: &self.settings.version,
            route,
            status: response.status,
            ms: self.clock.now_ms().saturating_sub(began_ms),
            kv_ms: self.journal.waited_ms(),
            unit: caller.map(|(_, scope)| &*scope.unit),
            mode: caller.map(|(_, scope)| scope.mode),
            key: caller.map(|(key, _)| key.id()),
            unpriced,
            cause,
        };
        response.log = serde_json::to_string(&line).ok(); // none of it can fail
        response.request_id = Some(id);
    }
}

/// What `/healthz` answers: the service runs. No record is read for it.
#[derive(Serialize)]
struct Health<'a> {
    version: &'a str,
}

/// Decodes a record of this kind, which the operator's log names if it is damaged.
fn decode<'a, T: Deserialize<'a>>(kind: &str, record: &'a [u8]) -> Result<T, Problem> {
    serde_json::from_slice(record).map_err(|error| StoreError::damaged(kind, &error).into())
}

/// A problem, and the mode of the key if it is known by then (§5.3).
struct Refusal {
    problem: Problem,
    is_live: Option<bool>,
}

impl Problem {
    fn with_mode(self, is_live: bool) -> Refusal {
        Refusal { problem: self, is_live: Some(is_live) }
    }
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Refusal { problem, is_live: None }
    }
}

impl<V> From<Refusal> for Response<V> {
    fn from(refusal: Refusal) -> Self {
        Response::problem(&refusal.problem, refusal.is_live)
    }
}
