//! Compares the IDs of units and teams with the register, because an ID may be misspelt. Before a
//! command adds an unknown ID, it asks for confirmation and suggests a similar ID.

use crate::office::shared::operation::call::{Call, Host as _, Ports, Result, invalid};
use crate::office::shops::rule::register::{Unregistered, look_up};
use crate::pledges::auth::KeyLevel;

/// Asks the person for confirmation if some of the IDs are not registered. If the person refuses, the command
/// ends with the text `otherwise`, which says what was not done.
pub async fn confirm_new<P: Ports>(
    call: &Call<'_, P>,
    levels: &[KeyLevel],
    otherwise: &str,
) -> Result<()> {
    let unknown = look_up(call.store, levels).await?;
    if unknown.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = unknown.iter().map(named).collect();
    let question = match names.as_slice() {
        [name] => format!("The {name} is not registered. Register it as new?"),
        several => format!("Not registered: {}. Register them as new?", several.join(", ")),
    };
    Ok(call.host.confirm(&question, otherwise).await?)
}

/// Refuses a unit or a team that is not registered, because its ID may be misspelt. Operations call
/// this only after they have found no data of the unit or team: a unit that was removed from the
/// register may still have transactions.
pub async fn must_be_registered<P: Ports>(
    call: &Call<'_, P>,
    level: Option<KeyLevel>,
) -> Result<()> {
    match look_up(call.store, level.as_slice()).await?.first() {
        Some(unknown) => Err(invalid(format!("the {} is not registered", named(unknown)))),
        None => Ok(()),
    }
}

/// Refuses a unit that is not registered, as [`must_be_registered`] does.
pub async fn unit_must_be_registered<P: Ports>(
    call: &Call<'_, P>,
    unit: Option<&str>,
) -> Result<()> {
    must_be_registered(call, unit.map(|unit| KeyLevel::Unit(unit.to_owned()))).await
}

fn named(Unregistered { level, suggestion }: &Unregistered) -> String {
    let name = whose(level);
    match suggestion {
        Some(suggestion) => format!("{name} (similar: `{suggestion}`)"),
        None => name,
    }
}

/// Returns a text for a unit or a team, such as ``unit `shop` ``.
pub fn whose(level: &KeyLevel) -> String {
    match level {
        KeyLevel::Unit(unit) => format!("unit `{unit}`"),
        KeyLevel::Team(team) => format!("team `{team}`"),
    }
}
