//! Maps a method and a path to an operation.

use crate::pledges::api::{
    HEALTH_PATH, IMPACT_PATH, ORDERS_PATH, PLEDGE_TRANSACTION_PATH, Problem, TIMELINE_PATH,
    UNSUBSCRIBE_PATH,
};
use crate::pledges::http::{Address, percent_decode};
use crate::pledges::picture::PICTURES_PATH;
use std::borrow::Cow;

#[derive(Debug, PartialEq, Eq)]
pub enum Route<'u> {
    Create,
    /// Get the pledge transaction with this ID. The ID is percent-decoded, but not yet checked.
    Get(Cow<'u, str>),
    /// Show the timeline of the transaction with this ID.
    Timeline(Cow<'u, str>),
    /// Ask for e-mails with news about the transaction with this ID, or end them, on its timeline.
    Ask(Cow<'u, str>),
    /// Show the page that ends the e-mails with news about the transaction with this ID.
    UnsubscribePage(Cow<'u, str>),
    /// End the e-mails with news about the transaction with this ID.
    Unsubscribe(Cow<'u, str>),
    /// Get the public total of the unit with this ID.
    Impact(Cow<'u, str>),
    /// Show the uploaded picture with this name.
    Picture(&'u str),
    /// Receive what a shop system sends for the connection with this ID.
    Receive(Cow<'u, str>),
    Health,
    /// List the methods that a path allows.
    Options(&'static str),
}

impl Route<'_> {
    pub fn template(&self) -> &'static str {
        match self {
            Route::Create => "POST /v2/pledge-transaction",
            Route::Get(_) => "GET /v2/pledge-transaction/{id}",
            Route::Timeline(_) => "GET /timeline/{id}",
            Route::Ask(_) => "POST /timeline/{id}",
            Route::UnsubscribePage(_) => "GET /unsubscribe/{id}",
            Route::Unsubscribe(_) => "POST /unsubscribe/{id}",
            Route::Impact(_) => "GET /impact/{unit}",
            Route::Picture(_) => "GET /pictures/{name}",
            Route::Receive(_) => "POST /orders/{connection}",
            Route::Health => "GET /healthz",
            Route::Options(_) => "OPTIONS",
        }
    }
}

const POST_METHODS: &str = "POST, OPTIONS";
const READ_METHODS: &str = "GET, HEAD, OPTIONS";
const FORM_METHODS: &str = "GET, HEAD, POST, OPTIONS";

pub fn route<'u>(method: &str, address: &Address<'u>) -> Result<Route<'u>, Problem> {
    let (route, allow) = resource(address.path).ok_or(Problem::PathNotFound)?;
    match (method, route) {
        ("OPTIONS", _) => Ok(Route::Options(allow)),
        ("POST", route @ (Route::Create | Route::Receive(_))) => Ok(route),
        ("POST", Route::Timeline(id)) => Ok(Route::Ask(id)),
        ("POST", Route::UnsubscribePage(id)) => Ok(Route::Unsubscribe(id)),
        (_, Route::Create | Route::Receive(_)) => Err(Problem::MethodNotAllowed(allow)),
        ("GET" | "HEAD", route) => Ok(route),
        _ => Err(Problem::MethodNotAllowed(allow)),
    }
}

fn resource(path: &str) -> Option<(Route<'_>, &'static str)> {
    if path == PLEDGE_TRANSACTION_PATH {
        return Some((Route::Create, POST_METHODS));
    }
    if let Some(id) = below(path, PLEDGE_TRANSACTION_PATH) {
        let single = !id.is_empty() && !id.contains('/'); // an encoded slash is decoded later
        return single.then(|| (Route::Get(percent_decode(id)), READ_METHODS));
    }
    if path == HEALTH_PATH {
        return Some((Route::Health, READ_METHODS));
    }
    if let Some(id) = below(path, ORDERS_PATH) {
        return Some((Route::Receive(percent_decode(id)), POST_METHODS));
    }
    if let Some(unit) = below(path, IMPACT_PATH) {
        return Some((Route::Impact(percent_decode(unit)), READ_METHODS));
    }
    if let Some(name) = below(path, PICTURES_PATH) {
        return Some((Route::Picture(name), READ_METHODS));
    }
    if let Some(id) = below(path, UNSUBSCRIBE_PATH) {
        return Some((Route::UnsubscribePage(percent_decode(id)), FORM_METHODS));
    }
    // A recipient whose link was cut off gets the page for an unknown timeline.
    let id = below(path, TIMELINE_PATH).or_else(|| (path == TIMELINE_PATH).then_some(""))?;
    Some((Route::Timeline(percent_decode(id)), FORM_METHODS))
}

/// Returns whether every page on the web may read the answers at this path.
pub fn is_public(path: &str) -> bool {
    below(path, IMPACT_PATH).is_some()
}

fn below<'u>(path: &'u str, parent: &str) -> Option<&'u str> {
    path.strip_prefix(parent)?.strip_prefix('/')
}
