//! Asks for confirmation before new IDs are added to the register of units and teams.

use super::call::{Call, Host as _, Ports, Result};
use crate::auth::KeyLevel;
use crate::operator::register::{Unregistered, look_up};

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
