//! Parts of the lines of tasks.

use crate::office::shared::page::{link, view};
use crate::office::shared::rule::error::OperatorError;
use crate::pledges::scope::Mode;
use crate::pledges::settlement::Month;
use maud::{Markup, html};

/// Maximum number of units, transactions and the like that a line names.
pub(super) const MAX_NAMED: usize = 5;
/// The line that shows a task on the page; `None` if there is nothing to do.
pub(super) type Task = Result<Option<Markup>, OperatorError>;

/// Renders one link per month, such as `2 credits in Oct 2026`. `one` is the noun for a count of 1. `address`
/// returns the URL for a month.
pub(super) fn by_month(
    months: &[(Month, u64)],
    one: &str,
    address: impl Fn(Month) -> String,
) -> Markup {
    html! {
        @for (index, (month, count)) in months.iter().enumerate() {
            @if index > 0 { ", " }
            a href=(address(*month)) { (view::counted(*count, one)) " in " (view::month(*month)) }
        }
        "."
    }
}

/// Returns the URL of the page `path`, filtered by live mode, this month, and the parameters `more`.
pub(super) fn in_month(path: &str, month: Month, more: &[(&str, &str)]) -> String {
    let month = month.to_string();
    let parameters = [("mode", Mode::Live.name()), ("month", &month)];
    link::with(path, &[&parameters[..], more].concat())
}
