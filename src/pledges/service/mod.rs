//! The service, independent of its platform: turns a request into a response.

mod access;
mod cache;
mod cors;
mod create;
mod create_input;
mod get;
mod ledger;
mod log;
mod network;
mod notifications;
mod outbox;
mod paid;
mod picture;
mod ports;
mod prepare;
mod prepared;
mod prices;
mod receive;
mod recent;
mod records;
mod repeat;
mod request_log;
mod response;
mod route;
mod settings;

pub use cache::{Cache, Caches, LIFETIME_MS};
pub use ledger::{LedgerQueue, ReceivedMessage, mark_unsent};
pub use outbox::{MAX_BATCH, Message, Outbox, PutFuture};
pub use ports::{Clock, Entropy};
pub use request_log::RequestLog;
pub use settings::{Adapters, Settings, Variables};

use super::api;
use super::api::Problem;
use super::http::{Address, Body, Request, Response};
use super::scope::Mode;
use super::store::Store;
use super::types::NotificationService;
use cors::Cors;
use futures_util::FutureExt as _;
use route::{Route, is_public, route};

/// The service for one request, with the parts of the platform that it uses.
#[expect(missing_debug_implementations, reason = "ports")]
pub struct Service<'s, S, C, E, R> {
    pub store: &'s S,
    pub clock: &'s C,
    pub entropy: &'s E,
    pub recipients: &'s R,
    pub caches: &'s Caches,
    pub settings: &'s Settings,
    /// The notification queue; `None` if notifications are not sent.
    pub outbox: Option<&'s dyn Outbox>,
    /// The ledger's queue; `None` if there is no ledger.
    pub ledger: Option<&'s dyn LedgerQueue>,
    pub request_log: RequestLog,
}

impl<S: Store, C: Clock, E: Entropy, R: Recipients> Service<'_, S, C, E, R> {
    /// Serves one request. Every outcome is a response, even a failure.
    ///
    /// Here and in the called functions, code that not every isolate needs is put into boxed futures. V8
    /// compiles a WebAssembly function at its first call. Without the box, such code would be part of its
    /// caller, and V8 would compile both together.
    pub async fn handle(&self, request: &impl Request) -> Response<S::Value> {
        let began_ms = self.clock.now_ms();
        let method = request.method();
        let url = request.url();
        let address = Address::parse(&url);
        let route = route(&method, &address);
        let template = route.as_ref().map_or("none", Route::template);
        let served = match route {
            Ok(Route::Create) => self.create(request, &address).boxed_local().await,
            Ok(Route::Get(id)) => self.get(request, &address, &id).boxed_local().await,
            Ok(Route::Timeline(id) | Route::Ask(id)) => {
                let page = self.recipients.timeline(self, request, &id, &address);
                Ok(page.boxed_local().await)
            }
            Ok(Route::Unsubscribe(id) | Route::UnsubscribePage(id)) => {
                let page = self.recipients.unsubscribe(self, request, &id, &address);
                Ok(page.boxed_local().await)
            }
            Ok(Route::Impact(unit)) => {
                self.recipients.public_total(self, &unit).boxed_local().await
            }
            Ok(Route::Picture(name)) => self.picture(request, name).boxed_local().await,
            Ok(Route::Receive(id)) => Ok(self.receive(request, &id).boxed_local().await),
            Ok(Route::Health) => Ok(Response::json(api::to_json(&self.settings.health()))),
            Ok(Route::Options(allow)) => Ok(Response::options(allow)),
            Err(problem) => Err(problem),
        };
        let mut response = served.unwrap_or_else(|problem| self.refusal(request, &problem));
        if method == "HEAD" {
            response.body = Body::Empty; // with the headers of a GET
        }
        response.keep_https(&address);
        self.log(request, template, began_ms, &mut response);
        match is_public(address.path) {
            true => Cors::open(&mut response),
            false => self.settings.cors.apply(request, &mut response),
        }
        response
    }

    fn refusal(&self, request: &impl Request, problem: &Problem) -> Response<S::Value> {
        let is_live = self.request_log.mode.get().map(Mode::is_live);
        let request_id = problem.is_ours().then(|| request.id());
        Response::problem(problem, is_live, request_id.as_deref())
    }
}

/// Answers the service's questions about what people see of pledges: which services notify recipients, what
/// their timelines show, and what a shop publishes.
#[expect(async_fn_in_trait, reason = "one thread: no caller needs the futures to be Send")]
pub trait Recipients: Sized {
    /// Returns the `services` that the unit has switched on in its profile. Returns all of them if
    /// the profile cannot be read, because each delivery checks the profile again.
    async fn delivering<S: Store, C: Clock, E: Entropy>(
        &self,
        service: &Service<'_, S, C, E, Self>,
        unit: &str,
        services: Vec<NotificationService>,
    ) -> Vec<NotificationService>;

    /// Answers a request for the timeline of a transaction with a page, which may also state a problem. A POST asks for
    /// e-mails with news, or ends them.
    async fn timeline<S: Store, C: Clock, E: Entropy>(
        &self,
        service: &Service<'_, S, C, E, Self>,
        request: &impl Request,
        id: &str,
        address: &Address<'_>,
    ) -> Response<S::Value>;

    /// Answers a request for the page that ends the e-mails with news about a transaction. A POST ends them.
    async fn unsubscribe<S: Store, C: Clock, E: Entropy>(
        &self,
        service: &Service<'_, S, C, E, Self>,
        request: &impl Request,
        id: &str,
        address: &Address<'_>,
    ) -> Response<S::Value>;

    /// Answers a request for the public total of a unit.
    ///
    /// # Errors
    /// If the unit publishes none, or the store fails. Whether the unit exists makes no difference.
    async fn public_total<S: Store, C: Clock, E: Entropy>(
        &self,
        service: &Service<'_, S, C, E, Self>,
        unit: &str,
    ) -> Result<Response<S::Value>, Problem>;
}
