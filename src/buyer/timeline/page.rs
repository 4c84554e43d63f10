//! The recipient's page, the timeline.

use super::offerings::Offerings;
use super::{Damaged, Timelines};
use crate::buyer::recipient;
use crate::buyer::recipient::{Language, Page};
use crate::pledges::api::{EDIT_KEY_PARAMETER, Problem, header};
use crate::pledges::http::{Address, Request, Response};
use crate::pledges::scope::Scope;
use crate::pledges::service::{Clock, Entropy, Service};
use crate::pledges::store::{Cancelled, CancelledKey, Key as _, Store, TransactionKey, decode};
use crate::pledges::types::TransactionId;
use futures_util::FutureExt as _;
use futures_util::future::join3;
use std::rc::Rc;

impl Timelines {
    pub(super) async fn answer<S: Store, C: Clock, E: Entropy>(
        &self,
        service: &Service<'_, S, C, E, Self>,
        request: &impl Request,
        id: &str,
        address: &Address<'_>,
    ) -> Response<S::Value> {
        let accepted = request.header(header::ACCEPT_LANGUAGE).unwrap_or_default();
        let language = Language::accepted(&accepted);
        match self.timeline_page(service, id, address, language).await {
            Ok((page, cause)) => Response { log: cause, ..Response::html(200, page) },
            Err(problem @ Problem::TransactionNotFound) => {
                Response::problem_page(&problem, recipient::not_found_page(language))
            }
            Err(problem) => Response::problem_page(&problem, recipient::unavailable_page(language)),
        }
    }

    /// Returns the page. If the profile, the updates or the record of a cancellation could not be read, also
    /// returns why. A wrong or missing edit key leads to the same error as an unknown ID.
    async fn timeline_page<S: Store, C: Clock, E: Entropy>(
        &self,
        service: &Service<'_, S, C, E, Self>,
        id: &str,
        address: &Address<'_>,
        language: Language,
    ) -> Result<(Page, Option<String>), Problem> {
        let edit_key = address.parameter(EDIT_KEY_PARAMETER).unwrap_or_default();
        let found = service.transaction(id).await?;
        let stored = found
            .filter(|stored| stored.metadata.opens_with(&edit_key))
            .ok_or(Problem::TransactionNotFound)?;
        let Scope { mode, unit } = stored.metadata.scope.clone();
        // Readers have their own share of the bytes in flight, so that they cannot use up the share of the shop's keys.
        let readers = [mode.name(), "page", &unit].join(" ");
        let mut reservation = service.caches.in_flight.reservation(readers); // until the page is rendered
        let bytes = service.read_reserved(stored, &mut reservation).await?;
        // The record names the offerings. All further records are read at the same time.
        let transaction = decode(TransactionKey::KIND, &bytes)?;
        let updates = self.updates(service, mode, Offerings::of(&transaction));
        let reads = join3(self.profile(service, &unit), cancelled(service, id), updates);
        let (profile, cancelled, updates) = reads.boxed_local().await;
        reservation.resize(bytes.len().saturating_add(updates.bytes))?;
        let (profile, no_profile) = match profile {
            Ok(profile) => (profile, None),
            Err(problem) => (Rc::new(Err(Damaged)), Some(problem)),
        };
        let (cancelled, no_mark) = match cancelled {
            Ok(cancelled) => (cancelled, None),
            Err(problem) => (None, Some(problem)),
        };
        let profile = profile.as_ref().as_ref().ok().and_then(Option::as_ref);
        let progress = updates.progress();
        let page = match &cancelled {
            None => recipient::page(&transaction, profile, &progress, language, service.clock),
            Some(Cancelled { at }) => recipient::cancelled_page(
                &transaction,
                profile,
                &progress,
                language,
                service.clock,
                at,
            ),
        };
        let causes = [&no_profile, &no_mark].into_iter().flatten().map(Problem::cause);
        let causes = causes.chain(updates.cause.as_deref()).collect::<Vec<_>>().join("; ");
        Ok((page, Some(causes).filter(|causes| !causes.is_empty())))
    }
}

async fn cancelled<S: Store, C: Clock, E: Entropy>(
    service: &Service<'_, S, C, E, Timelines>,
    id: &str,
) -> Result<Option<Cancelled>, Problem> {
    match TransactionId::parse(id) {
        Some(id) => service.load(&CancelledKey(&id)).await,
        None => Ok(None),
    }
}
