//! What the operator sets by the Worker's variables.

use super::cors::Cors;
use super::route::Address;
use crate::api::Problem;
use std::net::SocketAddrV6;

/// The operator's settings; by default there are none.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// `ALLOWED_ORIGINS`: the origins whose pages may call the API.
    pub cors: Cors,
    /// `PUBLIC_ORIGIN`: the origin of timeline addresses, not checked yet; empty if it is not set.
    pub public_origin: String,
}

impl Settings {
    /// Reads the texts of the variables `ALLOWED_ORIGINS` and `PUBLIC_ORIGIN`.
    pub fn parse(allowed_origins: &str, public_origin: &str) -> Self {
        let public_origin = public_origin.trim().trim_end_matches('/').to_owned();
        Settings { cors: Cors::parse(allowed_origins), public_origin }
    }

    /// The origin that timeline addresses begin with: `PUBLIC_ORIGIN`, else the one that the
    /// platform routed the request by.
    ///
    /// # Errors
    /// [`Problem::Internal`] if `PUBLIC_ORIGIN` is not an origin, [`Problem::InvalidHost`] if the
    /// request's is not, such as `https://good.example@evil.example`.
    pub(super) fn timeline_origin<'a>(&'a self, address: &Address<'a>) -> Result<&'a str, Problem> {
        if self.public_origin.is_empty() {
            return is_origin(address.origin).then_some(address.origin).ok_or(Problem::InvalidHost);
        }
        is_origin(&self.public_origin).then_some(&*self.public_origin).ok_or_else(|| {
            Problem::Internal(
                "the variable `PUBLIC_ORIGIN` must be an origin such as `https://pledges.example`"
                    .to_owned(),
            )
        })
    }
}

/// Whether a text is `http` or `https`, a host name or IP address, and perhaps a port.
fn is_origin(text: &str) -> bool {
    let authority = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    authority.is_some_and(|authority| is_name(authority) || is_ipv6(authority))
}

/// Whether an authority is an IPv6 address in brackets, and perhaps a port.
fn is_ipv6(authority: &str) -> bool {
    let has_scope = authority.contains('%'); // which no URL has
    let with_port = format!("{authority}:0"); // std reads none without
    !has_scope && [authority, &with_port].iter().any(|text| text.parse::<SocketAddrV6>().is_ok())
}

fn is_name(authority: &str) -> bool {
    let (host, port) = authority.split_once(':').unwrap_or((authority, "0"));
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    let is_label = |label: &str| !label.is_empty() && label.bytes().all(is_plain);
    is_port && host.len() <= 253 && host.trim_end_matches('.').split('.').all(is_label)
}
