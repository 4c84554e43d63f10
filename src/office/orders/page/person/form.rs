//! The form for an erasure: whose transactions are erased, and in which units.

use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::refusal::{Refusal, Result};
use crate::office::shared::page::view;
use crate::pledges::auth::{KeyLevel, check_id};
use maud::{Markup, html};

pub(super) const TITLE: &str = "Erase a person";
/// Maximum number of lines of a receipt, and of units of one erasure.
pub(super) const MAX_LINES: usize = 1_000;
/// What a person types to confirm an erasure in all units.
const ALL_UNITS: &str = "all units";
/// The answer to a form whose hidden fields are not valid.
pub(super) const BROKEN: &str =
    "the form was incomplete, and nothing was erased. Start again on the page “Erase a person”";

/// Renders the form. `problem` contains a field that is not valid, and what is wrong with it.
pub(super) fn question<S, C, E>(
    context: &PageContext<'_, S, C, E>,
    [unit, address]: [&str; 2],
    problem: Option<(&str, &str)>,
) -> Markup {
    let is_of_shop = context.is_of_shop();
    let field = |name, label, hint, value, required| view::Field {
        name,
        label,
        hint,
        value,
        required,
        problem: problem.filter(|(wrong, _)| *wrong == name).map_or("", |(_, problem)| problem),
        ..view::Field::default()
    };
    let every = if is_of_shop { "" } else { "Leave this empty to erase the person in all units." };
    let hint = "In full; capitals do not matter.";
    let content = html! {
        (field("address", "E-mail address", hint, address, true).render())
        (field("unit", "Unit", every, unit, is_of_shop).render())
        button { "Find transactions" }
    };
    html! {
        p.lead {
            "Erases a person's data from transactions, in live and test mode. The recipient's \
             details and all texts are deleted from each transaction with this e-mail address."
        }
        section { (view::form("/person", &content)) }
    }
}

/// Whose transactions a form erases, and in which unit; `None` stands for all units in which they are found.
#[derive(Clone, Copy)]
pub(super) struct Asked<'f> {
    pub(super) address: &'f str,
    pub(super) unit: Option<&'f str>,
}

impl<'f> Asked<'f> {
    /// Reads the form.
    ///
    /// # Errors
    /// The name of the wrong field, and what is wrong with it.
    pub(super) fn parse(
        owner: Option<&'f KeyLevel>,
        form: &'f Form,
    ) -> Result<Self, (&'static str, String)> {
        let unit = match owner {
            Some(KeyLevel::Unit(unit)) => Some(unit.as_str()),
            None if !form.has("team") => None,
            _ => return Err(("unit", NO_UNIT.to_owned())),
        };
        unit.map_or(Ok(()), check_id).map_err(|problem| ("unit", problem))?;
        let address = form.text("address");
        match address.contains('@') {
            true => Ok(Asked { address, unit }),
            false => Err(("address", NO_ADDRESS.to_owned())),
        }
    }

    /// Returns what a person must type to confirm the erasure.
    pub(super) fn word(&self) -> &str {
        self.unit.unwrap_or(ALL_UNITS)
    }

    /// Returns the units to erase in. The form has those that the person has seen before confirming.
    pub(super) fn units(&self, form: &Form) -> Result<Vec<String>> {
        let units: Vec<_> = match self.unit {
            Some(unit) => vec![unit.to_owned()],
            None => lines(form.text("units")).map(str::to_owned).take(MAX_LINES).collect(),
        };
        if units.is_empty() && !form.has("units") {
            return Err(Refusal::invalid(BROKEN));
        }
        Ok(units)
    }
}

const NO_ADDRESS: &str = "enter a complete e-mail address";
const NO_UNIT: &str = "enter a unit, not a team";

/// Renders the hidden fields that say whose transactions are erased, and where.
pub(super) fn whose(asked: Asked<'_>, units: &[String]) -> Markup {
    html! {
        @if let Some(unit) = asked.unit { (view::hidden("unit", unit)) }
        @else { (view::hidden("units", &units.join("\n"))) }
        (view::hidden("address", asked.address))
    }
}

/// Returns the lines of a hidden field.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}
