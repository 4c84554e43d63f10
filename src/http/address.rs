//! Addresses of requests.

use percent_encoding::percent_decode_str;
use std::borrow::Cow;
use std::net::SocketAddrV6;

/// The parts of an address, cut from its text: a URL parser would be most of the Worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address<'u> {
    /// Scheme, host and port.
    pub origin: &'u str,
    /// From the slash after the origin to the question mark.
    pub path: &'u str,
    /// After the question mark.
    pub query: &'u str,
}

impl<'u> Address<'u> {
    /// Splits an absolute address that the platform has normalised.
    pub fn parse(url: &'u str) -> Self {
        let host = url.find(':').map_or(0, |scheme| scheme + "://".len());
        let authority = url.get(host..).unwrap_or_default();
        let end = authority.find(['/', '?', '#']).map_or(url.len(), |length| host + length);
        let (origin, rest) = url.split_at_checked(end).unwrap_or((url, ""));
        let rest = rest.split('#').next().unwrap_or_default();
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        Address { origin, path, query }
    }

    /// The value of a query parameter; both may be percent-encoded (RFC 3986).
    pub fn parameter(&self, name: &str) -> Option<Cow<'u, str>> {
        self.query.split('&').filter_map(|pair| pair.split_once('=')).find_map(|(other, value)| {
            (percent_decode(other) == name).then(|| percent_decode(value))
        })
    }
}

/// Decodes a percent-encoded part of an address; empty if the result is not UTF-8.
pub fn percent_decode(part: &str) -> Cow<'_, str> {
    percent_decode_str(part).decode_utf8().unwrap_or_default()
}

/// Whether a text is `http` or `https`, a host name or IP address, and perhaps a port.
pub fn is_origin(text: &str) -> bool {
    let authority = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    authority.is_some_and(|authority| is_name(authority) || is_ipv6(authority))
}

/// Whether an authority is an IPv6 address in brackets, and perhaps a port.
fn is_ipv6(authority: &str) -> bool {
    let has_scope = authority.contains('%'); // not allowed in a URL
    let with_port = format!("{authority}:0"); // std requires a port
    !has_scope && [authority, &with_port].iter().any(|text| text.parse::<SocketAddrV6>().is_ok())
}

fn is_name(authority: &str) -> bool {
    let (host, port) = authority.split_once(':').unwrap_or((authority, "0"));
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    let is_label = |label: &str| !label.is_empty() && label.bytes().all(is_plain);
    is_port && host.len() <= 253 && host.trim_end_matches('.').split('.').all(is_label)
}
