//! The service's interfaces to the platform's clock and randomness.

use super::Service;
use crate::http::{Address, Request, Response};
use crate::pledge::NotificationService;
use crate::store::Store;
use crate::time::TimeZones;

/// The clock, with the time zones of the world.
pub trait Clock: TimeZones {
    /// Returns the milliseconds since 1970-01-01T00:00:00Z.
    fn now_ms(&self) -> u64;
}

/// A source of unpredictable random bytes.
pub trait Entropy {
    /// Fills `bytes`.
    fn fill(&self, bytes: &mut [u8]);
}

#[expect(async_fn_in_trait, reason = "one thread: no caller needs the futures to be Send")]
/// What the service asks about the recipients of pledges: how they are notified, and what they see.
pub trait Recipients: Sized {
    /// Returns those of `services` that the unit has switched on. If this cannot be found out, returns all of
    /// them: it is checked again before each delivery.
    async fn delivering<S: Store, C: Clock, E: Entropy>(
        &self,
        service: &Service<'_, S, C, E, Self>,
        unit: &str,
        services: Vec<NotificationService>,
    ) -> Vec<NotificationService>;

    /// Answers a request for the timeline of a transaction with a page, which may also state a problem.
    async fn timeline<S: Store, C: Clock, E: Entropy>(
        &self,
        service: &Service<'_, S, C, E, Self>,
        request: &impl Request,
        id: &str,
        address: &Address<'_>,
    ) -> Response<S::Value>;
}
