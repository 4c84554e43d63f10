//! What operations on updates answer.

use crate::buyer::updates::Update;
use crate::office::shared::operation::call::{Answer, Changed, Result};
use crate::office::shared::operation::facts::{Fact, Facts};
use crate::office::shared::rule::delays::APPLIED_SECONDS;
use crate::office::shared::rule::once::Done;
use crate::office::updates::rows::updates::{Pledges, UpdateRow, UpdateState};
use crate::office::updates::rule::{NewUpdate, UpdateChange};
use serde::Serialize;

pub(super) fn facts(
    UpdateRow { id, pledges, state, update, changed_by, changed_at, .. }: &UpdateRow,
) -> Facts {
    let of = vec![
        ("State", Fact::Words(state.name().to_owned())),
        ("Offering", Fact::Text(pledges.offering.clone())),
        ("Pledged in", Fact::Month(pledges.month)),
        ("Mode", Fact::Words(pledges.mode.name().to_owned())),
    ];
    let changed = [
        ("Changed by", Fact::Text(changed_by.clone())),
        ("Changed at", Fact::Time(changed_at.clone())),
        ("ID", Fact::Id(id.clone())),
    ];
    [of, contents(&NewUpdate::from(update)), changed.into()].concat()
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

#[derive(Serialize)]
pub(super) struct Printed<'r> {
    id: &'r str,
    #[serde(flatten)]
    pledges: &'r Pledges,
    state: UpdateState,
    update: &'r Update,
    fulfilment: Option<&'r str>,
    revision: u64,
    by: &'r str,
    at: &'r str,
    #[serde(rename = "changedBy")]
    changed_by: &'r str,
    #[serde(rename = "changedAt")]
    changed_at: &'r str,
}

pub(super) fn printed(row: &UpdateRow) -> Printed<'_> {
    let UpdateRow { id, pledges, state, update, revision, by, at, changed_by, changed_at, .. } =
        row;
    let (state, revision, fulfilment) = (*state, *revision, row.fulfilment.as_deref());
    Printed { id, pledges, state, update, fulfilment, revision, by, at, changed_by, changed_at }
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
    let printed = Done { outcome: printed(row), before: done.before.clone() };
    Ok(Answer::changed(&printed, change)?.failing_if(!is_compiled))
}
