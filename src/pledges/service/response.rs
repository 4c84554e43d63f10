use crate::pledges::api;
use crate::pledges::api::Problem;
use crate::pledges::http::{Body, Media, Response};
use std::borrow::Cow;

impl<V> Response<V> {
    pub(crate) fn json(body: Vec<u8>) -> Self {
        Response::new(200, Media::Json, Body::Bytes(body))
    }

    pub(super) fn options(allow: &'static str) -> Self {
        let mut response = Response::new(204, Media::None, Body::Empty);
        response.headers.push(("allow", Cow::Borrowed(allow)));
        response
    }

    pub(crate) fn problem(
        problem: &Problem,
        is_live: Option<bool>,
        request_id: Option<&str>,
    ) -> Self {
        let body = api::to_json(&problem.body(is_live, request_id));
        Response::new(problem.status(), Media::Json, Body::Bytes(body)).about(problem)
    }

    /// Adds a problem's cause for the log, and its header such as `Retry-After`.
    pub(crate) fn about(mut self, problem: &Problem) -> Self {
        self.log = Some(problem.cause().to_owned());
        self.headers.extend(problem.header().map(|(name, value)| (name, Cow::Borrowed(value))));
        self
    }
}
