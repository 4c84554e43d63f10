//! Origins: scheme, host and port.

use super::address::without_port;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddrV6};

/// Returns whether a text is an origin: `http` or `https`, a host name or IP address, and optionally a port.
pub fn is_origin(text: &str) -> bool {
    let authority = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    authority.is_some_and(|authority| is_name(authority) || is_ipv6(authority))
}

/// Returns whether an authority is an IPv6 address in brackets, with an optional port.
fn is_ipv6(authority: &str) -> bool {
    let has_scope = authority.contains('%'); // not allowed in a URL
    let with_port = format!("{authority}:0"); // std requires a port
    !has_scope && [authority, &with_port].iter().any(|text| text.parse::<SocketAddrV6>().is_ok())
}

/// Returns whether a browser may send this text in the header `Origin`: in lower case, and without the scheme's default
/// port.
///
/// A browser never sends: `https://Shop.example`, `https://shop.example:443`, `https://shop.example/`,
/// `https://*.shop.example`, `shop.example`, `ftp://shop.example`.
pub fn is_sent_origin(text: &str) -> bool {
    let Some((scheme, authority)) = text.split_once("://") else {
        return text == "null"; // the origin of a file or a sandboxed frame
    };
    let has_upper_case = text.bytes().any(|byte| byte.is_ascii_uppercase());
    !has_upper_case
        && match scheme {
            "http" => is_origin(text) && is_serialized(authority, ":80"),
            "https" => is_origin(text) && is_serialized(authority, ":443"),
            _ => is_app_origin(scheme, authority),
        }
}

/// Returns whether an authority has the form in which browsers send it. Browsers leave out `default_port`.
fn is_serialized(authority: &str, default_port: &str) -> bool {
    let host = without_port(authority);
    let port = authority.strip_prefix(host).unwrap_or_default();
    let number = port.strip_prefix(':').and_then(|digits| digits.parse::<u16>().ok());
    let is_port = port.is_empty() || number.is_some_and(|number| port == format!(":{number}"));
    let ends_in_number = host
        .rsplit('.')
        .next()
        .is_some_and(|label| !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_digit()));
    let is_host = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(ipv6) => ipv6.parse().is_ok_and(|ip: Ipv6Addr| ip.to_string() == ipv6),
        None => !ends_in_number || host.parse::<Ipv4Addr>().is_ok(),
    };
    is_host && is_port && port != default_port
}

/// Returns whether an app or an extension may have this origin, such as `capacitor://localhost`.
fn is_app_origin(scheme: &str, host: &str) -> bool {
    let is_scheme = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    let is_host = |byte: u8| byte.is_ascii_graphic() && !b"/?#@*".contains(&byte);
    let is_of_web = ["ftp", "ws", "wss", "file"].contains(&scheme); // no page has such an origin
    !is_of_web
        && scheme.starts_with(|first: char| first.is_ascii_lowercase())
        && scheme.bytes().all(is_scheme)
        && !host.is_empty()
        && host.bytes().all(is_host)
}

fn is_name(authority: &str) -> bool {
    let (host, port) = authority.split_once(':').unwrap_or((authority, "0"));
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    let is_label = |label: &str| !label.is_empty() && label.bytes().all(is_plain);
    is_port && host.len() <= 253 && host.trim_end_matches('.').split('.').all(is_label)
}
