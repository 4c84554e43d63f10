//! The search form, and the URL of the page of results.

use super::term::is_secret;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::response::Page;
use crate::office::shared::page::{link, view};
use crate::office::shared::rule::roles::Permission;
use maud::{Markup, html};

/// The query parameter that contains the sealed (encrypted) search term.
pub(crate) const TOKEN: &str = "q";

/// The values of the search form: the search term, and the filters `unit` and `mode`.
pub(super) struct SearchForm<'f> {
    pub term: &'f str,
    pub filters: &'f Form,
    pub is_wrong_unit: bool,
    /// What is wrong with the search term; empty if nothing is.
    pub problem: &'f str,
    /// Whether the person may search by e-mail address.
    pub by_email: bool,
}

impl<'f> SearchForm<'f> {
    pub fn of<S, C, E>(
        context: &PageContext<'_, S, C, E>,
        term: &'f str,
        filters: &'f Form,
    ) -> Self {
        let by_email = context.may(Permission::Support);
        SearchForm { term, filters, is_wrong_unit: false, problem: "", by_email }
    }

    /// Renders the form. The field contains the search term without control characters, or nothing if the term may be a
    /// secret.
    pub fn render(&self) -> Markup {
        let term: String = self.term.chars().filter(|character| !character.is_control()).collect();
        let text = view::Field {
            name: "text",
            label: "What are you looking for?",
            value: if is_secret(&term) { "" } else { &term },
            hint: match self.by_email {
                true => {
                    "A transaction ID, an order number (reference), an e-mail address, a unit, or an API key."
                }
                false => "A transaction ID, an order number (reference), a unit, or an API key.",
            },
            required: true,
            problem: self.problem,
            ..view::Field::default()
        };
        let unit = view::Field {
            name: "unit",
            label: "Unit",
            hint: "Leave empty to search all units.",
            value: self.filters.text("unit"),
            problem: if self.is_wrong_unit { "This is not the ID of a unit." } else { "" },
            ..view::Field::default()
        };
        let modes = [("", "Live and test"), ("live", "Live"), ("test", "Test")];
        let content = html! {
            (text.render())
            div.fields { (unit.render()) (view::select("mode", "Mode", &modes, self.filters.text("mode"))) }
            button { "Find" }
        };
        view::form("/find", &content)
    }

    /// Returns a page that says why there are no results, and shows the form again.
    pub fn again(&self, problem: &str) -> Page {
        let field = match (self.is_wrong_unit, self.problem) {
            (true, _) => Some("unit"),
            (false, "") => None,
            (false, _) => Some("text"),
        };
        let content = html! {
            (view::form_problem(problem, field))
            section { (self.render()) }
        };
        Page { status: 422, ..Page::new("Find", content) }
    }

    /// Returns a page that says that nothing matches, and shows the form again. `content` is the text above the form.
    pub fn nothing(&self, content: &Markup) -> Page {
        Page::new("No match", html! { (content) section { (self.render()) } })
    }
}

/// Returns the URL of the page of results. Its query contains the token, the filters, and the parameters `more`.
pub(crate) fn address(token: &str, filters: &Form, more: &[(&str, &str)]) -> String {
    let kept = ["unit", "mode"].map(|name| Some((name, filters.given(name)?)));
    let parameters: Vec<_> = kept.into_iter().flatten().chain(more.iter().copied()).collect();
    link::with("/find", &[&[(TOKEN, token)], parameters.as_slice()].concat())
}
