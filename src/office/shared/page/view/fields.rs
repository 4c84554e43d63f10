//! Forms and their fields.

use super::texts::inline_code;
use crate::office::shared::operation::table::sentence;
use maud::{Markup, html};

/// Renders a form that is posted to a path of the dashboard. It prevents phones from beginning a field with a
/// capital letter, which would be wrong in IDs.
pub(crate) fn form(action: &str, content: &Markup) -> Markup {
    form_of(action, false, content)
}

/// Renders a form as [`form`] does. With `is_upload`, it can have a field for a file.
pub(crate) fn form_of(action: &str, is_upload: bool, content: &Markup) -> Markup {
    let kind = is_upload.then_some("multipart/form-data");
    html! {
        form method="post" action=(action) enctype=[kind] autocomplete="off" autocapitalize="none" { (content) }
    }
}

/// Renders a form that opens a page with the form's fields as query parameters.
pub(crate) fn filter(action: &str, content: &Markup) -> Markup {
    html! { form method="get" action=(action) autocomplete="off" autocapitalize="none" { (content) } }
}

/// Renders the filters above a list. They are unfolded if `is_open` is true. Otherwise they are folded away,
/// so that they do not fill the screen of a phone.
pub(crate) fn filters(is_open: bool, form: &Markup) -> Markup {
    html! { details.filters open[is_open] { summary { "Filter" } (form) } }
}

pub(crate) fn hidden(name: &str, value: &str) -> Markup {
    html! { input type="hidden" name=(name) value=(value); }
}

/// A text field of a form. Its ID is its name, so each name occurs only once on a page.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Field<'f> {
    pub name: &'f str,
    pub label: &'f str,
    pub value: &'f str,
    /// Help below the field; may be empty.
    pub hint: &'f str,
    pub required: bool,
    /// The input's type, such as `date`; empty for a line of text.
    pub kind: &'f str,
    /// What is wrong with the value; empty if nothing is.
    pub problem: &'f str,
    /// The ID of a `datalist` with suggestions; empty if there is none.
    pub list: &'f str,
}

impl Field<'_> {
    pub fn render(&self) -> Markup {
        let list = Some(self.list).filter(|list| !list.is_empty());
        let (kind, described) = (Some(self.kind).filter(|kind| !kind.is_empty()), self.described());
        self.labelled(&html! {
            input type=[kind] id=(self.name) name=(self.name) value=(self.value) required[self.required]
                list=[list] aria-invalid=[self.invalid()] aria-describedby=[described];
        })
    }

    /// Renders a field for a file of these media types.
    pub fn render_file(&self, types: &str) -> Markup {
        self.labelled(&html! {
            input type="file" id=(self.name) name=(self.name) accept=(types) required[self.required]
                aria-invalid=[self.invalid()] aria-describedby=[self.described()];
        })
    }

    pub fn render_lines(&self) -> Markup {
        self.labelled(&html! {
            textarea id=(self.name) name=(self.name) rows="3" required[self.required]
                aria-invalid=[self.invalid()] aria-describedby=[self.described()] { (self.value) }
        })
    }

    /// Renders a field for several lines of code. An extra line break precedes the value, because HTML
    /// removes the first line break in a `textarea`.
    pub fn render_code(&self, rows: u32, placeholder: &str) -> Markup {
        self.labelled(&html! {
            textarea.code id=(self.name) name=(self.name) rows=(rows) required[self.required] spellcheck="false"
                placeholder=(placeholder) aria-invalid=[self.invalid()] aria-describedby=[self.described()] { "\n" (self.value) }
        })
    }

    /// Renders a drop-down list. Each option is a value and its label.
    pub fn render_select(&self, options: &[(&str, &str)]) -> Markup {
        self.labelled(&html! {
            select id=(self.name) name=(self.name) required[self.required]
                aria-invalid=[self.invalid()] aria-describedby=[self.described()] {
                @for (value, text) in options {
                    option value=(value) selected[*value == self.value] { (text) }
                }
            }
        })
    }

    /// Renders a checkbox, with its label beside it.
    pub fn render_box(&self, is_checked: bool) -> Markup {
        html! {
            div.field {
                label.choice for=(self.name) {
                    input type="checkbox" id=(self.name) name=(self.name) value=(self.value)
                        required[self.required] checked[is_checked]
                        aria-invalid=[self.invalid()] aria-describedby=[self.described()];
                    (self.label)
                }
                (self.texts())
            }
        }
    }

    /// Renders the label, the control, and the texts below it. For screen readers, the texts are the control's
    /// description, not a part of its name.
    fn labelled(&self, control: &Markup) -> Markup {
        html! { div.field { label for=(self.name) { (self.label) } (control) (self.texts()) } }
    }

    fn texts(&self) -> Markup {
        html! {
            @if !self.problem.is_empty() {
                small.problem id=(self.part("problem")) { (inline_code(&sentence(self.problem))) }
            }
            @if !self.hint.is_empty() { small id=(self.part("hint")) { (self.hint) } }
        }
    }

    fn invalid(&self) -> Option<&'static str> {
        (!self.problem.is_empty()).then_some("true")
    }

    /// Returns the IDs of the texts that describe the control; `None` if it has none.
    fn described(&self) -> Option<String> {
        let parts = [("problem", self.problem), ("hint", self.hint)];
        let parts = parts.iter().filter(|(_, text)| !text.is_empty());
        let ids: Vec<_> = parts.map(|(part, _)| self.part(part)).collect();
        (!ids.is_empty()).then(|| ids.join(" "))
    }

    fn part(&self, part: &str) -> String {
        [self.name, "-", part].concat()
    }
}

/// Renders a drop-down list. Each option is a value and its label; `chosen` is the selected value.
pub(crate) fn select(name: &str, label: &str, options: &[(&str, &str)], chosen: &str) -> Markup {
    Field { name, label, value: chosen, ..Field::default() }.render_select(options)
}

/// Renders an input for a month. Some browsers show it as a line of text. `problem` says what is wrong with
/// the value; it is empty if nothing is wrong.
pub(crate) fn month_field(value: &str, problem: &str) -> Markup {
    let field = Field { name: "month", label: "Month (UTC)", value, problem, ..Field::default() };
    field.labelled(&html! {
        input type="month" id=(field.name) name=(field.name) value=(value) placeholder="2026-10"
            pattern="[0-9]{4}-[0-9]{2}" title="Write the month as 2026-10."
            aria-invalid=[field.invalid()] aria-describedby=[field.described()];
    })
}
