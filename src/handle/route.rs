//! Which operation a method and an address name.

use crate::api::{
    EDIT_KEY_PARAMETER, HEALTH_PATH, PLEDGE_TRANSACTION_PATH, Problem, TIMELINE_PATH,
};
use percent_encoding::percent_decode_str;
use std::borrow::Cow;

/// The parts of an address, cut from its text: a URL parser would be most of the Worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address<'u> {
    /// Scheme, host and port.
    pub origin: &'u str,
    /// From the first slash to the question mark.
    pub path: &'u str,
    /// Behind the question mark.
    pub query: &'u str,
}

impl<'u> Address<'u> {
    /// Cuts an absolute address that the platform has already parsed and written out again.
    pub fn parse(url: &'u str) -> Self {
        let host = url.find("://").map_or(0, |scheme| scheme + 3);
        let authority = url.get(host..).unwrap_or_default();
        let end = authority.find(['/', '?', '#']).map_or(url.len(), |length| host + length);
        let (origin, rest) = url.split_at_checked(end).unwrap_or((url, ""));
        let rest = rest.split('#').next().unwrap_or_default();
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        Address { origin, path, query }
    }

    /// The edit key of a timeline address; name and value may be percent-encoded (RFC 3986).
    pub fn edit_key(&self) -> Option<Cow<'u, str>> {
        self.query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .find_map(|(name, value)| (decode(name) == EDIT_KEY_PARAMETER).then(|| decode(value)))
    }
}

/// What a request is for.
#[derive(Debug, PartialEq, Eq)]
pub enum Route<'u> {
    /// Create a pledge transaction.
    Create,
    /// Get the pledge transaction of this ID, which is decoded but not checked.
    Get(Cow<'u, str>),
    /// Show the timeline of the transaction of this ID.
    Timeline(Cow<'u, str>),
    /// Ask whether the service runs.
    Health,
    /// Ask for the methods of a path: these.
    Options(&'static str),
}

impl Route<'_> {
    /// Method and path for the log, without what differs from request to request.
    pub fn template(&self) -> &'static str {
        match self {
            Route::Create => "POST /v2/pledge-transaction",
            Route::Get(_) => "GET /v2/pledge-transaction/{id}",
            Route::Timeline(_) => "GET /timeline/{id}",
            Route::Health => "GET /healthz",
            Route::Options(_) => "OPTIONS",
        }
    }
}

const CREATE_METHODS: &str = "POST, OPTIONS";
const READ_METHODS: &str = "GET, HEAD, OPTIONS";

/// The route of a request.
pub fn route<'u>(method: &str, address: &Address<'u>) -> Result<Route<'u>, Problem> {
    let (route, allow) = resource(address.path).ok_or(Problem::PathNotFound)?;
    match (method, &route) {
        ("OPTIONS", _) => Ok(Route::Options(allow)),
        ("POST", Route::Create) => Ok(route),
        ("GET" | "HEAD", Route::Get(_) | Route::Timeline(_) | Route::Health) => Ok(route),
        _ => Err(Problem::MethodNotAllowed(allow)),
    }
}

fn resource(path: &str) -> Option<(Route<'_>, &'static str)> {
    if path == PLEDGE_TRANSACTION_PATH {
        return Some((Route::Create, CREATE_METHODS));
    }
    if let Some(id) = below(path, PLEDGE_TRANSACTION_PATH) {
        let single = !id.is_empty() && !id.contains('/'); // an encoded slash is decoded later
        return single.then(|| (Route::Get(decode(id)), READ_METHODS));
    }
    if path == HEALTH_PATH {
        return Some((Route::Health, READ_METHODS));
    }
    // A buyer whose address was cut off or mistyped gets the page that says so.
    let id = below(path, TIMELINE_PATH).or_else(|| (path == TIMELINE_PATH).then_some(""))?;
    Some((Route::Timeline(decode(id)), READ_METHODS))
}

fn below<'u>(path: &'u str, parent: &str) -> Option<&'u str> {
    path.strip_prefix(parent)?.strip_prefix('/')
}

fn decode(segment: &str) -> Cow<'_, str> {
    percent_decode_str(segment).decode_utf8().unwrap_or_default()
}
