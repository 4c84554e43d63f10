//! The API of a shop system, which is asked for orders.

use crate::pledges::orders::System;
use std::fmt::{self, Debug, Display, Formatter};

/// Sends requests to the APIs of shop systems.
#[expect(async_fn_in_trait, reason = "one thread: no caller needs the futures to be Send")]
pub trait ShopApi {
    /// Sends a request. Follows no redirect, has a deadline, and reads at most [`MAX_ANSWER_BYTES`].
    async fn send(&self, request: &ShopRequest) -> Result<ShopAnswer, ShopProblem>;
}

/// Maximum size of an answer's body, in bytes.
pub const MAX_ANSWER_BYTES: usize = 4 * 1_024 * 1_024;

/// A request to a public host, by HTTPS.
#[derive(Clone, PartialEq, Eq)]
pub struct ShopRequest {
    pub url: String,
    /// The header that has the token: its name and its value.
    pub token: Option<(&'static str, String)>,
    /// The body of a POST request, as a form; `None` for a GET request.
    pub form: Option<String>,
}

impl ShopRequest {
    pub(super) fn get(url: String, header: &'static str, token: String) -> Self {
        ShopRequest { url, token: Some((header, token)), form: None }
    }
}

impl Debug for ShopRequest {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "ShopRequest({:?})", self.url)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShopAnswer {
    pub status: u16,
    /// The header `Link`.
    pub link: Option<String>,
    pub body: Vec<u8>,
}

impl ShopAnswer {
    /// Checks the status.
    pub(super) fn if_ok(self) -> Result<Self, ShopProblem> {
        if matches!(self.status, 200 | 204) {
            Ok(self)
        } else {
            Err(ShopProblem::Status(self.status))
        }
    }
}

/// Why a shop system's API gave no orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShopProblem {
    NoAnswer,
    /// The answer is larger than [`MAX_ANSWER_BYTES`].
    TooLarge,
    /// The answer has another status than 200.
    Status(u16),
    /// The answer does not have the documented form.
    Unreadable,
    /// No request can be sent to the shop's address.
    Address,
    /// More changed within one second than can be read.
    Crowded,
    /// The connection's token cannot be opened.
    NoToken,
}

impl ShopProblem {
    /// Returns whether the problem may be that of one order, so that others can be read.
    pub(super) fn is_of_one_order(self) -> bool {
        matches!(self, ShopProblem::TooLarge | ShopProblem::Unreadable | ShopProblem::Status(404))
    }
}

impl Display for ShopProblem {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let text = match self {
            ShopProblem::NoAnswer => "the shop system does not answer",
            ShopProblem::TooLarge => "the answer of the shop system is too large",
            ShopProblem::Status(401 | 403) => {
                "the shop system refuses the token: check that it is still there and may read orders"
            }
            ShopProblem::Status(404 | 410) => {
                "the shop system has no such API at this address: check the shop's address"
            }
            ShopProblem::Status(429) => "the shop system asks to send fewer requests",
            ShopProblem::Status(status @ 300..=399) => {
                return write!(
                    out,
                    "the shop system answers {status}, a redirect, which is not followed: check the shop's address"
                );
            }
            ShopProblem::Status(status) => {
                return write!(out, "the shop system answers {status}");
            }
            ShopProblem::Unreadable => "the answer of the shop system is not a list of orders",
            ShopProblem::Address => "the shop's address is not that of a public host",
            ShopProblem::Crowded => "too many orders were changed within one second",
            ShopProblem::NoToken => "the token cannot be read any more: enter it again",
        };
        out.write_str(text)
    }
}

/// A shop whose API can be asked, with the token for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shop<'s> {
    pub(super) system: System,
    /// The shop's address in the system, such as `acme.myshopify.com`.
    pub(super) store: &'s str,
    pub(super) token: &'s str,
}

/// Returns the host and the path of an address such as `shop.example/de`; `None` unless the host is a public name.
pub fn public_host(store: &str) -> Option<(&str, &str)> {
    let (host, path) = store.split_at(store.find('/').unwrap_or(store.len()));
    let labels: Vec<_> = host.split('.').collect();
    let last = *labels.last()?;
    let is_label = |label: &&str| {
        let is_byte = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        (1..=63).contains(&label.len()) && label.bytes().all(is_byte)
    };
    // The last label of an IP address begins with a digit, also in `127.0x1`. The other names are reserved for networks that
    // are not public.
    let is_public = last.len() >= 2
        && last.starts_with(|first: char| first.is_ascii_alphabetic())
        && !["local", "localhost", "internal", "lan", "home", "arpa", "onion"].contains(&last);
    let is_path = path.bytes().all(|byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_' | b'.' | b'~')
    }) && !path.contains("..");
    (labels.len() >= 2 && labels.iter().all(is_label) && is_public && is_path)
        .then_some((host, path))
}
