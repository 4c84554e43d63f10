//! Operation IDs of forms: a form that is sent twice is carried out once.

use super::context::PageContext;
use super::view;
use super::view::hidden;
use crate::office::shared::rule::operation_id::OperationId;
use crate::pledges::service::{Clock, Entropy};
use maud::{Markup, html};

/// The name of the field with the operation ID.
pub(crate) const FIELD: &str = "operation";

impl<S, C: Clock, E: Entropy> PageContext<'_, S, C, E> {
    /// Renders a form that posts to a path of the dashboard. A hidden field has a new operation ID.
    pub fn form(&self, action: &str, content: &Markup) -> Markup {
        self.form_of(action, false, content)
    }

    /// Renders a form as [`form`](Self::form) does. With `is_upload`, it can have a field for a file.
    pub fn form_of(&self, action: &str, is_upload: bool, content: &Markup) -> Markup {
        let id = OperationId::new(self.clock, self.entropy);
        view::form_of(action, is_upload, &html! { (hidden(FIELD, id.as_str())) (content) })
    }

    /// Whether the form has an operation ID. Without an ID, the person gets a confirmation page. The form on that
    /// page has an ID.
    pub fn has_operation(&self) -> bool {
        self.author.has_operation()
    }
}

/// Renders a notice that the form was carried out before, and when.
pub(crate) fn before(at: Option<&String>) -> Markup {
    html! {
        @if let Some(at) = at {
            (view::notice(&html! {
                "This was already done on " (view::time(at)) ". The form was sent twice, and nothing more was changed."
            }))
        }
    }
}
