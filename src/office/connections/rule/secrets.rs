//! The secrets with which shop systems sign. They are sealed by a key that is derived from the namespace's secret. So nobody
//! can read them in the ledger, its exports and backups; somebody who can read Workers KV can.

use super::fetch::{is_store_hash, public_host};
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::refused::RefusalCode;
use crate::pledges::orders::System;
use crate::pledges::sealed::{NONCE_BYTES, Sealer};
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
    let problem = format!(
        "nothing was changed: a secret has {MIN_BYTES} to {MAX_BYTES} characters (bytes in UTF-8)"
    );
    Err(OperatorError::at("secret", RefusalCode::Invalid, problem))
}

/// Checks the token for the API of a shop system.
pub(super) fn check_token(system: System, store: &str, token: &str) -> Result<()> {
    let refused = |argument, problem: &str| {
        let problem = format!("nothing was changed: {problem}");
        Err(OperatorError::at(argument, RefusalCode::Invalid, problem))
    };
    let token = token.trim();
    let is_token = token.bytes().all(|byte| byte.is_ascii_graphic());
    match system {
        _ if !is_token || !(MIN_BYTES..=MAX_BYTES).contains(&token.len()) => refused(
            "token",
            &format!("a token has {MIN_BYTES} to {MAX_BYTES} ASCII characters without blanks"),
        ),
        System::WooCommerce if !token.contains(':') => refused(
            "token",
            "write the consumer key and the consumer secret with a colon between them: `ck_…:cs_…`",
        ),
        System::WooCommerce if public_host(store).is_none() => refused(
            "store",
            "orders can only be fetched from a public host, such as `shop.example`",
        ),
        System::Shopify if !store.ends_with(".myshopify.com") || public_host(store).is_none() => {
            refused(
                "store",
                "orders can only be fetched from an address such as `acme.myshopify.com`",
            )
        }
        System::BigCommerce if !is_store_hash(store) => refused(
            "store",
            "write the hash of the store, which is in the API path: `abcde` of `https://api.bigcommerce.com/stores/abcde/v3/`",
        ),
        _ => Ok(()),
    }
}

pub(super) fn seal(sealer: &Sealer, entropy: &impl Entropy, text: &str) -> Result<String> {
    let mut nonce = [0; NONCE_BYTES];
    entropy.fill(&mut nonce);
    let sealed = sealer.seal(nonce, text.trim().as_bytes());
    sealed.ok_or_else(|| OperatorError::invalid("nothing was changed: the secret is too long"))
}
