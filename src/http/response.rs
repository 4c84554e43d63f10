//! A response, independent of the platform.

use super::Address;
use std::borrow::Cow;

/// Tells browsers to use HTTPS alone for a year (RFC 6797).
const STRICT_TRANSPORT_SECURITY: (&str, &str) = ("strict-transport-security", "max-age=31536000");

/// Status, headers and body.
#[derive(Debug)]
pub struct Response<V> {
    /// HTTP status.
    pub status: u16,
    /// The kind of body, which decides the headers that every such body has.
    pub media: Media,
    /// Further headers.
    pub headers: Vec<(&'static str, Cow<'static, str>)>,
    /// The body.
    pub body: Body<V>,
    /// The line for the operator's log; until it is made, the cause of a failure.
    pub log: Option<String>,
}

/// A body: none, made here, or passed on from the store unread.
#[derive(Debug)]
pub enum Body<V> {
    /// No body.
    Empty,
    /// These bytes.
    Bytes(Vec<u8>),
    /// A stored value.
    Stored(V),
    /// A stored value in which a text is replaced on its way.
    Spliced(V, Splice),
}

/// Replaces the first occurrence of a text in a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splice {
    /// The text, in ASCII.
    pub old: &'static str,
    /// What stands in its place.
    pub new: String,
}

impl Splice {
    /// Replaces it in a whole body.
    pub fn apply(&self, mut body: Vec<u8>) -> Vec<u8> {
        let old = self.old.as_bytes();
        if let Some(at) = body.windows(old.len()).position(|bytes| bytes == old) {
            body.splice(at..at + old.len(), self.new.bytes());
        }
        body
    }
}

/// The kinds of bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Media {
    /// None.
    None,
    /// The API's.
    Json,
    /// A page.
    Html,
}

impl Media {
    /// The headers that every body of this kind has.
    pub const fn headers(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Media::None => &[("cache-control", "no-store")],
            Media::Json => &[
                ("content-type", "application/json"),
                ("cache-control", "no-store"),
                ("x-content-type-options", "nosniff"),
            ],
            Media::Html => &[
                ("content-type", "text/html; charset=utf-8"),
                ("cache-control", "no-store"),
                ("x-content-type-options", "nosniff"),
                ("referrer-policy", "no-referrer"),
                ("x-robots-tag", "noindex, nofollow"),
            ],
        }
    }
}

impl<V> Response<V> {
    /// A response without further headers.
    pub fn new(status: u16, media: Media, body: Body<V>) -> Self {
        Response { status, media, headers: Vec::new(), body, log: None }
    }

    /// Adds `Strict-Transport-Security` to the answer to a request by HTTPS. Not on this machine: browsers would refuse
    /// everything else that a developer runs on `localhost`.
    pub fn keep_https(&mut self, address: &Address<'_>) {
        if address.is_https() && !address.is_loopback() {
            let (name, value) = STRICT_TRANSPORT_SECURITY;
            self.headers.push((name, Cow::Borrowed(value)));
        }
    }
}
