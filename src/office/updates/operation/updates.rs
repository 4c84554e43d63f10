//! Operations on updates. An update tells buyers, on their timelines, what became of their pledges.

use super::members::Members;
use crate::buyer::updates::Update;
use crate::office::shared::operation::call::{
    Answer, Call, Changed, Failure, Host as _, Ports, Result,
};
use crate::office::shared::operation::facts::{Fact, Facts, in_lines};
use crate::office::shared::operation::link;
use crate::office::shared::operation::listing::Listing;
use crate::office::shared::operation::question::Question;
use crate::office::shared::operation::spec::{Argument, Kind, Spec, mode, month, text};
use crate::office::shared::operation::table::{capital, counted, paragraphs, sentence};
use crate::office::shared::operation::values::Values;
use crate::office::shared::rule::delays::APPLIED_SECONDS;
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::once::Done;
use crate::office::shared::rule::refused::Refused;
use crate::office::updates::rows::updates::{Pledges, UpdateRow, UpdateState};
use crate::office::updates::rule as updates;
use crate::office::updates::rule::{Compared, NewUpdate, UpdateChange};
use crate::pledges::scope::Mode;
use crate::pledges::service::Clock as _;
use crate::pledges::settlement::Month;
use serde::{Deserialize, Serialize};
use serde_json::Value;

const ID: Argument = Argument::positional("update", text("id"), "the update's ID, such as upd_…");
/// Describes the JSON of an update.
const UPDATE: &str = "`id`, `mode`, `month`, `offering`, `state`; `update`: what timelines show, with `stage`, `date`, `texts` by language, and, if given, `place` (`name`, `latitude`, `longitude`), `partner`, `quantity`, `picture` (`url`, a path if it was uploaded, and `text`), `report`; `fulfilment`: the ID of the fulfilment that it was made from, or `null`; `revision`: counts the changes, from 1; `by`, `at`, `changedBy`, `changedAt`";
/// Number of months that are shown if no month is given: the current month and those before it.
const MONTHS: usize = 12;
/// Largest number of rows that are printed.
const MOST: usize = 10_000;

pub(crate) const STAGE: Argument = Argument::option(
    "stage",
    Kind::Choice { choices: &["funded", "under-way", "done", "verified"] },
    "how far the work has progressed",
)
.menu("Stage", &["Funded", "Under way", "Done", "Verified"]);
const DATE: Argument =
    Argument::option("date", Kind::Day, "the day that the update is about, such as 2026-11-03")
        .field("Date", "The day on which it happened.");
const TEXT: Argument = Argument::option(
    "text",
    text("language=sentence"),
    "a sentence for buyers in one language, such as en=\"We planted the trees.\"",
)
.repeatable()
.field(
    "Sentence for buyers",
    "One line of at most 400 characters in one or more languages. A timeline shows the sentence in its own language. If \
     there is no such sentence, the timeline shows the English one, or else the first. Write what happened, without names \
     of persons.",
);
const PLACE: Argument = Argument::option("place", text("place"), "where it happened")
    .field("Place", "For example Kitui, Kenya.");
const LATITUDE: Argument =
    Argument::option("latitude", text("degrees"), "degrees north, such as -1.3733")
        .field("Latitude", "Optional, in degrees. Buyers see the place as a link to a map.");
const LONGITUDE: Argument =
    Argument::option("longitude", text("degrees"), "degrees east, such as 38.0106")
        .field("Longitude", "For example 38.0106.");
const PARTNER: Argument =
    Argument::option("partner", text("name"), "the organisation that did it; not a person")
        .field("Partner", "The organisation that did it; not a person.");
const QUANTITY: Argument = Argument::option(
    "quantity",
    text("quantity"),
    "how much of the offering was done, for all buyers together, such as 1200",
)
.field("Quantity", "The quantity done for the pledges of all buyers together, for example 1200.");
const PICTURE: Argument =
    Argument::option("picture", text("url"), "the address of a picture, with https://")
        .field("Picture", "The https address of an image.");
const PICTURE_FILE: Argument = Argument::option(
    "picture-file",
    Kind::Input,
    "a JPEG, PNG or WebP file of at most 5 MiB to upload; what the file says about place and time is removed; `-` is standard input",
)
.upload(
    "Upload a picture",
    "A JPEG, PNG or WebP file of at most 5 MiB, instead of an address. What the file says about place, time and camera is \
     removed.",
    "image/jpeg,image/png,image/webp",
);
const PICTURE_TEXT: Argument = Argument::option(
    "picture-text",
    text("text"),
    "what the picture shows, for people who cannot see it",
)
.field("What the picture shows", "One line, for people who cannot see it.");
const REPORT: Argument =
    Argument::option("report", text("url"), "the address of a report, with https://")
        .field("Report", "A web address, with https://.");
