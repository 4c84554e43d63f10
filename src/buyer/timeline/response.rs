use crate::buyer::recipient::Page;
use crate::pledges::api::Problem;
use crate::pledges::http::{Body, Media, Response};
use std::borrow::Cow;

impl<V> Response<V> {
    pub(super) fn html(status: u16, page: Page) -> Self {
        let mut response = Response::new(status, Media::Html, Body::Bytes(page.html.into_bytes()));
        response.headers.push(("content-security-policy", page.policy));
        response.headers.push(("vary", Cow::Borrowed("Accept-Language")));
        response
    }

    pub(super) fn problem_page(problem: &Problem, page: Page) -> Self {
        Response::html(problem.status(), page).about(problem)
    }
}
