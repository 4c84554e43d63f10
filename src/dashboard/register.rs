//! Asks for confirmation before a new unit or team is created, because its ID may be misspelt.

use super::form::Form;
use super::{PageContext, Result, link, view};
use crate::auth::KeyLevel;
use crate::operator::register::{self, Unregistered};
use crate::service::{Clock, Entropy};
use crate::store::OperatorStore;
use maud::{Markup, html};

/// The name of the checkbox that confirms a new ID.
const NEW: &str = "new";

/// Returns which of these units and teams do not exist, with suggestions. People of shops get no suggestion: it could
/// name another shop. KV cost: 1 read, and 2 lists for each unit or team that does not exist.
pub(super) async fn look_up<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    levels: &[KeyLevel],
) -> Result<Vec<Unregistered>> {
    let mut missing = register::look_up(context.store, levels).await?;
    if context.is_of_shop() {
        missing.iter_mut().for_each(|unknown| unknown.suggestion = None);
    }
    Ok(missing)
}

/// Returns which of these units and teams do not exist. Returns none if the form confirms that they are new. KV cost: 1
/// read, and 2 lists for each unit or team that does not exist.
pub(super) async fn missing<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    levels: &[KeyLevel],
    form: &Form,
) -> Result<Vec<Unregistered>> {
    let levels = if is_right(form) { &[] } else { levels };
    look_up(context, levels).await
}

/// Whether the form confirms that the missing IDs are new.
pub(super) fn is_right(form: &Form) -> bool {
    !form.text(NEW).is_empty()
}

/// Returns `there is no unit shop_2; did you mean shop_1?`, or `None` if nothing is missing.
pub(super) fn problem(missing: &[Unregistered]) -> Option<String> {
    let names = missing.iter().map(|unknown| named(&unknown.level)).collect::<Vec<_>>();
    let meant = missing.iter().filter_map(|unknown| unknown.suggestion.as_deref());
    let meant = match meant.collect::<Vec<_>>().join(" and ") {
        meant if meant.is_empty() => meant,
        meant => format!("; did you mean {meant}?"),
    };
    let names = names.join(", and no ");
    (!missing.is_empty()).then(|| format!("there is no {names}{meant}"))
}

/// Writes `unit shop_1` or `team chain_1`.
pub(super) fn named(level: &KeyLevel) -> String {
    let kind = if matches!(level, KeyLevel::Unit(_)) { "unit" } else { "team" };
    [kind, " ", level.id()].concat()
}

/// A checkbox that confirms that the missing units and teams are to be created.
pub(super) fn question(missing: &[Unregistered]) -> Markup {
    html! {
        @if !missing.is_empty() {
            label {
                input type="checkbox" name=(NEW) value="yes" required;
                "The "
                @for (index, Unregistered { level, .. }) in missing.iter().enumerate() {
                    @if index > 0 { " and the " }
                    (named(level))
                }
                @if missing.len() == 1 { " is new: create it" }
                @else { " are new: create them" }
            }
        }
    }
}

/// A notice that a unit or a team does not exist.
pub(super) fn absence(missing: &[Unregistered]) -> Markup {
    html! {
        @for Unregistered { level, suggestion } in missing {
            (view::notice(&html! {
                "The " (named(level)) " does not exist yet."
                @if let Some(suggestion) = suggestion {
                    " Did you mean " (owner(&level.with_id(suggestion))) "?"
                }
            }))
        }
    }
}

/// Renders a link to the page of a unit or a team.
pub(super) fn owner(level: &KeyLevel) -> Markup {
    html! { a href=(link::page_of(level)) { (named(level)) } }
}
