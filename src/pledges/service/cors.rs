//! Parses the origins that may call the API from a browser.

use crate::pledges::api::header;
use crate::pledges::http::{Request, Response, is_sent_origin};
use std::borrow::Cow;

/// The origins whose pages may call the API from a browser. Empty unless the operator lists some.
#[derive(Clone, Debug, Default)]
pub struct Cors(Vec<String>);

impl Cors {
    /// Parses a comma-separated list, such as `https://shop.example, https://admin.shop.example`.
    pub fn parse(origins: &str) -> Self {
        let origins = origins.split(',').map(|origin| origin.trim().trim_end_matches('/'));
        Cors(origins.filter(|origin| !origin.is_empty()).map(str::to_owned).collect())
    }

    /// Returns the first entry that is useless: no browser sends it as an origin. Returns `None` if all
    /// entries are useful.
    pub(super) fn useless(&self) -> Option<&str> {
        self.0.iter().map(|origin| &**origin).find(|origin| !is_sent_origin(origin))
    }

    /// Lets every page read an answer, and tells nobody's origins apart.
    pub(super) fn open<V>(response: &mut Response<V>) {
        response.headers.push(("access-control-allow-origin", Cow::Borrowed("*")));
        if response.status == 204 {
            let more = [("access-control-allow-methods", "GET, HEAD"), PREFLIGHT_KEPT];
            response.headers.extend(more.map(|(name, value)| (name, Cow::Borrowed(value))));
        }
    }

    pub(super) fn apply<V>(&self, request: &impl Request, response: &mut Response<V>) {
        if self.0.is_empty() {
            return;
        }
        match response.headers.iter_mut().find(|(name, _)| *name == "vary") {
            Some((_, vary)) => *vary = Cow::Borrowed("Accept-Language, Origin"), // the response is a page
            None => response.headers.push(("vary", Cow::Borrowed("Origin"))),
        }
        let Some(origin) = request.header(header::ORIGIN) else { return };
        if !self.0.contains(&origin) {
            return;
        }
        response.headers.push(("access-control-allow-origin", Cow::Owned(origin)));
        let more: &[(&str, &str)] = if response.status == 204 { PREFLIGHT } else { EXPOSED };
        response.headers.extend(more.iter().map(|(name, value)| (*name, Cow::Borrowed(*value))));
    }
}

const PREFLIGHT: &[(&str, &str)] = &[
    ("access-control-allow-methods", "GET, HEAD, POST"),
    (
        "access-control-allow-headers",
        "Authorization, Content-Type, Idempotency-Key, X-Service-Unit-Id",
    ),
    PREFLIGHT_KEPT,
];
const PREFLIGHT_KEPT: (&str, &str) = ("access-control-max-age", "86400");
const EXPOSED: &[(&str, &str)] = &[(
    "access-control-expose-headers",
    "Allow, CF-Ray, Idempotent-Replayed, Retry-After, WWW-Authenticate, X-Request-Id",
)];
