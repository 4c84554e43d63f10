//! The recipient's page, the timeline.

use super::cache::{Damaged, KnownProfile};
use super::offerings::Offerings;
use super::{Clock, Entropy, Service};
use crate::api::{EDIT_KEY_PARAMETER, Problem, header};
use crate::http::{Address, Request, Response};
use crate::pledge::TransactionId;
use crate::recipient::{self, Language, Page};
use crate::scope::Scope;
use crate::store::{Cancelled, CancelledKey, Key as _, ProfileKey, Store, TransactionKey, decode};
use futures_util::FutureExt as _;
use futures_util::future::join3;
use std::rc::Rc;

impl<S: Store, C: Clock, E: Entropy> Service<'_, S, C, E> {
    pub(super) async fn timeline(
        &self,
        request: &impl Request,
        id: &str,
        address: &Address<'_>,
    ) -> Response<S::Value> {
        let accepted = request.header(header::ACCEPT_LANGUAGE).unwrap_or_default();
        let language = Language::accepted(&accepted);
        match self.timeline_page(id, address, language).await {
            Ok((page, cause)) => Response { log: cause, ..Response::html(200, page) },
            Err(problem @ Problem::TransactionNotFound) => {
                Response::problem_page(&problem, recipient::not_found_page(language))
            }
            Err(problem) => Response::problem_page(&problem, recipient::unavailable_page(language)),
        }
    }

    /// Returns the page. If the profile, the updates or the record of a cancellation could not be read, also
    /// returns why. A wrong or missing edit key leads to the same error as an unknown ID.
    async fn timeline_page(
        &self,
        id: &str,
        address: &Address<'_>,
        language: Language,
    ) -> Result<(Page, Option<String>), Problem> {
        let edit_key = address.parameter(EDIT_KEY_PARAMETER).unwrap_or_default();
        let found = self.transaction(id).await?;
        let stored = found
            .filter(|stored| stored.metadata.opens_with(&edit_key))
            .ok_or(Problem::TransactionNotFound)?;
        let Scope { mode, unit } = stored.metadata.scope();
        // Readers have their own share of the bytes in flight, so that they cannot use up the share of the shop's keys.
        let readers = [mode.name(), "page", &unit].join(" ");
        let mut reservation = self.caches.in_flight.reservation(readers); // until the page is rendered
        let bytes = self.read_reserved(stored, &mut reservation).await?;
        // The record names the offerings. All further records are read at the same time.
        let transaction = decode(TransactionKey::KIND, &bytes)?;
        let updates = self.updates(mode, Offerings::of(&transaction));
        let reads = join3(self.profile(&unit), self.cancelled(id), updates);
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
            None => recipient::page(&transaction, profile, &progress, language, self.clock),
            Some(Cancelled { at }) => recipient::cancelled_page(
                &transaction,
                profile,
                &progress,
                language,
                self.clock,
                at,
            ),
        };
        let causes = [&no_profile, &no_mark].into_iter().flatten().map(Problem::cause);
        let causes = causes.chain(updates.cause.as_deref()).collect::<Vec<_>>().join("; ");
        Ok((page, Some(causes).filter(|causes| !causes.is_empty())))
    }

    /// Reads when a transaction was cancelled; `None` if it was not.
    async fn cancelled(&self, id: &str) -> Result<Option<Cancelled>, Problem> {
        match TransactionId::parse(id) {
            Some(id) => self.load(&CancelledKey(&id)).await,
            None => Ok(None),
        }
    }

    /// Returns the profile of a unit, from the cache or the store. The cache also remembers that a profile is
    /// missing or damaged.
    ///
    /// # Errors
    /// If the profile cannot be read. A damaged profile is an error only at the first read, before it is
    /// cached.
    pub(super) async fn profile(&self, unit: &str) -> Result<Rc<KnownProfile>, Problem> {
        let now_ms = self.clock.now_ms();
        if let Some(known) = self.caches.profiles.get(unit, now_ms) {
            return Ok(known);
        }
        let (profile, damage) = match self.load(&ProfileKey(unit)).await {
            Ok(profile) => (Ok(profile), None),
            Err(damage @ Problem::Internal(_)) => (Err(Damaged), Some(damage)), // cached until it expires
            Err(problem) => return Err(problem),
        };
        let profile = self.caches.profiles.keep(unit.to_owned(), profile, now_ms);
        damage.map_or(Ok(profile), Err)
    }
}
