//! E-mail addresses, reduced to the mailboxes that they name.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Normalises an e-mail address: returns the same text for all addresses that, by RFC 5321 (sections 2.4,
/// 4.1.2, 4.1.3), name the same mailbox. The text is for hashes only: no e-mail is sent to it.
///
/// - A quoted local part counts as its content without escapes: `"ada"@b.example`, `"\a\d\a"@b.example` and
///   `ada@b.example` are the same.
/// - ASCII case is ignored on both sides. Formally the case of a local part matters, but hardly any mail server
///   distinguishes `Ada@` from `ada@`.
/// - An address literal counts as its IP address: `[IPv6:2001:DB8::1]` and `[IPv6:2001:db8:0::1]` are the same.
///
/// Other spellings stay different on purpose, because only some mail servers treat them as one mailbox:
/// `ada+shop@`, `a.da@`, and the domains of one organisation.
pub fn mailbox(address: &str) -> String {
    let (local, domain) = address.rsplit_once('@').unwrap_or((address, ""));
    let quoted = local.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let local = quoted.map_or_else(|| local.to_owned(), without_escapes);
    let domain = domain.to_ascii_lowercase();
    let literal = domain.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let ip = literal.and_then(ip_address).map(|ip| base16ct::lower::encode_string(&ip.octets()));
    [&local.to_ascii_lowercase(), "@", ip.as_ref().unwrap_or(&domain)].concat()
}

fn without_escapes(quoted: &str) -> String {
    let mut characters = quoted.chars();
    let mut text = String::new();
    while let Some(character) = characters.next() {
        let escaped = (character == '\\').then(|| characters.next()).flatten();
        text.push(escaped.unwrap_or(character));
    }
    text
}

/// Parses an address literal in lower case. An IPv4 address becomes its IPv4-mapped IPv6 address.
fn ip_address(literal: &str) -> Option<Ipv6Addr> {
    let Some(address) = literal.strip_prefix("ipv6:") else {
        let address: Ipv4Addr = without_zeros(literal).parse().ok()?;
        return Some(address.to_ipv6_mapped());
    };
    let (groups, last) = address.rsplit_once(':')?;
    [groups, ":", &without_zeros(last)].concat().parse().ok()
}

/// Removes the leading zeros of each number in an IPv4 address, or of a group in an IPv6 address. RFC 5321
/// allows such zeros, but Rust's standard library does not.
fn without_zeros(text: &str) -> String {
    let shortest = |number: &str| match number.trim_start_matches('0') {
        "" => "0".to_owned(),
        number => number.to_owned(),
    };
    text.split('.').map(shortest).collect::<Vec<_>>().join(".")
}
