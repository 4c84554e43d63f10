//! The dashboard: pages and forms over the functions of [`operator`](crate::operator), for people who do not use a shell.
//!
//! A page is one document with an inline style. It runs no script and loads nothing else. Cloudflare Access identifies
//! the person, and the [roles](crate::operator::roles) decide what they may do. URLs contain no secrets: searches are
//! sent by `POST`. The response to a form shows the result of the change, because lists in Workers KV may lack the
//! change for a minute.

mod access;
mod audit;
mod chart;
mod find;
mod form;
mod fulfilment;
mod keys;
mod last_backups;
mod layout;
mod ledger;
mod link;
mod mail_state;
mod mails;
mod metered;
mod month;
mod operation;
mod orders;
mod payment;
mod person;
mod prices;
mod profile;
mod quantities;
mod register;
mod request;
mod route;
mod settings;
mod system;
mod team;
mod transaction;
mod unit;
mod usage;
mod view;

pub use access::Identity;
pub use route::{Route, route};
pub use settings::{Settings, Variables};

use crate::http::{Address, Body, Busy, InFlight, Request, Response};
use crate::ledger::{Ledger, LedgerError};
use crate::operator::audit::Author;
use crate::operator::notifications::QueuedRounds;
use crate::operator::roles::{Permission, Roles};
use crate::operator::{OperationId, OperatorError};
use crate::service::{Clock, Entropy, Outbox};
use crate::store::{OperatorStore, StoreError};
use layout::{Layout, Page};
use maud::html;
use metered::Metered;
use request::PageRequest;

/// The dashboard and its ports.
#[expect(missing_debug_implementations, reason = "ports")]
pub struct Dashboard<'d, S, C, E> {
    /// The records in Workers KV.
    pub store: &'d S,
    /// The clock.
    pub clock: &'d C,
    /// The source of randomness.
    pub entropy: &'d E,
    /// The Worker's variables.
    pub settings: &'d Settings,
    /// The service's queue of notifications; `None` if none is bound.
    pub outbox: Option<&'d dyn Outbox>,
    /// The ledger; `None` if no database is bound.
    pub ledger: Option<&'d dyn Ledger>,
    /// The bytes that the current requests hold.
    pub in_flight: &'d InFlight,
    /// The e-mails that this instance has recently queued again.
    pub rounds: &'d QueuedRounds,
}

/// The context of one request: the ports, and the roles of the signed-in person.
struct PageContext<'d, S, C, E> {
    store: &'d S,
    author: Author<'d, C, E>,
    clock: &'d C,
    entropy: &'d E,
    settings: &'d Settings,
    outbox: Option<&'d dyn Outbox>,
    ledger: Option<&'d dyn Ledger>,
    rounds: &'d QueuedRounds,
    roles: &'d Roles,
}

impl<S, C, E> PageContext<'_, S, C, E> {
    /// Returns whether the person has this permission. Pages leave out links and forms that the person may not use.
    fn may(&self, permission: Permission) -> bool {
        self.roles.may(permission)
    }
}

/// The reason why a page is not shown or a form is not carried out.
enum Refusal {
    /// A function of [`operator`](crate::operator) failed.
    Operator(OperatorError),
    /// The request itself is wrong: the HTTP status, and a text that says what is wrong and what to do.
    Request(u16, String),
    /// The requests of this person, or of all people together, already hold too many bytes.
    Busy,
}

impl From<Busy> for Refusal {
    fn from(_: Busy) -> Self {
        Refusal::Busy
    }
}

impl From<OperatorError> for Refusal {
    fn from(error: OperatorError) -> Self {
        Refusal::Operator(error)
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Refusal::Operator(error.into())
    }
}

type Result<T = Page, E = Refusal> = std::result::Result<T, E>;

impl Refusal {
    /// Returns a 422 refusal with this text.
    fn invalid(problem: impl Into<String>) -> Self {
        Refusal::Request(422, problem.into())
    }

    fn status(&self) -> u16 {
        match self {
            Refusal::Operator(OperatorError::Repeated(_)) => 409,
            Refusal::Operator(OperatorError::Invalid(_)) => 422,
            Refusal::Operator(OperatorError::Store(StoreError::Damaged(_))) => 500,
            Refusal::Operator(OperatorError::Ledger(LedgerError::Unavailable))
            | Refusal::Operator(OperatorError::Store(StoreError::Unavailable | StoreError::Busy))
            | Refusal::Busy => 503,
            Refusal::Operator(OperatorError::Ledger(_)) => 500,
            Refusal::Request(status, _) => *status,
        }
    }

