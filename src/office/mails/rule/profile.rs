//! The profile that a unit's notifications use.

use crate::buyer::recipient::Profile;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::records::load;
use crate::pledges::store::{OperatorStore, ProfileKey};
use crate::pledges::types::NotificationService;

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
