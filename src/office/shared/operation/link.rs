//! URLs of the dashboard's own pages. None contains an API key or a buyer's e-mail address.

use crate::pledges::auth::KeyLevel;
use crate::pledges::scope::Scope;
use crate::pledges::settlement::ScopeMonth;
use crate::pledges::store::PriceListKey;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The characters that are encoded in a path segment.
const SEGMENT: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b':');

/// Percent-encodes a text as a path segment or as the value of a parameter.
pub(crate) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, SEGMENT).to_string()
}

/// Joins path segments, each encoded.
pub(crate) fn path(segments: &[&str]) -> String {
    let encoded = segments.iter().map(|segment| encoded(segment));
    "/".to_owned() + &encoded.collect::<Vec<_>>().join("/")
}

/// Appends query parameters to a path. Their values are encoded; their names need no encoding.
pub(crate) fn with(path: &str, parameters: &[(&str, &str)]) -> String {
    let pairs: Vec<_> =
        parameters.iter().map(|(name, value)| [name, "=", &encoded(value)].concat()).collect();
    match pairs.as_slice() {
        [] => path.to_owned(),
        pairs => [path, "?", &pairs.join("&")].concat(),
    }
}

pub(crate) fn page_of(level: &KeyLevel) -> String {
    match level {
        KeyLevel::Unit(id) => path(&["units", id]),
        KeyLevel::Team(id) => path(&["teams", id]),
    }
}

/// Returns the URL of the payments of a shop, with paid and unpaid months.
pub(crate) fn payments_of(Scope { unit, mode }: &Scope) -> String {
    with(&path(&["units", unit, "payments"]), &[("mode", mode.name())])
}

pub(crate) fn prices(PriceListKey { mode, unit }: PriceListKey<'_>) -> String {
    let unit = unit.map(|unit| ("unit", unit));
    with("/prices", &[("mode", mode.name())].into_iter().chain(unit).collect::<Vec<_>>())
}

pub(crate) fn statement(ScopeMonth { scope, month }: &ScopeMonth) -> String {
    let query = [("mode", scope.mode.name()), ("month", &*month.to_string())];
    with(&path(&["units", &scope.unit, "statement"]), &query)
}