    fn page(&self) -> Page {
        let status = self.status();
        let (title, text) = match self {
            Refusal::Operator(OperatorError::Store(StoreError::Unavailable)) => (
                "Workers KV timed out",
                "Workers KV did not answer in time. Part of your change may have been saved: check \
                 the page of what you changed, then send it again."
                    .to_owned(),
            ),
            Refusal::Operator(OperatorError::Ledger(LedgerError::Unavailable)) => (
                "The ledger timed out",
                "The database did not answer in time. Check what you changed, then send it again.".to_owned(),
            ),
            Refusal::Operator(OperatorError::Store(StoreError::Busy)) => (
                "Too busy",
                "You have too many large pages open. Wait a moment, then reload. If you sent a form, part \
                 of it may have been saved: check that before you send it again."
                    .to_owned(),
            ),
            Refusal::Busy => (
                "Too busy",
                "You have too many pages open. Nothing was changed: wait a moment, then reload."
                    .to_owned(),
            ),
            Refusal::Operator(OperatorError::Repeated(text)) => ("The form was sent twice", text.clone()),
            Refusal::Operator(error) => ("The request failed", error.to_string()),
            Refusal::Request(403, text) => ("Access denied", text.clone()),
            Refusal::Request(404, text) => ("Page not found", text.clone()),
            Refusal::Request(_, text) => ("Invalid request", text.clone()),
        };
        let text = view::inline_code(&view::sentence(&text));
        Page { status, ..Page::new(title, html! { p.lead { (text) } }) }
    }
}

impl<S: OperatorStore, C: Clock, E: Entropy> Dashboard<'_, S, C, E> {
    /// Serves one request of this person. An error is also answered with a page.
    pub async fn handle(
        &self,
        request: &impl Request,
        identity: Identity<'_>,
    ) -> Response<S::Value> {
        let began_ms = self.clock.now_ms();
        let page_request = PageRequest::new(request);
        let roles = self.settings.roles_of(identity);
        let page = match self.answer(request, &page_request, identity, &roles).await {
            Ok(page) => page,
            Err(refusal) => refusal.page(),
        };
        let layout =
            Layout { settings: self.settings, roles: &roles, identity, path: &page_request.path };
        let took_ms = self.clock.now_ms().saturating_sub(began_ms);
        let log = page_request.log_line(page.status, took_ms);
        let mut response = page.into_response(&layout);
        response.log = Some(log);
        response.keep_https(&Address::parse(&request.url()));
        if page_request.method == "HEAD" {
            response.body = Body::Empty; // the headers stay those of a GET
        }
        response
    }

    async fn answer(
        &self,
        request: &impl Request,
        page_request: &PageRequest,
        identity: Identity<'_>,
        roles: &Roles,
    ) -> Result {
        if identity == Identity::WithoutAddress
            && page_request.route().is_ok_and(|it| it == Route::Health)
        {
            let now_ms = self.clock.now_ms(); // monitors sign in with a service token of Access
            return Ok(ledger::health(self.ledger, &self.settings.version, now_ms).await);
        }
        let by = identity.address()?;
        let route = page_request.route()?;
        if !roles.may(route.permission()) {
            return Err(access::refusal(by, roles, route.permission(), &self.settings.problems));
        }
        page_request.check_origin()?;
        // Each person has a share of the bytes, so that one person cannot block the pages of another.
        let reservation = || self.in_flight.reservation(by.to_owned());
        let store = &Metered::new(self.store, reservation())?;
        let mut of_form = reservation(); // held as long as the form: until the page is rendered
        let form = page_request.form(request, &route, &mut of_form).await?;
        let author = Author::new(by, self.clock, self.entropy)?;
        let author = match form.given(operation::FIELD) {
            None => author,
            Some(id) => author.with_operation(OperationId::parse(id)?),
        };
        let context = PageContext {
            store,
            author,
            clock: self.clock,
            entropy: self.entropy,
            settings: self.settings,
            outbox: self.outbox,
            ledger: self.ledger,
            rounds: self.rounds,
            roles,
        };
        context.show(&route, &form, &page_request.query).await
    }
}
