//! The problem of a form that is shown again: a field, and the text to show beside it.

use super::link;
use super::view;
use crate::office::shared::rule::refused::{ArgumentName, Refused};
use maud::{Markup, html};

/// What is wrong with a form; the text is empty if nothing is. The field of an argument has the argument's name. If the
/// argument has items, the name of the item follows: `amount-USD`.
#[derive(Clone, Debug, Default)]
pub(crate) struct FormProblem {
    text: String,
    field: Option<String>,
}

impl FormProblem {
    pub fn at(field: impl Into<String>, text: impl Into<String>) -> Self {
        FormProblem { text: text.into(), field: Some(field.into()) }
    }

    pub fn of(&self, field: &str) -> &str {
        if self.field.as_deref() == Some(field) { &self.text } else { "" }
    }

    pub fn field(&self) -> Option<&str> {
        self.field.as_deref()
    }

    pub fn is_none(&self) -> bool {
        self.text.is_empty()
    }

    /// Renders the form below its problem, which has a link to the field if the form has the field.
    pub fn above(&self, form: &Markup) -> Markup {
        html! {
            @if !self.is_none() { (view::form_problem(&self.text, self.field_in(form).as_deref())) }
            (form)
        }
    }

    /// Returns the ID of the wrong field, or of the first field of an argument with several; `None` if the form has neither.
    fn field_in(&self, form: &Markup) -> Option<String> {
        let field = self.field()?;
        if form.0.contains(&format!(" id=\"{field}\"")) {
            return Some(field.to_owned());
        }
        let (_, rest) = form.0.split_once(&format!(" id=\"{field}-"))?;
        Some(format!("{field}-{}", rest.split('"').next()?))
    }
}

impl From<Refused> for FormProblem {
    fn from(Refused { argument, text, .. }: Refused) -> Self {
        let name = |ArgumentName { field, item }| match item {
            None => field.to_owned(),
            Some(item) => item_name(field, &item),
        };
        FormProblem { text, field: argument.map(name) }
    }
}

/// Returns the name of the field of an item.
pub(crate) fn item_name(argument: &str, item: &str) -> String {
    [argument, "-", &link::encoded(item)].concat()
}

/// Returns the name of the hidden field with the value that a field has at first. A value that stays so is not sent to the
/// operation.
pub(crate) fn initial_name(field: &str) -> String {
    ["was-", field].concat()
}
