//! Signatures of requests to adapters, as Standard Webhooks 1.0 defines them.

use crate::pledges::hash::hmac;
use base64ct::{Base64, Base64Unpadded, Encoding as _};
use hmac::{Hmac, KeyInit as _};
use sha2::Sha256;
use std::fmt::{self, Debug, Formatter};
use std::ops::RangeInclusive;

const PREFIX: &str = "whsec_";
/// The permitted lengths of a secret, in bytes.
const SECRET_BYTES: RangeInclusive<usize> = 24..=64;
/// Maximum number of secrets: the new one and the old one while a secret is rotated.
const MAX_SECRETS: usize = 2;

/// The secrets that sign requests to an adapter: normally one, and two during a rotation. `Debug` shows only
/// how many there are.
#[derive(Clone)]
pub struct SigningSecrets(Vec<Hmac<Sha256>>);

/// The ID of a message, and the time of an attempt to send it.
#[derive(Clone, Copy, Debug)]
pub struct TimedId<'i> {
    /// The message's ID, which is the same for all attempts. It contains no full stop, because the signed
    /// text uses full stops as separators.
    pub id: &'i str,
    /// Seconds since 1970.
    pub seconds: u64,
}

impl SigningSecrets {
    /// Parses one or two secrets, separated by white space or a comma. A secret is `whsec_` followed by 24 to
    /// 64 bytes in base64. Returns `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let is_separator = |character: char| character.is_ascii_whitespace() || character == ',';
        let secrets = text.split(is_separator).filter(|part| !part.is_empty());
        let secrets: Vec<_> = secrets.map(parse_secret).collect::<Option<_>>()?;
        (1..=MAX_SECRETS).contains(&secrets.len()).then_some(SigningSecrets(secrets))
    }

    /// Returns the value of the header `webhook-signature`: a signature for each secret, separated by spaces.
    pub fn sign(&self, TimedId { id, seconds }: TimedId<'_>, body: &[u8]) -> String {
        let start = format!("{id}.{seconds}.");
        let signature = |secret: &Hmac<Sha256>| {
            let mac = hmac(secret.clone(), &[start.as_bytes(), body]);
            ["v1,", &Base64::encode_string(&mac)].concat()
        };
        self.0.iter().map(signature).collect::<Vec<_>>().join(" ")
    }
}

impl Debug for SigningSecrets {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "SigningSecrets({})", self.0.len())
    }
}

fn parse_secret(text: &str) -> Option<Hmac<Sha256>> {
    let encoded = text.strip_prefix(PREFIX)?.trim_end_matches('=');
    let bytes = Base64Unpadded::decode_vec(encoded).ok()?;
    let is_long_enough = SECRET_BYTES.contains(&bytes.len());
    Hmac::new_from_slice(&bytes).ok().filter(|_| is_long_enough)
}
