//! Adds and edits updates.

use super::answer::{answer, contents, shown_later, stopped_later};
use super::arguments::{
    DATE, ID, LATITUDE, LONGITUDE, PARTNER, PICTURE, PICTURE_FILE, PICTURE_TEXT, PLACE, QUANTITY,
    REPORT, REVISION, STAGE, TEXT, UPDATE,
};
use super::members::Members;
use crate::office::shared::operation::call::{Answer, Call, Failure, Host as _, Ports, Result};
use crate::office::shared::operation::question::Question;
use crate::office::shared::operation::spec::{Argument, Kind, Spec, mode, text};
use crate::office::shared::operation::table::sentence;
use crate::office::shared::operation::values::Values;
use crate::office::shared::rule::delays::APPLIED_SECONDS;
use crate::office::shared::rule::refused::Refused;
use crate::office::updates::rows::updates::{Pledges, UpdateRow, UpdateState};
use crate::office::updates::rule as updates;
use crate::office::updates::rule::NewUpdate;
use crate::pledges::scope::Mode;
use crate::pledges::settlement::Month;
use serde::Deserialize;

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
    pub members: Members,
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
    pub members: Members,
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
pub(super) async fn warning<P: Ports>(
    call: &Call<'_, P>,
    found: &UpdateRow,
    wanted: &NewUpdate,
) -> Result<String> {
    let warning = updates::beyond(call.ledger, found, wanted).await?;
    Ok(warning.map(|text| sentence(&text) + " ").unwrap_or_default())
}
