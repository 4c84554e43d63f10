//! An update in words, for the audit log and for confirmation prompts.

use crate::buyer::updates::Update;
use crate::office::audit::rule::MemberChange;
use crate::office::updates::rows::updates::Pledges;
use serde_json::{Map, Value};

/// Returns words such as `done on 2026-11-03, 400 tree of 2026-10 (live), in Kitui, by Reforest: We planted …`.
pub fn in_words(pledges: &Pledges, update: &Update) -> String {
    let Pledges { mode, month, offering } = pledges;
    let quantity = update.quantity.and_then(|quantity| serde_json::to_string(&quantity).ok());
    let quantity = quantity.map(|quantity| quantity + " ").unwrap_or_default();
    let mut words = format!(
        "{} on {}, {quantity}{offering} of {month} ({})",
        update.stage.name(),
        &*update.date,
        mode.name()
    );
    let place = update.place.as_ref().map(|place| &*place.name);
    let sentence = update.texts.best("en").map(|(_, text)| text);
    for (before, text) in [(", in ", place), (", by ", update.partner.as_deref()), (": ", sentence)]
    {
        if let Some(text) = text {
            words.extend([before, text]);
        }
    }
    words
}

/// Returns the members that differ between two versions of an update, with their values.
pub(super) fn changed(before: &Update, after: &Update) -> Vec<MemberChange> {
    let (before, after) = (members(before), members(after));
    let names: std::collections::BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let differing = names.into_iter().filter(|name| before.get(*name) != after.get(*name));
    let change = |name: &String| MemberChange {
        member: name.clone(),
        before: before.get(name).map(text),
        after: after.get(name).map(text),
    };
    differing.map(change).collect()
}

fn members(update: &Update) -> Map<String, Value> {
    match serde_json::to_value(update) {
        Ok(Value::Object(members)) => members,
        _ => Map::new(), // an update is an object
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
