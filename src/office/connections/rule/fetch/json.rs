//! Reads and writes the JSON and the queries of APIs.

use super::shop::ShopProblem;
use super::step::Item;
use form_urlencoded::Serializer;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use time::OffsetDateTime;
use time::parsing::Parsable;

/// Returns a query, such as `limit=50&order=asc`.
pub(super) fn query(members: &[(&str, impl AsRef<str>)]) -> String {
    let mut query = Serializer::new(String::new());
    query.extend_pairs(members);
    query.finish()
}

/// Returns items as they came, each with the time of its last change; 0 if that cannot be read.
pub(super) fn items<T: DeserializeOwned>(
    listed: Vec<&RawValue>,
    changed: impl Fn(T) -> Option<u64>,
) -> Vec<Item> {
    let item = |json: &RawValue| {
        let changed_ms = serde_json::from_str(json.get()).ok().and_then(&changed);
        let body = json.get().as_bytes().to_vec();
        Item { changed_ms: changed_ms.unwrap_or_default(), body }
    };
    listed.into_iter().map(item).collect()
}

/// Parses a date-time with an offset. Returns its milliseconds since 1970.
pub(super) fn changed_ms(text: &str, form: &(impl Parsable + ?Sized)) -> Option<u64> {
    let time = OffsetDateTime::parse(text, form).ok()?;
    u64::try_from(time.unix_timestamp()).ok()?.checked_mul(1_000)
}

pub(super) type Object = BTreeMap<String, Box<RawValue>>;

/// Returns the members of an object.
pub(super) fn object(json: &[u8]) -> Result<Object, ShopProblem> {
    serde_json::from_slice(json).map_err(|_| ShopProblem::Unreadable)
}

/// Returns the ID of an object, a text or a number. It has no character that could change a path.
pub(super) fn id_of(object: &Object) -> Result<String, ShopProblem> {
    let id = object.get("id").map(|json| json.get().trim_matches('"')).unwrap_or_default();
    let is_id = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let is_short = (1..=100).contains(&id.len());
    (is_id && is_short).then(|| id.to_owned()).ok_or(ShopProblem::Unreadable)
}