const REVISION: Argument = Argument::option(
    "revision",
    Kind::Number { least: 0, most: u64::MAX },
    "the revision that you have seen: if the update has another by now, nothing is changed",
);

// ---- Add and edit --------------------------------------------------------------------------------

pub const ADD: Spec = Spec::changes(
    "updates",
    "add",
    "add a draft of what became of the pledges of an offering and month; buyers do not see it yet",
    &[
        Argument::positional(
            "month",
            Kind::Month,
            "the month of the pledges, in UTC, such as 2026-10",
        ),
        Argument::positional("offering", text("offering"), "the offering's ID, such as tree")
            .field("Offering", "The offering's ID, for example tree."),
        mode("whether the update is for live or for test pledges").or("live"),
        STAGE.required(),
        DATE.required(),
        TEXT,
        PLACE,
        LATITUDE,
        LONGITUDE,
        PARTNER,
        QUANTITY,
        PICTURE,
        PICTURE_FILE,
        PICTURE_TEXT,
        REPORT,
    ],
)
.button("Save draft")
.answers(UPDATE);

#[derive(Deserialize)]
pub struct Add {
    month: Month,
    offering: String,
    mode: Mode,
    #[serde(flatten)]
    members: Members,
}

pub fn check_add(values: &Values) -> Result<(), Refused> {
    values.read::<Add>()?.members.edits().map(drop)
}

pub async fn add<P: Ports>(call: &Call<'_, P>, asked: Add) -> Result<Answer> {
    let Add { month, offering, mode, members } = asked;
    let mut new = NewUpdate::default();
    let edits = members.edits().map_err(Failure::Usage)?;
    edits.with_picture(call).await?.apply(&mut new);
    let by = call.host.person().await?;
    let pledges = Pledges { mode, month, offering };
    let author = call.author(&by)?;
    let added = updates::add(call.store, call.ledger, &author, (&pledges, None), &new).await?;
    answer(&added, "The draft was saved. Buyers do not see it until you publish it.", "")
}

pub const DRAFT: Spec = Spec::changes(
    "updates",
    "draft",
    "draft an update with the partner, place, day, quantity and report of a fulfilment",
    &[Argument::positional("fulfilment", text("id"), "the fulfilment's ID, such as ful_…")],
)
.answers("the same members as in the answer of `updates add`");

#[derive(Deserialize)]
pub struct Draft {
    fulfilment: String,
}

pub async fn draft<P: Ports>(call: &Call<'_, P>, Draft { fulfilment }: Draft) -> Result<Answer> {
    let by = call.host.person().await?;
    let author = call.author(&by)?;
    let added = updates::add_from_fulfilment(call.store, call.ledger, &author, &fulfilment).await?;
    answer(&added, "The draft was saved. Buyers do not see it until you publish it.", "")
}

pub const EDIT: Spec = Spec::changes(
    "updates",
    "edit",
    "change the contents of an update; if it is published, timelines show the change",
    &[
        ID,
        STAGE,
        DATE,
        TEXT,
        PLACE,
        LATITUDE,
        LONGITUDE,
        PARTNER,
        QUANTITY,
        PICTURE,
        PICTURE_FILE,
        PICTURE_TEXT,
        REPORT,
        Argument::option(
            "remove",
            Kind::Choice {
                choices: &["place", "coordinates", "partner", "quantity", "picture", "report"],
            },
            "a member to remove; `--text de=` removes a sentence",
        )
        .repeatable(),
        REVISION,
    ],
)
.confirmed_if("the update is published, so that buyers see the change")
.button("Save")
.filled_in()
.answers("the same members as in the answer of `updates add`");

#[derive(Deserialize)]
pub struct Edit {
    update: String,
    revision: Option<u64>,
    #[serde(flatten)]
    members: Members,
}

pub fn check_edit(values: &Values) -> Result<(), Refused> {
    values.read::<Edit>()?.members.edits().map(drop)
}

pub async fn edit<P: Ports>(
    call: &Call<'_, P>,
    Edit { update, revision, members }: Edit,
) -> Result<Answer> {
    let edits = members.edits().map_err(Failure::Usage)?;
    let edits = edits.with_picture(call).await?;
    let found = updates::get(call.ledger, &update).await?;
    let mut new = NewUpdate::from(&found.update);
    edits.apply(&mut new);
    let revision = revision.unwrap_or(found.revision);
    if found.state == UpdateState::Published && !call.was_done().await? {
        updates::check_seen(&found, revision)?;
        let warning = warning(call, &found, &new).await?;
        let effect = format!(
            "{warning}Buyers see this update. Timelines show the contents above after about {APPLIED_SECONDS} s."
        );
        let question = Question::new("Change what buyers see?", "nothing was changed");
        call.confirm(
            question.about(contents(&new)).effect(effect).button("Change what buyers see"),
        )
        .await?;
    }
    let by = call.host.person().await?;
    let of = (&*update, revision);
    let edited = updates::edit(call.store, call.ledger, &call.author(&by)?, of, &new).await?;
    let later = match found.state {
        UpdateState::Published => shown_later(),
        UpdateState::Withdrawn => stopped_later(),
        UpdateState::Draft => String::new(),
    };
    answer(&edited, "The update was saved.", &later)
}

