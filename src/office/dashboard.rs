//! The dashboard: pages and forms for people who do not use a shell.
//!
//! A page is one document with an inline style. It runs no script and loads nothing else.
//! Cloudflare Access identifies the person, and the [roles](crate::office::shared::rule::roles)
//! decide what they may do. URLs contain no secrets: a search is sent by `POST`, and the URL of its
//! results contains the search term only in encrypted form. The response to a form shows the result
//! of the change, because lists in Workers KV may lack the change for a minute.

pub use super::route::{Route, route};
pub use super::shared::page::identity::Identity;
pub use super::shared::page::settings::{Settings, Variables};

use super::audit::rule::Author;
use super::mails::rule::QueuedRounds;
use super::request::PageRequest;
use super::shared::page::access::Access;
use super::shared::page::context::PageContext;
use super::shared::page::layout::Layout;
use super::shared::page::metered::Metered;
use super::shared::page::refusal::Result;
use super::shared::rows::port::Ledger;
use super::shared::rule::operation_id::OperationId;
use crate::pledges::http::{Address, Body, InFlight, Request, Response};
use crate::pledges::service::{Clock, Entropy, Outbox};
use crate::pledges::store::OperatorStore;
use std::cell::OnceCell;

#[expect(missing_debug_implementations, reason = "ports")]
pub struct Dashboard<'d, S, C, E> {
    pub store: &'d S,
    pub clock: &'d C,
    pub entropy: &'d E,
    pub settings: &'d Settings,
    pub outbox: Option<&'d dyn Outbox>,
    pub ledger: &'d dyn Ledger,
    /// The number of bytes that the current requests hold in memory.
    pub in_flight: &'d InFlight,
    /// The notifications that this instance has recently put into the queue again.
    pub rounds: &'d QueuedRounds,
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
        let mut access = Access::default();
        let (page, hint) = match self.answer(request, &page_request, identity, &mut access).await {
            Ok(page) => (page, None),
            Err(refusal) => {
                let hint = refusal.hint();
                (refusal.page(), hint)
            }
        };
        let layout =
            Layout { settings: self.settings, access: &access, identity, path: &page_request.path };
        let took_ms = self.clock.now_ms().saturating_sub(began_ms);
        let log = page_request.log_line(page.status, took_ms, hint.as_deref());
        let mut response = layout.respond(page);
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
        access: &mut Access,
    ) -> Result {
        if identity == Identity::WithoutAddress
            && page_request.route().is_ok_and(|it| it == Route::Health)
        {
            let now_ms = self.clock.now_ms(); // monitors sign in with a service token of Access
            return Ok(super::system::page::ledger::health(
                self.store,
                self.ledger,
                &self.settings.version,
                now_ms,
            )
            .await);
        }
        let by = identity.address()?;
        *access = Access::of(by, self.settings, self.ledger).await?;
        let route = page_request.route()?;
        if !access.may_open(route.permission(), route.right()) {
            return Err(access.refusal(by, (route.permission(), route.right()), self.settings));
        }
        page_request.check_origin()?;
        // Each person has a share of the bytes, so that one person cannot block the pages of another.
        let reservation = || self.in_flight.reservation(by.to_owned());
        let store = &Metered::new(self.store, reservation())?;
        let mut of_form = reservation(); // held as long as the form: until the page is rendered
        let form = page_request.form(request, &route, &mut of_form).await?;
        let form = super::updates::page::with_picture(store, form).await;
        let author = Author::new(by, self.clock, self.entropy)?;
        let author = match access.is_staff() {
            true => author,
            false => author.with_rights(self.ledger, &access.memberships.0),
        };
        let author = match form.given(super::shared::page::operation::FIELD) {
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
            access,
            path: &page_request.path,
            outcome: OnceCell::new(),
        };
        context.show(&route, &form, &page_request.query).await
    }
}
