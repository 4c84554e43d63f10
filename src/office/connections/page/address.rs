//! Paths of the pages of connections.

use crate::office::shared::page::link;
use maud::{Markup, html};

/// Returns the path of a connection's page.
pub(super) fn address(id: &impl std::fmt::Display) -> String {
    link::path(&["connections", &id.to_string()])
}

/// Renders the link to the connections of a unit.
pub(super) fn back(unit: &str) -> Markup {
    html! { p { a href=(link::path(&["units", unit, "connections"])) { "All shop systems of " (unit) } } }
}
