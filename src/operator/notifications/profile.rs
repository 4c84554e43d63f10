//! The profile that a unit's e-mails use.

use crate::operator::{Result, load};
use crate::recipient::Profile;
use crate::store::{OperatorStore, ProfileKey};

/// Returns the profile of a unit; `None` if it has none, or its e-mails are off.
pub(super) async fn mailing_profile(
    store: &impl OperatorStore,
    unit: &str,
) -> Result<Option<Profile>> {
    let profile: Option<Profile> = load(store, ProfileKey(unit)).await?;
    Ok(profile.filter(|profile| profile.mail))
}
