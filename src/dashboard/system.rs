//! What runs here: versions, limits, who may do what, and the last backup.

use super::form::Form;
use super::frame::Page;
use super::{Desk, Refusal, Result};
use crate::handle::{Clock, Entropy, LIFETIME_MS};
use crate::store::{CredentialKey, Key as _, OperatorStore, USUAL_CACHE_SECONDS};
use maud::html;

/// How long a change takes to be in force everywhere, usually, in seconds.
pub(super) fn seen_seconds() -> u64 {
    u64::from(USUAL_CACHE_SECONDS) + LIFETIME_MS / 1_000
}

/// How long a key that was revoked works, usually, in seconds.
pub(super) fn revoked_seconds() -> u64 {
    u64::from(CredentialKey::CACHE_SECONDS.unwrap_or(USUAL_CACHE_SECONDS)) + LIFETIME_MS / 1_000
}

pub(super) async fn system<S: OperatorStore, C: Clock, E: Entropy>(
    _desk: &Desk<'_, S, C, E>,
    _form: &Form,
    _query: &Form,
) -> Result {
    Err(Refusal::invalid("not written yet"))
}
