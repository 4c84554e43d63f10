//! URLs that a page may link to.

use crate::pledges::http::without_port;
use crate::pledges::validate::format::is_uri;

/// Maximum length of a URL, in bytes. All browsers support URLs of this length.
const MAX_LENGTH: usize = 2_048;

/// A URL that is safe to link to or load. It has the scheme http or https, and a host.
///
/// These are refused: `javascript:alert(1)`, `data:image/png;base64,AA==`, `//host`, `https:///path`, `https:host`,
/// `https://@/`, anything longer than 2,048 bytes, and anything that is not a URI.
#[derive(Clone, Copy, Debug)]
pub struct WebAddress<'a> {
    /// The whole URL.
    pub href: &'a str,
    /// The host without `www.`. It never includes user information, which can look like a host.
    pub host: &'a str,
    /// Whether the URL contains user information: a user name, perhaps with a password.
    pub has_user: bool,
}

impl<'a> WebAddress<'a> {
    /// Parses a URL. Returns `None` if it is not safe.
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

    /// Returns whether a text is a safe URL with https and without a user name. A user name could look like a host.
    pub fn is_secure(href: &str) -> bool {
        let is_https = href.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://"));
        is_https && WebAddress::parse(href).is_some_and(|address| !address.has_user)
    }
}
