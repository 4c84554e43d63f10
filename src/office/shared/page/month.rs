//! The selection of a month and a mode in the query of a page.

use super::context::PageContext;
use super::form::Form;
use super::refusal::{Refusal, Result};
use super::response::Page;
use super::{link, view};
use crate::pledges::scope::Mode;
use crate::pledges::service::Clock;
use crate::pledges::settlement::Month;
use maud::{Markup, html};

const NO_MONTH: &str = "enter the month in the form 2026-10";

pub(crate) fn parse(text: &str) -> Result<Month> {
    Month::parse(text).ok_or_else(|| Refusal::invalid(NO_MONTH))
}

/// Returns what is wrong with the month in a query; empty if nothing is.
pub(crate) fn problem(query: &Form) -> &'static str {
    let is_wrong = query.given("month").is_some_and(|text| Month::parse(text).is_none());
    if is_wrong { NO_MONTH } else { "" }
}

#[derive(Clone, Copy)]
pub(crate) struct MonthSelection {
    pub mode: Mode,
    pub month: Month,
}

impl MonthSelection {
    /// Parses the mode and the month in a query. The defaults are live mode and the current month. `title`
    /// and `path` are those of the page that shows the month.
    ///
    /// # Errors
    /// If the mode or the month is not valid. For an invalid month, the error is a page with a message at the
    /// month's field.
    pub fn read<S, C: Clock, E>(
        context: &PageContext<'_, S, C, E>,
        query: &Form,
        (title, path): (&'static str, &str),
    ) -> Result<Self> {
        let mode = query.mode()?;
        let month = match query.given("month") {
            None => Month::at(context.clock.now_ms()),
            Some(text) => Month::parse(text),
        };
        let month = month.ok_or_else(|| wrong(query, mode, title, path))?;
        Ok(MonthSelection { mode, month })
    }

    pub fn address(self, path: &str) -> String {
        let month = self.month.to_string();
        link::with(path, &[("mode", self.mode.name()), ("month", &month)])
    }

    /// Renders links to the months before and after, and the form that selects any other.
    pub fn links(self, path: &str) -> Markup {
        let at = |month| MonthSelection { month, ..self }.address(path);
        html! {
            nav aria-label="Month" {
                ul {
                    @if let Some(before) = self.month.previous() {
                        li { a rel="prev" href=(at(before)) { "← " (view::month(before)) } }
                    }
                    li { a href=(at(self.month)) aria-current="page" { (view::month(self.month)) } }
                    li { a rel="next" href=(at(self.month.next())) { (view::month(self.month.next())) " →" } }
                }
            }
            (form(path, self.mode, &self.month.to_string(), ""))
        }
    }
}

/// Renders the form that selects another month. `problem` says what is wrong with the entered month; empty if
/// the month is valid.
fn form(path: &str, mode: Mode, month: &str, problem: &str) -> Markup {
    view::filter(
        path,
        &html! {
            div.row {
                (view::hidden("mode", mode.name()))
                (view::month_field(month, problem))
                button.quiet { "Show" }
            }
        },
    )
}

/// Returns the error for a month that is not valid: a page that shows the entered month again, and what is wrong with it.
fn wrong(query: &Form, mode: Mode, title: &'static str, path: &str) -> Refusal {
    let content = html! {
        (view::form_problem(NO_MONTH, Some("month")))
        (form(path, mode, query.text("month"), NO_MONTH))
    };
    Refusal::Field(Box::new(Page { status: 422, ..Page::new(title, content) }))
}
