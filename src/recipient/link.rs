//! Addresses that a page may link to.

use crate::http::without_port;
use crate::validate::format::is_uri;

/// Most bytes of an address. No browser has a lower limit.
const MAX_LENGTH: usize = 2_048;

/// An address that is safe to link to or load: http or https, and a host.
///
/// Not such an address: `javascript:alert(1)`, `data:image/png;base64,AA==`, `//host`,
/// `https:///path`, `https:host`, `https://@/`, more than 2,048 bytes, anything that is not a URI.
#[derive(Clone, Copy, Debug)]
pub struct WebAddress<'a> {
    /// The whole address.
    pub href: &'a str,
    /// The host without `www.`. It leaves out user information, which can look like a host.
    pub host: &'a str,
    /// Whether it names a user, perhaps with a password.
    pub has_user: bool,
}

impl<'a> WebAddress<'a> {
    /// Parses an address; returns `None` if it is not safe.
    pub fn parse(href: &'a str) -> Option<Self> {
        let (scheme, rest) = href
            .split_once("://")
            .filter(|_| href.len() <= MAX_LENGTH && is_uri(href.as_bytes()))?;
        let is_web = ["http", "https"].iter().any(|web| scheme.eq_ignore_ascii_case(web));
        let authority = rest.split(['/', '?', '#']).next()?;
        let host = without_port(authority.rsplit('@').next()?);
        let host = host.strip_prefix("www.").unwrap_or(host);
        let has_user = authority.contains('@');
        (is_web && !host.is_empty()).then_some(WebAddress { href, host, has_user })
    }
}
