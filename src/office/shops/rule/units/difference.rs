//! Finds the changed members of a profile, for the audit log.

use crate::buyer::recipient::{NewProfile, Profile};
use crate::office::audit::rule::MemberChange;
use serde_json::Value;
use std::collections::BTreeSet;

/// The members whose values the audit log records. Of other members, such as the address for replies, the
/// log records only that they changed, because their values may be personal data.
const RECORDED: [&str; 10] = [
    "name",
    "logo",
    "accent",
    "language",
    "link",
    "mail",
    "messagingServices",
    "mailText",
    "timeZone",
    "publicTotal",
];

pub(super) fn replaced(old: Option<&NewProfile>, new: &Profile) -> Vec<MemberChange> {
    let members = |profile| match profile {
        Ok(Value::Object(members)) => members,
        _ => serde_json::Map::new(), // a profile is an object
    };
    let old = members(old.map_or(Ok(Value::Null), serde_json::to_value));
    let new = members(serde_json::to_value(new));
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let value = |of: &serde_json::Map<String, Value>, name: &str| match of.get(name) {
        None | Some(Value::Null | Value::Bool(false)) => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Array(items)) if items.is_empty() => None,
        Some(Value::Array(items)) => {
            Some(items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "))
        }
        Some(other) => Some(other.to_string()),
    };
    let change = |name: &String| {
        let (before, after) = (value(&old, name), value(&new, name));
        let is_recorded = RECORDED.contains(&&**name);
        (before != after).then(|| MemberChange {
            member: name.clone(),
            before: before.filter(|_| is_recorded),
            after: after.filter(|_| is_recorded),
        })
    };
    names.into_iter().filter_map(change).collect()
}
