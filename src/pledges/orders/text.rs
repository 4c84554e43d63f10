//! Texts of a body: IDs, names, dates and attributes. Whatever does not have the expected shape is left out.

use super::json::Json;
use super::path::{first, select};
use super::table::{Attributes, MAX_ATTRIBUTES, MAX_ID, MAX_TEXT};
use crate::pledges::time::{LAST_SECOND, date_time_in_seconds, email_date_time};
use crate::pledges::validate::format::is_date_time;

/// Returns an ID: 1 to 100 characters of printable ASCII without spaces. A number must be whole.
pub(super) fn id(node: &Json<'_>) -> Option<String> {
    let is_whole = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if let Json::Number(text) = node
        && !is_whole(text.strip_prefix('-').unwrap_or(text))
    {
        return None;
    }
    plain(node).filter(|id| id.len() <= MAX_ID && id.bytes().all(|byte| byte.is_ascii_graphic()))
}

/// Returns a text or a number, without white space around it: 1 to 1,000 characters without control characters.
pub(super) fn plain(node: &Json<'_>) -> Option<String> {
    let (Json::Text(_) | Json::Number(_)) = node else { return None };
    let text = node.scalar()?.trim();
    let is_short = text.len() <= MAX_TEXT * 4 && (1..=MAX_TEXT).contains(&text.chars().count());
    (is_short && !text.chars().any(char::is_control)).then(|| text.to_owned())
}

/// Returns a currency's code in upper case.
pub(super) fn currency(node: &Json<'_>) -> Option<String> {
    let is_code =
        |code: &String| code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_alphabetic());
    plain(node).filter(is_code).map(|code| code.to_ascii_uppercase())
}

/// Returns a date-time as RFC 3339. It may be one already, or lack its `Z` (WooCommerce), be seconds since 1970
/// (Stripe), or have the form of e-mails (BigCommerce).
pub(super) fn date_time(node: &Json<'_>) -> Option<String> {
    let text = plain(node)?;
    if let Json::Number(seconds) = node {
        let seconds = seconds.parse().ok().filter(|seconds| *seconds <= LAST_SECOND)?;
        return Some(date_time_in_seconds(seconds));
    }
    let in_utc = [&text, "Z"].concat();
    let from_email = email_date_time(&text).unwrap_or_default();
    [text, in_utc, from_email].into_iter().find(|text| is_usual(text))
}

/// Returns whether a text is a date-time with `T` and `Z` in upper case, and without a leap second: JavaScript knows no others.
fn is_usual(text: &str) -> bool {
    let is_leap_second = text.get(17..19) == Some("60");
    is_date_time(text.as_bytes()) && !text.contains(['t', 'z']) && !is_leap_second
}

/// Returns attributes with a name and a text or number, at most 100.
pub(super) fn attributes(node: &Json<'_>, tables: &[Attributes]) -> Vec<(String, String)> {
    let attributes = tables.iter().flat_map(|table| {
        let nodes = select(node, table.at).into_iter();
        nodes.flat_map(|node| match node {
            Json::Object(members) if table.name.is_empty() => {
                members.iter().filter_map(|(name, text)| member(name, text)).collect()
            }
            Json::List(items) => items.iter().filter_map(|item| listed(item, table)).collect(),
            _ => Vec::new(),
        })
    });
    attributes.take(MAX_ATTRIBUTES).collect()
}

fn member(name: &str, text: &Json<'_>) -> Option<(String, String)> {
    plain(&Json::Text(name.into())).zip(plain(text))
}

fn listed(item: &Json<'_>, table: &Attributes) -> Option<(String, String)> {
    first(item, &[table.name], plain).zip(first(item, &[table.text], plain))
}
