//! Asks before a unit or a team is taken into the register that it lacks: its ID may be misspelt.

use super::form::Form;
use super::{Desk, Result};
use crate::auth::KeyLevel;
use crate::handle::{Clock, Entropy};
use crate::operator::register::{self, Unknown};
use crate::store::OperatorStore;
use maud::{Markup, html};

/// The field that says of an ID that it is right.
const NEW: &str = "new";

/// What the register lacks of these, unless the form says that all of it is right. Takes one read, and
/// for each that is missing two lists.
pub(super) async fn missing<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    levels: &[KeyLevel],
    form: &Form,
) -> Result<Vec<Unknown>> {
    let levels = if is_right(form) { &[] } else { levels };
    Ok(register::look_up(desk.store, levels).await?)
}

/// Whether the form says that what is missing is spelt right.
pub(super) fn is_right(form: &Form) -> bool {
    !form.text(NEW).is_empty()
}

/// `the register has no unit shop_2; did you mean shop_1?`, if it lacks something.
pub(super) fn problem(missing: &[Unknown]) -> Option<String> {
    let names = missing.iter().map(|unknown| named(&unknown.level)).collect::<Vec<_>>();
    let meant = missing.iter().filter_map(|unknown| unknown.suggestion.as_deref());
    let meant = match meant.collect::<Vec<_>>().join(" and ") {
        meant if meant.is_empty() => meant,
        meant => format!("; did you mean {meant}?"),
    };
    let names = names.join(", and no ");
    (!missing.is_empty()).then(|| format!("the register has no {names}{meant}"))
}

/// `unit shop_1`
pub(super) fn named(level: &KeyLevel) -> String {
    let kind = if matches!(level, KeyLevel::Unit(_)) { "unit" } else { "team" };
    [kind, " ", level.id()].concat()
}

/// Asks in a form whether what is missing is to be added.
pub(super) fn question(missing: &[Unknown]) -> Markup {
    html! {
        @if !missing.is_empty() {
            label {
                input type="checkbox" name=(NEW) value="yes" required;
                @for (index, Unknown { level, .. }) in missing.iter().enumerate() {
                    @if index == 0 { "The " } @else { " and the " }
                    (named(level))
                }
                @if missing.len() == 1 { " is spelt right: add it to the register" }
                @else { " are spelt right: add them to the register" }
            }
        }
    }
}
