//! Texts of a body: IDs, names, dates and attributes. Whatever does not have the expected shape is left out.

use super::json::Json;
use super::path::{first, select};
use super::settings_field::is_language;
use super::table::{Attributes, MAX_ATTRIBUTES, MAX_ID, MAX_TEXT};
use crate::pledges::time::{date_time_in_seconds, http_date_ms};
use crate::pledges::validate::format::is_date_time;

/// Returns an ID: 1 to 100 characters of printable ASCII without spaces. A number must be whole.
pub(super) fn id(node: &Json<'_>) -> Option<String> {
    let text = match node {
        Json::Text(text) => text,
        Json::Number(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => *digits,
        _ => return None,
    };
    let is_id =
        (1..=MAX_ID).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
    is_id.then(|| text.to_owned())
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
    let Json::Text(code) = node else { return None };
    let is_code = code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_code.then(|| code.to_ascii_uppercase())
}

/// Returns a language tag. Stripe's `auto` is none.
pub(super) fn language(node: &Json<'_>) -> Option<String> {
    plain(node).filter(|tag| is_language(tag))
}

/// Returns a date-time as RFC 3339. It may be one already, or lack its `Z` (WooCommerce), be seconds since 1970
/// (Stripe), or have the form of e-mails (BigCommerce).
pub(super) fn date_time(node: &Json<'_>) -> Option<String> {
    let text = plain(node)?;
    let in_utc = [&text, "Z"].concat();
    match node {
        Json::Number(seconds) if seconds.len() <= 11 => {
            seconds.parse().ok().map(date_time_in_seconds)
        }
        _ if is_date_time(text.as_bytes()) => Some(text),
        _ if is_date_time(in_utc.as_bytes()) => Some(in_utc),
        _ => {
            let ms = http_date_ms(&[text.strip_suffix(" +0000")?, " GMT"].concat())?;
            Some(date_time_in_seconds(ms / 1_000))
        }
    }
}

/// Returns attributes with a name of at most 100 characters and a text or number, at most 100.
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
    attribute(&plain(&Json::Text(name.into()))?, plain(text)?)
}

fn listed(item: &Json<'_>, table: &Attributes) -> Option<(String, String)> {
    let name = first(item, &[table.name], plain)?;
    attribute(&name, first(item, table.text, plain)?)
}

fn attribute(name: &str, text: String) -> Option<(String, String)> {
    (1..=MAX_ID).contains(&name.chars().count()).then(|| (name.to_owned(), text))
}
