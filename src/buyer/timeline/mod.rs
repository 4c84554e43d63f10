//! Serves timelines, and reads the profiles of units for them and for notifications: the service's port
//! [`Recipients`]. Also serves the public totals of shops.

mod news;
mod offerings;
mod page;
mod profile;
mod response;
mod total;
mod unsubscribe;
mod updates;

pub use offerings::{MAX_OFFERINGS, Offerings};

use super::recipient::Profile;
use super::total::PublicTotal;
use super::updates::OfferingUpdates;
use crate::pledges::api::Problem;
use crate::pledges::http::{Address, Request, Response};
use crate::pledges::service::{Cache, Clock, Entropy, Recipients, Service};
use crate::pledges::store::Store;
use crate::pledges::types::NotificationService;

/// The profiles and updates that an isolate has read recently, for all its requests.
#[derive(Debug, Default)]
pub struct Timelines {
    profiles: Cache<String, KnownProfile>,
    /// The updates of each offering and month, by the names of their records. The total size in bytes is
    /// limited too.
    updates: Cache<String, KnownUpdates>,
    /// The public totals, by unit. The total size in bytes is limited too.
    totals: Cache<String, KnownTotal>,
}

/// The profile of a unit: `None` if it has none, [`Damaged`] if its record could not be read.
type KnownProfile = Result<Option<Profile>, Damaged>;

/// The updates of an offering and month: `None` if there are none, [`Damaged`] if their record could not be
/// read.
type KnownUpdates = Result<Option<OfferingUpdates>, Damaged>;

/// The public total of a unit; `None` if there is none yet.
type KnownTotal = Option<PublicTotal>;

/// Stands for a record that could not be read. The failure was already logged.
#[derive(Debug)]
struct Damaged;

impl Recipients for Timelines {
    async fn delivering<S: Store, C: Clock, E: Entropy>(
        &self,
        service: &Service<'_, S, C, E, Self>,
        unit: &str,
        services: Vec<NotificationService>,
    ) -> Vec<NotificationService> {
        let Ok(known) = self.profile(service, unit).await else { return services };
        let Ok(profile) = known.as_ref() else { return services };
        let is_on = |service: &NotificationService| {
            profile.as_ref().is_some_and(|profile| profile.notifies(*service))
        };
        services.into_iter().filter(is_on).collect()
    }

    async fn timeline<S: Store, C: Clock, E: Entropy>(
        &self,
        service: &Service<'_, S, C, E, Self>,
        request: &impl Request,
        id: &str,
        address: &Address<'_>,
    ) -> Response<S::Value> {
        self.answer(service, request, id, address).await
    }

    async fn unsubscribe<S: Store, C: Clock, E: Entropy>(
        &self,
        service: &Service<'_, S, C, E, Self>,
        request: &impl Request,
        id: &str,
        address: &Address<'_>,
    ) -> Response<S::Value> {
        self.unsubscribe_answer(service, request, id, address).await
    }

    async fn public_total<S: Store, C: Clock, E: Entropy>(
        &self,
        service: &Service<'_, S, C, E, Self>,
        unit: &str,
    ) -> Result<Response<S::Value>, Problem> {
        self.total_answer(service, unit).await
    }
}
