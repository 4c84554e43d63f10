//! Pieces of text that several pages show: modes, and links to units and teams.

use crate::office::shared::page::{link, view};
use crate::pledges::auth::KeyLevel;
use maud::{Markup, html};

/// Renders `Test` or `Live` as a tag.
pub(crate) fn mode(is_live: bool) -> Markup {
    html! { @if is_live { span.tag { "Live" } } @else { span.tag.note { "Test" } } }
}

pub(crate) fn unit(id: &str) -> Markup {
    html! { a href=(link::path(&["units", id])) { (view::untrusted_text(id)) } }
}

/// Renders a unit or team, such as `team x`. It is a link if the person may open its page.
pub(crate) fn level(level: &KeyLevel, operates: bool) -> Markup {
    match level {
        KeyLevel::Unit(id) => html! { "unit " (unit(id)) },
        KeyLevel::Team(id) if operates => {
            html! { "team " a href=(link::page_of(level)) { (view::untrusted_text(id)) } }
        }
        KeyLevel::Team(id) => html! { "team " (view::untrusted_text(id)) },
    }
}
