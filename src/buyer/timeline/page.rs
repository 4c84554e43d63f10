//! The recipient's page, the timeline.

use super::news::{Asking, asked, news_key};
use super::offerings::Offerings;
use super::{Damaged, Timelines};
use crate::buyer::recipient;
use crate::buyer::recipient::{Language, NewsForm, Page, Profile};
use crate::pledges::api::{EDIT_KEY_PARAMETER, Problem, header};
use crate::pledges::http::{Address, Request, Response};
use crate::pledges::scope::Scope;
use crate::pledges::service::{Clock, Entropy, Service};
use crate::pledges::store::{Cancelled, CancelledKey, Key as _, Store, TransactionKey, decode};
use crate::pledges::types::{NotificationService, TransactionId};
use futures_util::FutureExt as _;
use futures_util::future::join4;
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
        let asked = asked(request, address);
        match self.timeline_page(service, id, address, language, asked).await {
            Ok((page, cause)) => Response { log: cause, ..Response::html(200, page) },
            Err(problem) => Response::problem_page(&problem, language),
        }
    }

    /// Returns the page. If the profile, the updates or the record of a cancellation could not be read, also
    /// returns why. A wrong or missing edit key leads to the same error as an unknown ID.
    ///
    /// `asked` is whether the buyer wants e-mails with news, if the request says so. The page then shows what was written, because
    /// KV may show it later.
    async fn timeline_page<S: Store, C: Clock, E: Entropy>(
        &self,
        service: &Service<'_, S, C, E, Self>,
        id: &str,
        address: &Address<'_>,
        language: Language,
        asked: Option<bool>,
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
        let (id, offerings) = (TransactionId::parse(id), Offerings::of(&transaction));
        let key = news_key(id.as_ref(), offerings.as_ref());
        let reads = join4(
            self.profile(service, &unit),
            cancelled(service, id.as_ref()),
            self.updates(service, mode, offerings.clone()),
            self.subscribed(service, key, &transaction),
        );
        let (profile, cancelled, updates, subscribed) = reads.boxed_local().await;
        reservation.resize(bytes.len().saturating_add(updates.bytes))?;
        let mut problems = Vec::new();
        let profile = or_note(profile, &mut problems).unwrap_or_else(|| Rc::new(Err(Damaged)));
        let cancelled = or_note(cancelled, &mut problems).flatten();
        let subscribed = or_note(subscribed, &mut problems).flatten();
        if asked.is_some() && !problems.is_empty() {
            return Err(problems.swap_remove(0));
        }
        let profile = profile.as_ref().as_ref().ok().and_then(Option::as_ref);
        let has_mail = profile.is_some_and(|profile| profile.notifies(NotificationService::Email));
        let may_ask = has_mail && cancelled.is_none() && problems.is_empty();
        let asking = subscribed.filter(|_| may_ask).zip(key).zip(offerings.as_ref());
        let news = match asking {
            Some(((is_on, key), offerings)) => {
                let asking = Asking {
                    key,
                    offerings,
                    created_at: &transaction.created_at,
                    language: profile.and_then(Profile::language).unwrap_or(language),
                    seen: updates.news(),
                };
                let is_on = self.ask(service, asking, asked).await?.unwrap_or(is_on);
                Some(NewsForm { is_on, edit_key: &edit_key })
            }
            None => None,
        };
        let progress = updates.progress();
        let page = match &cancelled {
            None => {
                recipient::page(&transaction, profile, &progress, language, service.clock, news)
            }
            Some(Cancelled { at }) => recipient::cancelled_page(
                &transaction,
                profile,
                &progress,
                language,
                service.clock,
                at,
            ),
        };
        let causes = problems.iter().map(Problem::cause).chain(updates.cause.as_deref());
        let causes = causes.collect::<Vec<_>>().join("; ");
        Ok((page, Some(causes).filter(|causes| !causes.is_empty())))
    }
}

/// Returns what was read. If it could not be read, adds the problem.
fn or_note<T>(read: Result<T, Problem>, problems: &mut Vec<Problem>) -> Option<T> {
    read.map_err(|problem| problems.push(problem)).ok()
}

async fn cancelled<S: Store, C: Clock, E: Entropy>(
    service: &Service<'_, S, C, E, Timelines>,
    id: Option<&TransactionId>,
) -> Result<Option<Cancelled>, Problem> {
    match id {
        Some(id) => service.load(&CancelledKey(id)).await,
        None => Ok(None),
    }
}