/// Returns a sentence for a question if buyers would be told of more than was done; otherwise an empty text.
async fn warning<P: Ports>(
    call: &Call<'_, P>,
    found: &UpdateRow,
    wanted: &NewUpdate,
) -> Result<String> {
    let warning = updates::beyond(call.ledger, found, wanted).await?;
    Ok(warning.map(|text| sentence(&text) + " ").unwrap_or_default())
}

// ---- Publish and withdraw ------------------------------------------------------------------------

#[derive(Deserialize)]
pub struct Named {
    update: String,
    revision: Option<u64>,
}

pub const PUBLISH: Spec = Spec::changes(
    "updates",
    "publish",
    "publish an update: it then appears on the timeline of every buyer who pledged for the offering in \
     that month",
    &[ID, REVISION],
)
.confirmed()
.answers("the same members as in the answer of `updates add`");

pub async fn publish<P: Ports>(
    call: &Call<'_, P>,
    Named { update, revision }: Named,
) -> Result<Answer> {
    let found = updates::get(call.ledger, &update).await?;
    let revision = revision.unwrap_or(found.revision);
    if !call.was_done().await? {
        updates::check_seen(&found, revision)?;
        updates::check_publishable(&found.update)?;
        let warning = warning(call, &found, &NewUpdate::from(&found.update)).await?;
        let effect = format!("{warning}Timelines show the update after about {APPLIED_SECONDS} s.");
        let question = Question::new("Publish this update?", "nothing was published");
        call.confirm(question.about(facts(&found)).effect(effect).button("Publish")).await?;
    }
    let by = call.host.person().await?;
    let of = (&*update, revision);
    let done = updates::publish(call.store, call.ledger, &call.author(&by)?, of).await?;
    answer(&done, "The update was published.", &shown_later())
}

pub const WITHDRAW: Spec = Spec::changes(
    "updates",
    "withdraw",
    "withdraw an update: timelines no longer show it; it stays in the database and can be published again",
    &[ID, REVISION],
)
.confirmed()
.answers("the same members as in the answer of `updates add`");

pub async fn withdraw<P: Ports>(
    call: &Call<'_, P>,
    Named { update, revision }: Named,
) -> Result<Answer> {
    let found = updates::get(call.ledger, &update).await?;
    let revision = revision.unwrap_or(found.revision);
    if !call.was_done().await? {
        updates::check_seen(&found, revision)?;
        call.confirm(withdrawing(&found)).await?;
    }
    let by = call.host.person().await?;
    let of = (&*update, revision);
    let done = updates::withdraw(call.store, call.ledger, &call.author(&by)?, of).await?;
    match found.state {
        UpdateState::Draft => answer(&done, "The draft was discarded. It stays in the list.", ""),
        _ => answer(&done, "The update was withdrawn. It stays in the list.", &stopped_later()),
    }
}

fn withdrawing(found: &UpdateRow) -> Question {
    let question = match found.state {
        UpdateState::Draft => {
            Question::new("Discard this draft?", "nothing was discarded").button("Discard draft")
        }
        _ => Question::new("Withdraw this update?", "nothing was withdrawn").button("Withdraw").effect(
            format!(
                "Timelines stop showing the update after about {APPLIED_SECONDS} s. Buyers may have printed or saved \
                 their page."
            ),
        ),
    };
    question.about(facts(found))
}

fn facts(row: &UpdateRow) -> Facts {
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
fn contents(update: &NewUpdate) -> Facts {
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
fn printed(row: &UpdateRow) -> Result<Value, OperatorError> {
    let mut value = serde_json::to_value(row)?;
    if let (Some(members), Value::Object(pledges)) =
        (value.as_object_mut(), serde_json::to_value(&row.pledges)?)
    {
        members.retain(|name, _| name != "pledges" && name != "operation");
        members.extend(pledges);
    }
    Ok(value)
}

fn stopped_later() -> String {
    format!(" Timelines stop showing it after about {APPLIED_SECONDS} s.")
}

/// Says that timelines show a change later.
fn shown_later() -> String {
    format!(" Timelines show it after about {APPLIED_SECONDS} s.")
}

/// Creates the answer of a change. `later` says when timelines follow it; empty if they do not change.
fn answer(done: &Done<UpdateChange>, what: &str, later: &str) -> Result<Answer> {
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

// ---- Read ----------------------------------------------------------------------------------------

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

// ---- Mend ----------------------------------------------------------------------------------------

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
