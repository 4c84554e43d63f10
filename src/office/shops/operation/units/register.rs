//! Registers, shows, lists and removes units.

use super::rows::{ID, ONE_PROFILE, listing, profile_of};
use crate::office::shared::operation::call::{
    Answer, Call, Changed, Host as _, Ports, Result, invalid,
};
use crate::office::shared::operation::facts::Facts;
use crate::office::shared::operation::spec::{Argument, Spec, text};
use crate::office::shared::rule::delays::{APPLIED_SECONDS, SHOWN_SECONDS};
use crate::office::shared::rule::once::Done;
use crate::office::shared::rule::roles::Permission;
use crate::office::shops::operation::register::question;
use crate::office::shops::rule::register;
use crate::office::shops::rule::units;
use crate::pledges::auth::KeyLevel;
use serde::{Deserialize, Serialize};

pub const ADD: Spec = Spec::changes(
    "units",
    "add",
    "register the IDs of units; commands ask for confirmation before they use an ID that is not registered",
    &[Argument::positional("unit", text("unit"), "the IDs of the units")
        .repeatable()
        .field("Unit ID", "The shop's requests use this ID. It cannot be changed later.")],
)
.confirmed_if("a registered unit has a similar ID")
.button("Create unit")
.answers("`units`");

#[derive(Deserialize, Serialize)]
pub struct Units {
    #[serde(rename(deserialize = "unit"))]
    units: Vec<String>,
}

pub async fn add<P: Ports>(call: &Call<'_, P>, asked: Units) -> Result<Answer> {
    let levels: Vec<_> = asked.units.iter().cloned().map(KeyLevel::Unit).collect();
    let mut known = asked.units.clone();
    if call.was_done().await? {
        known.clear();
    } else {
        let mut unknown = register::look_up(call.store, &levels).await?;
        known.retain(|unit| unknown.iter().all(|it| it.level.id() != unit));
        unknown.retain(|it| it.suggestion.is_some());
        if let Some(question) = question(unknown, false, "nothing was registered") {
            call.confirm(question).await?;
        }
    }
    let said = said(&asked.units, &known);
    if known.len() == asked.units.len() {
        let done = Done { outcome: asked, before: None }; // there is nothing to record
        return Answer::changed(&done, Changed::new(said, Facts::new()));
    }
    let by = call.host.person().await?;
    let done = register::add(call.store, call.ledger, &call.author(&by)?, &asked.units).await?;
    Answer::changed(&done.map(|()| asked), Changed::new(said, Facts::new()))
}

/// Says which units are new, and which of them were registered before.
fn said(units: &[String], known: &[String]) -> String {
    let new: Vec<_> = units.iter().filter(|unit| !known.contains(unit)).cloned().collect();
    let new = (!new.is_empty()).then(|| {
        format!("Registered: {}. Lists may not show it for {SHOWN_SECONDS} s.", new.join(", "))
    });
    let known = (!known.is_empty()).then(|| format!("Registered before: {}.", known.join(", ")));
    new.into_iter().chain(known).collect::<Vec<_>>().join(" ")
}

pub const SHOW: Spec = Spec::reads("units", "show", "print a unit's profile", &[ID])
    .permission(Permission::Look)
    .answers(ONE_PROFILE);

#[derive(Deserialize)]
pub struct UnitArguments {
    unit: String,
}

pub async fn show<P: Ports>(
    call: &Call<'_, P>,
    UnitArguments { unit }: UnitArguments,
) -> Result<Answer> {
    let row = units::get(call.store, &unit).await?.ok_or_else(|| {
        invalid(format!(
            "the unit `{unit}` has no profile: its timelines show the name Impact Pledge"
        ))
    })?;
    let text = profile_of(&row);
    Answer::new(&row, text)
}

pub const LIST: Spec = Spec::reads("units", "list", "list the units with their profiles", &[])
    .permission(Permission::Look)
    .answers("`units`: for each `unit`; `profile`, or `problem` if the stored profile cannot be read; `created` and `by`: when and by whom it was registered");

#[derive(Deserialize)]
pub struct NoArguments {}

pub async fn list<P: Ports>(call: &Call<'_, P>, NoArguments {}: NoArguments) -> Result<Answer> {
    let (units, _) = units::list(call.store, usize::MAX).await?;
    Answer::list("units", &units, listing(&units).in_lines())
}

pub const REMOVE: Spec = Spec::changes(
    "units",
    "remove",
    "remove a unit's profile, its price lists and its entry in the register, without asking for confirmation; its keys, \
     teams and transactions stay",
    &[ID],
)
.answers("`unit`, `removed`");

#[derive(Serialize)]
struct Removed {
    unit: String,
    removed: bool,
}

pub async fn remove<P: Ports>(
    call: &Call<'_, P>,
    UnitArguments { unit }: UnitArguments,
) -> Result<Answer> {
    let by = call.host.person().await?;
    let done = units::remove(call.store, call.ledger, &call.author(&by)?, &unit).await?;
    if !done.outcome {
        return Err(invalid(format!(
            "the unit `{unit}` is not registered, and has no profile and no price list"
        )));
    }
    let text = format!(
        "The profile and the price lists of {unit} are removed. Within about {APPLIED_SECONDS} s, \
         timelines stop showing the profile, and the prices of the mode apply to the unit."
    );
    let change = Changed::new(text, Facts::new());
    Answer::changed(&done.map(|removed| Removed { unit, removed }), change)
}
