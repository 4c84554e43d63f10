//! Profiles: what a unit's timelines show of its shop.

use super::{Outcome, entry, without_position};
use crate::auth::check_id;
use crate::store::{Key as _, ProfileKey};
use crate::timeline::Profile;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewProfile {
    unit: String,
    profile: Profile,
}

/// `{unit, profile}` → the profile as it is kept, and its record.
pub(super) fn make(input: &str) -> Outcome {
    let NewProfile { unit, profile } = serde_json::from_str(input).map_err(without_position)?;
    check_id::<serde_json::Error>(&unit)?;
    let entry = entry(&ProfileKey(&unit), &profile)?;
    Ok(json!({ "unit": unit, "profile": profile, "entry": entry }))
}

/// `{name: record}` as found in Workers KV → a row for each, also for what the service cannot read.
pub(super) fn list(input: &str) -> Outcome {
    let found: BTreeMap<String, Option<String>> = serde_json::from_str(input)?;
    let row = |(name, value): (&String, &Option<String>)| {
        let unit = name.strip_prefix(&ProfileKey("").name())?;
        Some(match serde_json::from_str::<Profile>(value.as_deref()?) {
            Ok(profile) => json!({ "unit": unit, "profile": profile }),
            Err(error) => json!({ "unit": unit, "problem": without_position(error) }),
        })
    };
    Ok(found.iter().filter_map(row).collect())
}
