//! Links between the pages of results.

use super::form::address;
use crate::office::orders::rule::Found;
use crate::office::shared::page::form::Form;
use maud::{Markup, html};

/// Renders links to the first and the next page of results. `by` says how the transactions were found.
pub(crate) fn pages(token: &str, query: &Form, by: &str, found: &Found) -> Markup {
    let place = found.older().map(|place| place.to_string());
    let is_first = query.given("older").is_none();
    html! {
        @if !is_first || place.is_some() {
            nav aria-label="Newer and older transactions" {
                ul {
                    @if !is_first {
                        li { a href=(address(token, query, &[("by", by)])) { "Newest" } }
                    }
                    @if let Some(place) = &place {
                        li {
                            a rel="next" href=(address(token, query, &[("by", by), ("older", place)])) { "Older →" }
                        }
                    }
                }
            }
        }
    }
}
