//! The secrets with which shop systems sign. They are sealed by a key that is derived from the namespace's secret. So nobody
//! can read them in the ledger, its exports and backups; somebody who can read Workers KV can.

use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::refused::RefusalCode;
use crate::pledges::orders::ConnectionId;
use crate::pledges::orders::connection::sealer;
use crate::pledges::sealed::NONCE_BYTES;
use crate::pledges::secret::NamespaceSecret;
use crate::pledges::service::Entropy;

/// Length of a secret in bytes. A shorter one could be guessed.
const MIN_BYTES: usize = 8;
const MAX_BYTES: usize = 255;

/// Maximum number of secrets that are accepted at the same time.
pub(super) const MAX_SECRETS: usize = 2;

/// Checks a secret. It is used as it is entered, except for blanks around it.
pub(super) fn check(secret: &str) -> Result<()> {
    if (MIN_BYTES..=MAX_BYTES).contains(&secret.trim().len()) {
        return Ok(());
    }
    let problem = format!("nothing was changed: a secret has {MIN_BYTES} to {MAX_BYTES} bytes");
    Err(OperatorError::at("secret", RefusalCode::Invalid, problem))
}

pub(super) fn seal(
    id: &ConnectionId,
    secret: &NamespaceSecret,
    entropy: &impl Entropy,
    text: &str,
) -> Result<String> {
    let mut nonce = [0; NONCE_BYTES];
    entropy.fill(&mut nonce);
    let sealed = sealer(id, secret).seal(nonce, text.trim().as_bytes());
    sealed.ok_or_else(|| OperatorError::invalid("nothing was changed: the secret is too long"))
}
