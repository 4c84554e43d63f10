//! A response, independent of the platform.

use super::Address;
use std::borrow::Cow;

/// Tells browsers to use only HTTPS for a year (RFC 6797).
const STRICT_TRANSPORT_SECURITY: (&str, &str) = ("strict-transport-security", "max-age=31536000");

#[derive(Debug)]
pub struct Response<V> {
    pub status: u16,
    /// The kind of body, such as JSON. It determines the headers that every body of this kind has.
    pub media: Media,
    /// Further headers.
    pub headers: Vec<(&'static str, Cow<'static, str>)>,
    pub body: Body<V>,
    /// The line for the operator's log. Until the line is composed, this is the cause of a failure, if any.
    pub log: Option<String>,
}

#[derive(Debug)]
pub enum Body<V> {
    Empty,
    /// Bytes that were made for this response.
    Bytes(Vec<u8>),
    /// A stored value, which is passed on unread.
    Stored(V),
    /// A stored value that is passed on with one text replaced.
    Spliced(V, Splice),
}

/// A replacement of the first occurrence of a text in a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splice {
    /// The text to replace, in ASCII.
    pub old: &'static str,
    pub new: String,
}

impl Splice {
    /// Makes the replacement in a whole body.
    pub fn apply(&self, mut body: Vec<u8>) -> Vec<u8> {
        let old = self.old.as_bytes();
        if let Some(at) = body.windows(old.len()).position(|bytes| bytes == old) {
            body.splice(at..at + old.len(), self.new.bytes());
        }
        body
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Media {
    None,
    Json,
    /// JSON that is the same for everyone, and may be an hour old.
    PublicJson,
    Html,
    /// An image that never changes, of a type that a further header states. Opened by itself, it is not a page.
    Picture,
}

impl Media {
    pub const fn headers(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Media::None => &[("cache-control", "no-store")],
            Media::Json => &[
                ("content-type", "application/json"),
                ("cache-control", "no-store"),
                ("x-content-type-options", "nosniff"),
            ],
            Media::PublicJson => &[
                ("content-type", "application/json"),
                ("cache-control", "public, max-age=3600"),
                ("x-content-type-options", "nosniff"),
            ],
            Media::Picture => &[
                ("cache-control", "public, max-age=31536000, immutable"),
                ("content-disposition", "inline; filename=\"picture\""),
                ("content-security-policy", "default-src 'none'; sandbox"),
                ("x-content-type-options", "nosniff"),
                ("x-robots-tag", "noindex, nofollow"),
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
    pub fn new(status: u16, media: Media, body: Body<V>) -> Self {
        Response { status, media, headers: Vec::new(), body, log: None }
    }

    /// Adds `Strict-Transport-Security` to the answer to an HTTPS request. Requests to this machine do not
    /// get it, because browsers would then demand HTTPS from all other programs on `localhost`.
    pub fn keep_https(&mut self, address: &Address<'_>) {
        if address.is_https() && !address.is_loopback() {
            let (name, value) = STRICT_TRANSPORT_SECURITY;
            self.headers.push((name, Cow::Borrowed(value)));
        }
    }
}
