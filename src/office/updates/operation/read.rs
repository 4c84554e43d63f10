//! Lists updates, and corrects the records for timelines.

use super::answer::{Printed, facts, printed};
use super::arguments::ID;
use super::publish::Named;
use crate::office::shared::operation::call::{Answer, Call, Ports, Result};
use crate::office::shared::operation::facts::in_lines;
use crate::office::shared::operation::spec::{Spec, mode, month};
use crate::office::shared::operation::table::{counted, paragraphs, table, time};
use crate::office::updates::rows::updates::{Pledges, UpdateRow};
use crate::office::updates::rule as updates;
use crate::office::updates::rule::Compared;
use crate::pledges::scope::Mode;
use crate::pledges::service::Clock as _;
use crate::pledges::settlement::Month;
use serde::{Deserialize, Serialize};

/// Number of months that are shown if no month is given: the current month and those before it.
const MONTHS: usize = 12;
/// Largest number of rows that are printed.
const MOST: usize = 10_000;

pub const LIST: Spec = Spec::reads(
    "updates",
    "list",
    "list the updates for the pledges of a month or of the last 12 months",
    &[
        month("the month of the pledges, in UTC, such as 2026-10"),
        mode("only updates for live pledges, or only those for test pledges"),
    ],
)
.answers("`updates`: each with the members of `updates add`; `outdated`: `mode`, `month` and `offering` of the records for timelines that Workers KV has not accepted yet");

#[derive(Deserialize)]
pub struct OfMonths {
    month: Option<Month>,
    mode: Option<Mode>,
}

#[derive(Serialize)]
struct Listed<'l> {
    updates: Vec<Printed<'l>>,
    outdated: &'l [Pledges],
}

pub async fn list<P: Ports>(call: &Call<'_, P>, asked: OfMonths) -> Result<Answer> {
    let months = match asked.month {
        Some(month) => vec![month],
        None => Month::last(call.platform.now_ms(), MONTHS),
    };
    let found = updates::list(call.ledger, asked.mode, &months, MOST).await?;
    let rows: Vec<_> = found.updates.iter().map(cells).collect();
    let headings = [
        "MONTH",
        "OFFERING",
        "STATE",
        "STAGE",
        "DATE",
        "SENTENCE",
        "MODE",
        "CHANGED BY",
        "AT",
        "ID",
    ];
    let listed = match rows.is_empty() {
        true => "no updates".to_owned(),
        false => table(headings, &rows),
    };
    let outdated = match found.outdated.len() {
        0 => String::new(),
        count => format!(
            "Workers KV has not accepted {} for timelines yet. Run `updates check`.",
            counted(count, "record")
        ),
    };
    let updates = found.updates.iter().map(printed).collect();
    let data = Listed { updates, outdated: &found.outdated };
    Answer::new(&data, paragraphs([listed, outdated]))
}

fn cells(row: &UpdateRow) -> [String; 10] {
    let UpdateRow { id, pledges, state, update, changed_by, changed_at, .. } = row;
    let sentence = update.texts.best("en").map(|(_, text)| text).unwrap_or_default();
    [
        pledges.month.to_string(),
        pledges.offering.clone(),
        state.name().to_owned(),
        update.stage.name().to_owned(),
        update.date.to_string(),
        sentence.chars().take(MAX_CELL).collect(),
        pledges.mode.name().to_owned(),
        changed_by.clone(),
        time(changed_at),
        id.clone(),
    ]
}

/// Largest number of characters of a sentence in a list.
const MAX_CELL: usize = 60;

pub const PREVIEW: Spec =
    Spec::reads("updates", "preview", "print an update with its sentence in each language", &[ID])
        .answers("the same members as in the answer of `updates add`");

pub async fn preview<P: Ports>(call: &Call<'_, P>, Named { update, .. }: Named) -> Result<Answer> {
    let row = updates::get(call.ledger, &update).await?;
    Answer::new(&printed(&row), in_lines(&facts(&row)))
}

pub const CHECK: Spec = Spec::reads(
    "updates",
    "check",
    "check that the records for timelines agree with the ledger, and correct those that differ",
    &[],
)
.corrects()
.answers("`compared`: the number of records that were compared; `written`: how many of them differed and were written again");

#[derive(Deserialize)]
pub struct Nothing {}

pub async fn check<P: Ports>(call: &Call<'_, P>, Nothing {}: Nothing) -> Result<Answer> {
    let compared = updates::compare(call.store, call.ledger, call.platform).await?;
    Answer::new(&compared, in_counts(compared))
}

fn in_counts(Compared { compared, written }: Compared) -> String {
    format!("{} compared, {written} corrected.", counted(compared, "record"))
}
