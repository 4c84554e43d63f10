//! Asks before a new unit or team is created, because its ID may be misspelt. The person either creates the
//! new unit or team, or uses an existing one with a similar ID. If the person corrects the ID in the form,
//! the corrected ID is looked up again, whichever button is pressed.

use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::view::hidden;
use crate::office::shared::page::{link, view};
use crate::office::shared::rule::refused::{RefusalCode, Refused};
use crate::office::shops::rule::register;
use crate::office::shops::rule::register::Unregistered;
use crate::pledges::auth::KeyLevel;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use maud::{Markup, html};

/// The name of both buttons. The values are `CREATE` to create the new ID, and `USE` to use the similar one.
const ANSWER: &str = "answer";
const CREATE: &str = "create";
const USE: &str = "use";

/// Returns the names of two hidden fields. The first field has the ID that the question is about, the second
/// field the similar ID.
fn names(level: &KeyLevel) -> (&'static str, &'static str) {
    match level {
        KeyLevel::Unit(_) => ("asked-unit", "similar-unit"),
        KeyLevel::Team(_) => ("asked-team", "similar-team"),
    }
}

/// Whether the form has this answer for this unit or team. An answer to a question about another ID does not
/// count.
fn has_answer(form: &Form, answer: &str, level: &KeyLevel) -> bool {
    form.text(ANSWER) == answer && form.text(names(level).0) == level.id()
}

pub(crate) fn is_new(form: &Form, level: &KeyLevel) -> bool {
    has_answer(form, CREATE, level)
}

/// Returns the unit or team that the person chose: the one with the similar ID if its button was pressed,
/// otherwise `level`.
pub(crate) fn meant(form: &Form, level: KeyLevel) -> KeyLevel {
    let similar = form.given(names(&level).1).filter(|_| has_answer(form, USE, &level));
    similar.map_or(level.clone(), |similar| level.with_id(similar))
}

/// Returns which of these units and teams do not exist, with similar IDs as suggestions. People of shops
/// get no suggestions, because a suggestion could name another shop. KV cost: 1 read, and 2 lists for each
/// unit or team that does not exist.
pub(crate) async fn look_up<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    levels: &[KeyLevel],
) -> Result<Vec<Unregistered>> {
    let mut missing = register::look_up(context.store, levels).await?;
    if context.is_of_shop() {
        missing.iter_mut().for_each(|unknown| unknown.suggestion = None);
    }
    Ok(missing)
}

/// Returns which of these units and teams do not exist, except those that the form confirms as new. KV cost:
/// 1 read, and 2 lists for each unit or team that does not exist.
pub(crate) async fn missing<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    levels: &[KeyLevel],
    form: &Form,
) -> Result<Vec<Unregistered>> {
    let mut levels = levels.to_vec();
    levels.retain(|level| !is_new(form, level));
    look_up(context, &levels).await
}

/// Returns a refusal such as `there is no unit shop_2; did you mean shop_1?`, or `None` if nothing is missing.
pub(crate) fn problem(missing: &[Unregistered]) -> Option<Refused> {
    let names = missing.iter().map(|unknown| named(&unknown.level)).collect::<Vec<_>>();
    let meant = missing.iter().filter_map(|unknown| unknown.suggestion.as_deref());
    let meant = match meant.collect::<Vec<_>>().join(" and ") {
        meant if meant.is_empty() => meant,
        meant => format!("; did you mean {meant}?"),
    };
    let names = names.join(", and no ");
    let argument = missing.first()?.level.kind();
    let problem = format!("there is no {names}{meant}");
    Some(Refused::at(argument, RefusalCode::NotFound, problem))
}

/// Writes `unit shop_1` or `team chain_1`.
pub(crate) fn named(level: &KeyLevel) -> String {
    let kind = level.kind();
    [kind, " ", level.id()].concat()
}

/// Renders the buttons that answer the question about missing units and teams. The Enter key presses the
/// first button. If there are similar IDs, the first button uses these IDs and creates nothing. `also` is the
/// end of the create button's label, such as ` and the key`.
pub(crate) fn question(missing: &[Unregistered], also: &str) -> Markup {
    let similar: Vec<_> = missing
        .iter()
        .filter_map(|unknown| Some(unknown.level.with_id(unknown.suggestion.as_deref()?)))
        .collect();
    html! {
        @if !missing.is_empty() {
            @for Unregistered { level, suggestion } in missing {
                (hidden(names(level).0, level.id()))
                @if let Some(similar) = suggestion { (hidden(names(level).1, similar)) }
            }
            p.row {
                @if !similar.is_empty() {
                    button name=(ANSWER) value=(USE) { "Use the " (listed(similar.iter())) }
                }
                button.quiet name=(ANSWER) value=(CREATE) {
                    "Create the " (listed(missing.iter().map(|unknown| &unknown.level))) (also)
                }
            }
        }
    }
}

/// Renders the button that confirms that a unit is new. Suggests no similar unit, because the form cannot be
/// sent to another unit.
pub(crate) fn question_new(missing: &[Unregistered]) -> Markup {
    let missing =
        missing.iter().map(|unknown| Unregistered { suggestion: None, ..unknown.clone() });
    question(&missing.collect::<Vec<_>>(), " and save its profile")
}

/// Lists units and teams in words, such as `unit shop_1 and the team chain_1`.
fn listed<'l>(levels: impl Iterator<Item = &'l KeyLevel>) -> String {
    levels.map(named).collect::<Vec<_>>().join(" and the ")
}

pub(crate) fn absence(missing: &[Unregistered]) -> Markup {
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

pub(crate) fn owner(level: &KeyLevel) -> Markup {
    html! { a href=(link::page_of(level)) { (named(level)) } }
}
