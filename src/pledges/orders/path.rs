//! Paths and conditions, by which the [tables](super::table) name values of a body.
//!
//! A path is the names of members, separated by full stops: `customer_details.email`. A name with `[]` stands for each
//! item of a list, and one with `[kind=refund,status=success]` for the items that fulfil these conditions. The empty
//! path is the body itself.

use super::amount;
use super::json::Json;

/// Returns the values at a path; more than one only if the path goes through a list.
pub(super) fn select<'j, 'a>(root: &'j Json<'a>, path: &str) -> Vec<&'j Json<'a>> {
    let mut nodes = vec![root];
    for step in path.split('.').filter(|step| !step.is_empty()) {
        nodes = nodes.into_iter().flat_map(|node| children(node, step)).collect();
    }
    nodes
}

/// Returns the text of the first of several paths that has a usable one. `read` decides what is usable.
pub(super) fn first<'j, T>(
    root: &'j Json<'_>,
    paths: &[&str],
    read: impl Fn(&'j Json<'_>) -> Option<T>,
) -> Option<T> {
    paths.iter().find_map(|path| select(root, path).into_iter().find_map(&read))
}

/// Returns the member that a step names; or the items of the list that it names.
fn children<'j, 'a>(node: &'j Json<'a>, step: &str) -> Vec<&'j Json<'a>> {
    let list = step.strip_suffix(']').and_then(|step| step.split_once('['));
    let Some((name, filter)) = list else { return node.get(step).into_iter().collect() };
    let items = node.get(name).map(Json::items).unwrap_or_default();
    items.iter().filter(|item| filter.split(',').all(|condition| holds(item, condition))).collect()
}

/// Returns whether one of several conditions holds.
pub(super) fn any(node: &Json<'_>, conditions: &[&str]) -> bool {
    conditions.iter().any(|condition| holds(node, condition))
}

/// Returns whether a condition holds:
///
/// - `path=text`: the value is this text, number or boolean.
/// - `path~0`: the value is the number 0, or a text of it.
/// - `path<0`: the value is a number below 0, or a text of one.
/// - `path?`: there is a value, which may be null.
/// - `#1`: the body is an object with one member.
/// - `path`: there is a value other than null. The empty condition always holds.
pub(super) fn holds(node: &Json<'_>, condition: &str) -> bool {
    let is = |path, test: fn(&amount::SignedDecimal) -> bool| {
        let amount = |value: &Json<'_>| number(value).is_some_and(|amount| test(&amount));
        select(node, path).into_iter().any(amount)
    };
    if let Some(path) = condition.strip_suffix("~0") {
        return is(path, |amount| amount.size.is_zero());
    }
    if let Some(path) = condition.strip_suffix("<0") {
        return is(path, |amount| amount.is_negative);
    }
    if condition == "#1" {
        return matches!(node, Json::Object(members) if members.len() == 1);
    }
    if let Some(path) = condition.strip_suffix('?') {
        return !select(node, path).is_empty();
    }
    match condition.split_once('=') {
        Some((path, text)) => select(node, path).iter().any(|value| value.scalar() == Some(text)),
        None => select(node, condition).iter().any(|value| **value != Json::Null),
    }
}

/// Returns the number in a value: a number, a text of one, or an object whose `value` is one.
pub(super) fn number(value: &Json<'_>) -> Option<amount::SignedDecimal> {
    let value = value.get("value").unwrap_or(value);
    match value {
        Json::Number(text) => amount::parse(text),
        Json::Text(text) => amount::parse(text),
        _ => None,
    }
}
