//! Lists updates, and corrects the records for timelines.

use super::answer::{facts, printed};
use super::arguments::{ID, STAGE};
use super::publish::Named;
use crate::buyer::updates::Update;
use crate::office::shared::operation::call::{Answer, Call, Ports, Result};
use crate::office::shared::operation::facts::{Fact, in_lines};
use crate::office::shared::operation::link;
use crate::office::shared::operation::listing::Listing;
use crate::office::shared::operation::spec::{Spec, mode, month};
use crate::office::shared::operation::table::{capital, counted, paragraphs};
use crate::office::updates::rows::updates::{Pledges, UpdateRow, UpdateState};
use crate::office::updates::rule as updates;
use crate::office::updates::rule::Compared;
use crate::pledges::scope::Mode;
use crate::pledges::service::Clock as _;
use crate::pledges::settlement::Month;
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    updates: Vec<Value>,
    outdated: &'l [Pledges],
}

pub async fn list<P: Ports>(call: &Call<'_, P>, asked: OfMonths) -> Result<Answer> {
    let months = match asked.month {
        Some(month) => vec![month],
        None => Month::last(call.platform.now_ms(), MONTHS),
    };
    let found = updates::list(call.ledger, asked.mode, &months, MOST).await?;
    let outdated = match found.outdated.len() {
        0 => String::new(),
        count => format!(
            "Workers KV has not accepted {} for timelines yet. Run `updates check`.",
            counted(count, "record")
        ),
    };
    let updates = found.updates.iter().map(printed).collect::<Result<_, _>>()?;
    let data = Listed { updates, outdated: &found.outdated };
    Answer::new(&data, paragraphs([listing(&found.updates).in_lines(), outdated]))
}

/// Returns the list of updates.
pub(crate) fn listing(updates: &[UpdateRow]) -> Listing {
    Listing::new(
        updates,
        "No updates for this month yet.",
        &[
            ("Month", &|it| Fact::Month(it.pledges.month)),
            ("Mode", &|it| Fact::Mode(it.pledges.mode)),
            ("Offering", &|it| Fact::Text(it.pledges.offering.clone())),
            ("Date", &|it| Fact::Day(it.update.date.to_string())),
            ("Stage", &|it| {
                Fact::words(stage_in_words(it.update.stage.name()))
                    .at(link::path(&["updates", &it.id]))
            }),
            ("Sentence", &|it| sentence_of(&it.update)),
            ("State", &|it| state(it.state)),
            ("Changed by", &|it| Fact::Text(it.changed_by.clone())),
            ("Changed", &|it| Fact::time(&*it.changed_at)),
            ("ID", &|it| Fact::id(&it.id)),
        ],
    )
}

/// Largest number of characters of a sentence in a list.
const MAX_SENTENCE: usize = 120;

fn sentence_of(update: &Update) -> Fact {
    match update.texts.best("en") {
        Some((_, text)) => Fact::Text(text.chars().take(MAX_SENTENCE).collect()),
        None => Fact::words("No sentence yet"),
    }
}

fn state(state: UpdateState) -> Fact {
    let words = Fact::Words(capital(state.name()));
    if state == UpdateState::Published { words.strong() } else { words }
}

/// Returns the words by which lists name a stage, such as `Under way` for `under-way`.
pub(crate) fn stage_in_words(name: &str) -> &str {
    STAGE.label_of(name).unwrap_or(name)
}

pub const PREVIEW: Spec =
    Spec::reads("updates", "preview", "print an update with its sentence in each language", &[ID])
        .answers("the same members as in the answer of `updates add`");

pub async fn preview<P: Ports>(call: &Call<'_, P>, Named { update, .. }: Named) -> Result<Answer> {
    let row = updates::get(call.ledger, &update).await?;
    Answer::new(&printed(&row)?, in_lines(&facts(&row)))
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
