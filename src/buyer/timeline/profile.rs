use super::{Damaged, KnownProfile, Timelines};
use crate::pledges::api::Problem;
use crate::pledges::service::{Clock, Entropy, Service};
use crate::pledges::store::{ProfileKey, Store};
use std::rc::Rc;

impl Timelines {
    /// Returns the profile of a unit, from the cache or the store. The cache also remembers that a profile is
    /// missing or damaged.
    ///
    /// # Errors
    /// If the profile cannot be read. A damaged profile is an error only at the first read, before it is
    /// cached.
    pub(super) async fn profile<S: Store, C: Clock, E: Entropy>(
        &self,
        service: &Service<'_, S, C, E, Self>,
        unit: &str,
    ) -> Result<Rc<KnownProfile>, Problem> {
        let now_ms = service.clock.now_ms();
        if let Some(known) = self.profiles.get(unit, now_ms) {
            return Ok(known);
        }
        let (profile, damage) = match service.load(&ProfileKey(unit)).await {
            Ok(profile) => (Ok(profile), None),
            Err(damage @ Problem::Internal(_)) => (Err(Damaged), Some(damage)), // cached until it expires
            Err(problem) => return Err(problem),
        };
        let profile = self.profiles.keep(unit.to_owned(), profile, now_ms);
        damage.map_or(Ok(profile), Err)
    }
}
