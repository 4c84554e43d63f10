//! Forms that change something: each carries the ID of its operation, so that one that is sent twice does its work once.

use super::view::{self, hidden};
use super::{Desk, Result};
use crate::handle::{Clock, Entropy};
use crate::operator::{OperationId, was_done};
use maud::{Markup, html};

/// The field that has the ID.
pub(super) const FIELD: &str = "operation";

impl<S, C: Clock, E: Entropy> Desk<'_, S, C, E> {
    /// A form that changes something, posted to one of our own addresses.
    pub fn form(&self, action: &str, content: &Markup) -> Markup {
        let id = OperationId::new(self.clock, self.entropy);
        view::form(action, &html! { (hidden(FIELD, id.as_str())) (content) })
    }

    /// When the form that was sent has done its work before: then what its page showed is not compared with what is there
    /// now. One query of the ledger.
    pub async fn was_done(&self) -> Result<Option<String>> {
        Ok(was_done(self.ledger, &self.author).await?)
    }

    /// Whether the form has an ID: a page that asks first shows one that has.
    pub fn has_operation(&self) -> bool {
        self.author.has_operation()
    }
}

/// Says of a form that was sent twice when it did its work.
pub(super) fn before(at: Option<&String>) -> Markup {
    html! {
        @if let Some(at) = at {
            (view::notice(&html! {
                "This was done already, at " (view::time(at)) ": the form was sent twice, and nothing was done now."
            }))
        }
    }
}
