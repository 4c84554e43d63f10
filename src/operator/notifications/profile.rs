//! The profile that a unit's notifications use.

use crate::operator::{Result, load};
use crate::pledge::NotificationService;
use crate::recipient::Profile;
use crate::store::{OperatorStore, ProfileKey};

/// Returns the profile of a unit. Returns `None` if the unit has no profile, or has switched off
/// notifications by this service.
pub(super) async fn notifying_profile(
    store: &impl OperatorStore,
    unit: &str,
    service: NotificationService,
) -> Result<Option<Profile>> {
    let profile: Option<Profile> = load(store, ProfileKey(unit)).await?;
    Ok(profile.filter(|profile| profile.notifies(service)))
}
