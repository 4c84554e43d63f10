//! Compares the IDs of units and teams with the register, because an ID may be misspelt. Before a
//! command adds an unknown ID, it asks for confirmation and suggests a similar ID.

use crate::office::shared::operation::call::{Call, Ports, Result, invalid};
use crate::office::shared::operation::question::{Instead, Question};
use crate::office::shops::rule::register::{Unregistered, look_up};
use crate::pledges::auth::KeyLevel;

/// Asks the person for confirmation if some of the IDs are not registered. If the person refuses, the command
/// ends with the text `otherwise`, which says what was not done.
pub async fn confirm_new<P: Ports>(
    call: &Call<'_, P>,
    levels: &[KeyLevel],
    otherwise: &'static str,
) -> Result<()> {
    let unknown = look_up(call.store, levels).await?;
    match question(unknown, call.memberships.is_some(), otherwise) {
        Some(question) => call.confirm(question).await,
        None => Ok(()),
    }
}

/// Returns the question whether units and teams that are not registered are new; `None` if all are registered. People of
/// shops get no suggestions, because a suggestion could name another shop.
pub(crate) fn question(
    mut unknown: Vec<Unregistered>,
    is_of_shop: bool,
    otherwise: &'static str,
) -> Option<Question> {
    if unknown.is_empty() {
        return None;
    }
    if is_of_shop {
        unknown.iter_mut().for_each(|it| it.suggestion = None);
    }
    let all = |names: Vec<String>| names.join(" and the ");
    let ids = all(unknown.iter().map(|it| whose(&it.level)).collect());
    let effect = format!("Not registered: the {}.", all(unknown.iter().map(named).collect()));
    let question = Question::new(format!("Create the {ids}?"), otherwise)
        .effect(effect)
        .button(format!("Create the {}", ids.replace('`', "")));
    Some(question.or(instead(&unknown)))
}

/// Returns the similar IDs, if there are any.
fn instead(unknown: &[Unregistered]) -> Option<Instead> {
    let similar = |it: &Unregistered| Some((it.level.kind(), it.suggestion.clone()?));
    let arguments: Vec<_> = unknown.iter().filter_map(similar).collect();
    let names: Vec<_> = arguments.iter().map(|(kind, id)| format!("{kind} {id}")).collect();
    let button = format!("Use the {}", names.join(" and the "));
    (!arguments.is_empty()).then_some(Instead { button, arguments })
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
