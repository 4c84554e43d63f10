//! A part of a page that is read separately.

use crate::office::shared::page::view;
use crate::office::shared::rule::error::OperatorError;
use maud::{Markup, html};

/// Returns a part of the page. If the part could not be read, returns a sentence that says so. `name` is the
/// name of the part.
pub(super) fn part(name: &str, read: Result<Markup, OperatorError>) -> Markup {
    read.unwrap_or_else(|error| {
        html! {
            p {
                span.problem { (name) " could not be read" } ": "
                (view::inline_code(&view::sentence(&error.to_string())))
            }
        }
    })
}
