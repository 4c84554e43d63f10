//! Serves the public totals of shops.
//!
//! The profile decides, because it changes at once: the record of a total is removed later. A unit that is unknown, one that
//! publishes nothing and one with a damaged profile are all answered after one read, with the same answer.

use super::{KnownTotal, Timelines};
use crate::buyer::recipient::Profile;
use crate::buyer::total::PublicTotal;
use crate::pledges::api;
use crate::pledges::api::Problem;
use crate::pledges::auth::check_id;
use crate::pledges::http::{Media, Response};
use crate::pledges::service::{Clock, Entropy, Service};
use crate::pledges::store::{Store, TotalKey};
use std::rc::Rc;

impl Timelines {
    pub(super) async fn total_answer<S: Store, C: Clock, E: Entropy>(
        &self,
        service: &Service<'_, S, C, E, Self>,
        unit: &str,
    ) -> Result<Response<S::Value>, Problem> {
        let (total, damage) = match self.published_total(service, unit).await {
            Ok(total) => (total, None),
            Err(damage @ Problem::Internal(_)) => (None, Some(damage.cause().to_owned())),
            Err(problem) => return Err(problem),
        };
        let Some(total) = total.as_deref().and_then(Option::as_ref) else {
            let absent = Response::problem(&Problem::PathNotFound, None, None);
            return Ok(Response { log: damage.or(absent.log), ..absent });
        };
        Ok(Response { media: Media::PublicJson, ..Response::json(api::to_json(total)) })
    }

    /// Returns the total of a unit that publishes one.
    ///
    /// # Errors
    /// If a record cannot be read, or is damaged.
    async fn published_total<S: Store, C: Clock, E: Entropy>(
        &self,
        service: &Service<'_, S, C, E, Self>,
        unit: &str,
    ) -> Result<Option<Rc<KnownTotal>>, Problem> {
        if check_id(unit).is_err() {
            return Ok(None);
        }
        let profile = self.profile(service, unit).await?;
        let publishes = |profile: &Option<Profile>| {
            profile.as_ref().is_some_and(|profile| profile.public_total)
        };
        if !profile.as_ref().as_ref().is_ok_and(publishes) {
            return Ok(None);
        }
        let (now_ms, key) = (service.clock.now_ms(), TotalKey(unit));
        if let Some(known) = self.totals.get(unit, now_ms) {
            return Ok(Some(known));
        }
        let read = service.load_sized::<_, PublicTotal>(&key).await?;
        let bytes = read.as_ref().map_or(0, |(_, bytes)| *bytes);
        let total = read.map(|(total, _)| total);
        Ok(Some(self.totals.keep_sized(unit.to_owned(), total, bytes, now_ms)))
    }
}
