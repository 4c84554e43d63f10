use percent_encoding::percent_decode_str;
use std::borrow::Cow;
use std::net::{Ipv4Addr, Ipv6Addr};

/// The parts of a URL, found by splitting its text. A complete URL parser would be larger than the rest of the Worker's
/// code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address<'u> {
    /// The scheme, host and port.
    pub origin: &'u str,
    /// The path, from the slash after the origin to the question mark.
    pub path: &'u str,
    /// The query, after the question mark.
    pub query: &'u str,
}

impl<'u> Address<'u> {
    pub fn parse(url: &'u str) -> Self {
        let host = url.find(':').map_or(0, |scheme| scheme + "://".len());
        let authority = url.get(host..).unwrap_or_default();
        let end = authority.find(['/', '?', '#']).map_or(url.len(), |length| host + length);
        let (origin, rest) = url.split_at_checked(end).unwrap_or((url, ""));
        let rest = rest.split('#').next().unwrap_or_default();
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        Address { origin, path, query }
    }

    /// Returns the value of a query parameter. Name and value may be percent-encoded (RFC 3986).
    pub fn parameter(&self, name: &str) -> Option<Cow<'u, str>> {
        self.query.split('&').filter_map(|pair| pair.split_once('=')).find_map(|(other, value)| {
            (percent_decode(other) == name).then(|| percent_decode(value))
        })
    }

    /// Returns whether requests to this URL are encrypted in transit.
    pub fn is_https(&self) -> bool {
        self.origin.starts_with("https://")
    }

    /// Returns whether the host is this machine: `localhost`, a subdomain of it, 127.0.0.0/8 or `[::1]`.
    pub fn is_loopback(&self) -> bool {
        let authority = self.origin.split_once("://").map_or("", |(_, authority)| authority);
        let host = without_port(authority).to_ascii_lowercase();
        let is_ipv6 = |host: &str| {
            let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
            address.and_then(|text| text.parse().ok()).is_some_and(|ip: Ipv6Addr| ip.is_loopback())
        };
        host == "localhost"
            || host.ends_with(".localhost")
            || host.parse().is_ok_and(|ip: Ipv4Addr| ip.is_loopback())
            || is_ipv6(&host)
    }
}

/// Returns the URL with another origin, and the same path and query.
pub fn at_origin(url: &str, origin: &str) -> String {
    let rest = url.strip_prefix(Address::parse(url).origin).unwrap_or_default();
    [origin, rest].concat()
}

/// Decodes a percent-encoded part of a URL. Returns an empty text if the result is not UTF-8.
pub fn percent_decode(part: &str) -> Cow<'_, str> {
    percent_decode_str(part).decode_utf8().unwrap_or_default()
}

/// Returns the host of a URL's authority (`host:port`), without the port. An IPv6 address keeps its brackets.
pub fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}
