//! The address of an adapter of a messaging service: the service binding or the URL by which requests reach it.

use super::signature::SigningSecrets;
use crate::pledges::http::Address;
use crate::pledges::types::NotificationService;
use crate::pledges::validate::format::is_uri;
use std::fmt::{self, Display, Formatter};

/// Maximum length of a URL, in bytes.
const MAX_URL_BYTES: usize = 2_048;

/// The name of an adapter's address, such as `MESSAGING_SERVICE_A`. The address's service binding has
/// the same name. The names of the address's variable and secret begin with this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdapterName {
    pub service: NotificationService,
    /// Whether the address is for transactions of live keys.
    pub is_live: bool,
}

impl AdapterName {
    /// Returns the URL for requests through a service binding. It serves only to name the messaging service.
    pub fn internal_url(self) -> &'static str {
        match self.service {
            NotificationService::MessagingServiceB => "https://messaging-service-b.internal/",
            NotificationService::MessagingServiceC => "https://messaging-service-c.internal/",
            _ => "https://messaging-service-a.internal/",
        }
    }
}

/// Shows the name of the service binding.
impl Display for AdapterName {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self.service {
            NotificationService::Email => "EMAIL",
            NotificationService::MessagingServiceA => "MESSAGING_SERVICE_A",
            NotificationService::MessagingServiceB => "MESSAGING_SERVICE_B",
            NotificationService::MessagingServiceC => "MESSAGING_SERVICE_C",
        })?;
        formatter.write_str(if self.is_live { "" } else { "_TEST" })
    }
}

/// How requests reach an attached adapter: by a URL or a service binding.
#[derive(Clone, Debug)]
pub struct AdapterAddress {
    /// Where requests are posted; `None` if the adapter is bound as a service.
    pub url: Option<String>,
    /// The secrets that sign the requests. An adapter that is bound as a service may have none.
    pub secrets: Option<SigningSecrets>,
}

/// Why an address does not work although its binding or variable is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressProblem {
    /// The URL is invalid or not allowed, for example because it is not `https`.
    InvalidUrl,
    /// A URL is set, but no secret.
    NoSecret,
    InvalidSecret,
}

impl AddressProblem {
    pub fn text(self, name: AdapterName) -> String {
        let reason = match self {
            AddressProblem::InvalidUrl => format!(
                "the variable `{name}_URL` must be an `https://` URL without a user name, of at most \
                 {MAX_URL_BYTES} bytes"
            ),
            AddressProblem::NoSecret => {
                format!("the variable `{name}_URL` needs the secret `{name}_SECRET`")
            }
            AddressProblem::InvalidSecret => format!(
                "the secret `{name}_SECRET` must be `whsec_` and the base64 of 24 to 64 bytes; while you rotate it, \
                 set it to the new secret and the old one, separated by a space"
            ),
        };
        format!("{} is not attached: {reason}", described(name))
    }
}

fn described(AdapterName { service, is_live }: AdapterName) -> String {
    format!("{}{}", service.name(), if is_live { "" } else { " for test keys" })
}

impl AdapterAddress {
    /// Makes an address from a service binding if there is one, or else from a URL. `url` and `secret` are empty if they
    /// are not set. Returns `None` if there is neither a binding nor a URL.
    ///
    /// # Errors
    /// If the URL or the secret is invalid, or a URL has no secret. The address then does not work.
    pub fn parse(
        has_binding: bool,
        url: &str,
        secret: &str,
    ) -> Result<Option<Self>, AddressProblem> {
        let (url, secret) = (url.trim(), secret.trim());
        if !has_binding && url.is_empty() {
            return Ok(None);
        }
        if !has_binding && !is_postable(url) {
            return Err(AddressProblem::InvalidUrl);
        }
        let secrets = match secret {
            "" if has_binding => None,
            "" => return Err(AddressProblem::NoSecret),
            text => Some(SigningSecrets::parse(text).ok_or(AddressProblem::InvalidSecret)?),
        };
        Ok(Some(AdapterAddress { url: (!has_binding).then(|| url.to_owned()), secrets }))
    }
}

/// Returns whether messages may be posted to a URL: by https, or by http to this machine.
fn is_postable(url: &str) -> bool {
    let address = Address::parse(url);
    let authority = address.origin.split_once("://").map_or("", |(_, authority)| authority);
    let is_local = address.origin.starts_with("http://") && address.is_loopback();
    url.len() <= MAX_URL_BYTES
        && is_uri(url.as_bytes())
        && (address.is_https() || is_local)
        && !authority.is_empty()
        && !authority.contains('@')
}
