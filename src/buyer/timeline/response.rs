use crate::buyer::recipient::{Language, Page, not_found_page, unavailable_page};
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

    /// Answers with the page about a problem.
    pub(super) fn problem_page(problem: &Problem, language: Language) -> Self {
        let page = match problem {
            Problem::TransactionNotFound => not_found_page(language),
            _ => unavailable_page(language),
        };
        Response::html(problem.status(), page).about(problem)
    }
}
