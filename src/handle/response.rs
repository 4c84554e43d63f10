//! What the service answers.

use crate::api::{self, Problem};
use crate::timeline::Page;
use std::borrow::Cow;

/// A response, not yet of any platform.
#[derive(Debug)]
pub struct Response<V> {
    /// HTTP status.
    pub status: u16,
    /// What the body is: decides the headers that every such body has.
    pub media: Media,
    /// Further headers.
    pub headers: Vec<(&'static str, Cow<'static, str>)>,
    /// The body.
    pub body: Body<V>,
    /// The line of it in the operator's log, if it has one.
    pub log: Option<String>,
    /// The header `X-Request-Id` of what is logged: apart from the others, which are the same for
    /// all answers of a kind.
    pub request_id: Option<String>,
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
}

/// What a body is.
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
    pub(super) fn new(status: u16, media: Media, body: Body<V>) -> Self {
        Response { status, media, headers: Vec::new(), body, log: None, request_id: None }
    }

    pub(super) fn json(body: Vec<u8>) -> Self {
        Response::new(200, Media::Json, Body::Bytes(body))
    }

    pub(super) fn html(status: u16, page: Page) -> Self {
        let mut response = Response::new(status, Media::Html, Body::Bytes(page.html.into_bytes()));
        response.headers.push(("content-security-policy", page.policy));
        response.headers.push(("vary", Cow::Borrowed("Accept-Language")));
        response
    }

    pub(super) fn options(allow: &'static str) -> Self {
        let mut response = Response::new(204, Media::None, Body::Empty);
        response.headers.push(("allow", Cow::Borrowed(allow)));
        response
    }

    pub(super) fn problem(problem: &Problem, is_live: Option<bool>) -> Self {
        let body = api::to_json(&problem.body(is_live));
        Response::new(problem.status(), Media::Json, Body::Bytes(body)).about(problem)
    }

    pub(super) fn problem_page(problem: &Problem, page: Page) -> Self {
        Response::html(problem.status(), page).about(problem)
    }

    fn about(mut self, problem: &Problem) -> Self {
        self.log = Some(problem.cause().to_owned());
        self.headers.extend(problem.header().map(|(name, value)| (name, Cow::Borrowed(value))));
        self
    }
}
