//! Components that several pages use.

mod fields;
mod tables;
mod texts;
mod times;

use super::link;
pub(crate) use crate::office::shared::operation::table::{capital, counted, sentence};
use crate::office::shared::rule::delays::SHOWN_SECONDS;
pub(crate) use crate::office::shared::rule::month::month;
use crate::pledges::scope::Mode;
use crate::pledges::settlement::Month;
pub(crate) use fields::{Field, filter, filters, form, form_of, hidden, month_field, select};
use maud::{Markup, html};
pub(crate) use tables::{MAX_ROWS, coverage, facts, left_out, more, picked, table, table_of};
pub(crate) use texts::{
    beginning, copyable, copyable_lines, grouped, inline_code, money, untrusted_text,
};
pub(crate) use times::{day, local_time, time, times_in_words};

/// Renders links that switch a page between live and test mode. `mode` is the current mode.
pub(crate) fn modes(path: &str, mode: Mode, month: Option<Month>) -> Markup {
    let month = month.map(|month| month.to_string());
    modes_of(path, mode, month.as_deref().map(|month| ("month", month)).as_slice())
}

/// Renders links that switch a page between live and test mode, and keep the query parameters in `kept`.
pub(crate) fn modes_of(path: &str, mode: Mode, kept: &[(&str, &str)]) -> Markup {
    let address = |mode: Mode| link::with(path, &[&[("mode", mode.name())], kept].concat());
    html! {
        nav aria-label="Mode" {
            ul { @for (other, name) in [(Mode::Live, "Live mode"), (Mode::Test, "Test mode")] {
                li {
                    a href=(address(other))
                        aria-current=[(other == mode).then_some("page")] { (name) }
                }
            } }
        }
    }
}

/// Renders the confirmation at the top of the response to a form.
pub(crate) fn done(text: &Markup) -> Markup {
    html! { div.notice.done role="status" { (text) } }
}

/// Renders a notice that people must read before they continue.
pub(crate) fn notice(text: &Markup) -> Markup {
    html! { div.notice { (text) } }
}

pub(crate) fn problem(text: &str) -> Markup {
    html! { div.notice.alarm role="alert" { (inline_code(&sentence(text))) } }
}

/// Renders the error above a form that was refused and is shown again, with a link to the wrong [`Field`].
/// The error has the focus, so that screen readers and keyboard users start there.
pub(crate) fn form_problem(text: &str, field: Option<&str>) -> Markup {
    html! {
        div.notice.alarm role="alert" tabindex="-1" autofocus {
            (inline_code(&sentence(text)))
            @if let Some(name) = field { " " a href={ "#" (name) } { "Go to the field" } "." }
        }
    }
}

/// Says that lists in Workers KV may lack the latest changes.
pub(crate) fn staleness_note() -> Markup {
    html! {
        p { small { "Changes of the last " (SHOWN_SECONDS) " s may not show yet." } }
    }
}
