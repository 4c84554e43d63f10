//! Registers, shows, lists and removes units.

use super::rows::{HEADS, ID, ONE_PROFILE, profile_of, registered_cells};
use crate::office::shared::operation::call::{Answer, Call, Host as _, Ports, Result, invalid};
use crate::office::shared::operation::spec::{Argument, Spec, text};
use crate::office::shared::operation::table::table;
use crate::office::shared::rule::delays::APPLIED_SECONDS;
use crate::office::shared::rule::roles::Permission;
use crate::office::shops::rule::register;
use crate::office::shops::rule::units;
use crate::office::shops::rule::units::UnitRow;
use serde::{Deserialize, Serialize};

pub const ADD: Spec = Spec::changes(
    "units",
    "add",
    "register the IDs of units; commands ask for confirmation before they use an ID that is not registered",
    &[Argument::positional("unit", text("unit"), "the IDs of the units").repeatable()],
)
.answers("`units`");

#[derive(Deserialize, Serialize)]
pub struct Units {
    #[serde(rename(deserialize = "unit"))]
    units: Vec<String>,
}

pub async fn add<P: Ports>(call: &Call<'_, P>, asked: Units) -> Result<Answer> {
    let by = call.host.person().await?;
    let done = register::add(call.store, call.ledger, &call.author(&by)?, &asked.units).await?;
    let text = format!("Registered: {}.", asked.units.join(", "));
    Answer::done(&done.map(|()| asked), text)
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

#[derive(Serialize)]
struct UnitList {
    units: Vec<UnitRow>,
}

pub async fn list<P: Ports>(call: &Call<'_, P>, NoArguments {}: NoArguments) -> Result<Answer> {
    let (units, _) = units::list(call.store, usize::MAX).await?;
    let text = match units.is_empty() {
        true => "no units".to_owned(),
        false => {
            let [a, b, c, d, e, f, g, h, i] = HEADS;
            let rows: Vec<_> = units.iter().map(registered_cells).collect();
            table([a, b, c, d, e, f, g, h, i, "CREATED", "BY"], &rows)
        }
    };
    Answer::new(&UnitList { units }, text)
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
    Answer::done(&done.map(|removed| Removed { unit, removed }), text)
}
