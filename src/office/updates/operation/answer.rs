//! What operations on updates answer.

use crate::office::shared::operation::call::{Answer, Changed, Result};
use crate::office::shared::operation::facts::{Fact, Facts};
use crate::office::shared::rule::delays::APPLIED_SECONDS;
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::once::Done;
use crate::office::updates::rows::updates::{UpdateRow, UpdateState};
use crate::office::updates::rule::{NewUpdate, UpdateChange};
use serde_json::Value;

pub(super) fn facts(row: &UpdateRow) -> Facts {
    [about(row), contents(&NewUpdate::from(&row.update))].concat()
}

/// Returns whether buyers see an update, what it is about, and who made it.
pub(crate) fn about(row: &UpdateRow) -> Facts {
    let UpdateRow { id, pledges, state, by, at, changed_by, changed_at, .. } = row;
    let shown = match state {
        UpdateState::Draft => "Draft: buyers do not see it.",
        UpdateState::Published => "Published: timelines show it.",
        UpdateState::Withdrawn => "Withdrawn: timelines do not show it.",
    };
    vec![
        ("State", Fact::words(shown)),
        ("Offering", Fact::Text(pledges.offering.clone())),
        ("Pledged in", Fact::Month(pledges.month)),
        ("Mode", Fact::Mode(pledges.mode)),
        ("Added by", Fact::Text(by.clone())),
        ("Added", Fact::time(&**at)),
        ("Changed by", Fact::Text(changed_by.clone())),
        ("Changed", Fact::time(&**changed_at)),
        ("ID", Fact::id(id)),
    ]
}

/// Returns what an update says.
pub(super) fn contents(update: &NewUpdate) -> Facts {
    let text = |text: &str| Fact::Text(text.to_owned());
    let sentences = update.texts.iter().filter(|(_, sentence)| !sentence.is_empty());
    let sentences = sentences.map(|(tag, sentence)| Fact::Text(format!("{sentence} ({tag})")));
    vec![
        ("Stage", text(&update.stage)),
        ("Date", Fact::Day(update.date.clone())),
        ("Sentence", Fact::List(sentences.collect())),
        ("Quantity", text(&update.quantity)),
        ("Partner", text(&update.partner)),
        ("Place", text(&update.place)),
        ("Latitude", text(&update.latitude)),
        ("Longitude", text(&update.longitude)),
        ("Picture", text(&update.picture)),
        ("What the picture shows", text(&update.picture_text)),
        ("Report", text(&update.report)),
    ]
}

/// Returns an update as JSON, with the members of its pledges.
pub(super) fn printed(row: &UpdateRow) -> Result<Value, OperatorError> {
    let mut value = serde_json::to_value(row)?;
    if let (Some(members), Value::Object(pledges)) =
        (value.as_object_mut(), serde_json::to_value(&row.pledges)?)
    {
        members.retain(|name, _| name != "pledges" && name != "operation");
        members.extend(pledges);
    }
    Ok(value)
}

pub(super) fn stopped_later() -> String {
    format!(" Timelines stop showing it after about {APPLIED_SECONDS} s.")
}

/// Says that timelines show a change later.
pub(super) fn shown_later() -> String {
    format!(" Timelines show it after about {APPLIED_SECONDS} s.")
}

/// Creates the answer of a change. `later` says when timelines follow it; empty if they do not change.
pub(super) fn answer(done: &Done<UpdateChange>, what: &str, later: &str) -> Result<Answer> {
    let UpdateChange { row, is_compiled } = &done.outcome;
    let later = match is_compiled {
        true => later,
        false => {
            " Workers KV did not accept the record for timelines, so timelines do not show this change yet. The next run of \
             the cron job writes the record again, and so do the next change and `updates check`."
        }
    };
    let change = Changed::new([what, later].concat(), facts(row));
    let printed = Done { outcome: printed(row)?, before: done.before.clone() };
    Ok(Answer::changed(&printed, change)?.failing_if(!is_compiled))
}
