//! The reasons why a request fails, and the error pages that state them.

use super::response::Page;
use super::view;
use crate::office::shared::rows::port::LedgerError;
use crate::office::shared::rule::delays::SHOWN_SECONDS;
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::refused::Refused;
use crate::pledges::http::Busy;
use crate::pledges::store::StoreError;
use maud::html;

/// The reason why a request for a page failed, or a form was refused.
pub(crate) enum Refusal {
    /// A rule refused the request, or the store or the ledger failed.
    Operator(OperatorError),
    /// The request itself is wrong: the HTTP status, and a text that says what is wrong and what to do.
    Request(u16, String),
    /// The person has no role here. `hint` says in the log what an operator can do.
    Stranger { text: String, hint: String },
    /// The transaction does not exist, or belongs to another shop. The text is the error message.
    NoTransaction(String),
    /// The person's requests, or all people's requests together, already use too many bytes of memory.
    Busy,
    /// A field is not valid. The page shows its form again, with a message at the field.
    Field(Box<Page>),
}

impl From<Busy> for Refusal {
    fn from(_: Busy) -> Self {
        Refusal::Busy
    }
}

impl From<OperatorError> for Refusal {
    fn from(error: OperatorError) -> Self {
        Refusal::Operator(error)
    }
}

impl From<Refused> for Refusal {
    fn from(refused: Refused) -> Self {
        Refusal::Operator(refused.into())
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Refusal::Operator(error.into())
    }
}

pub(crate) type Result<T = Page, E = Refusal> = std::result::Result<T, E>;

impl Refusal {
    /// Returns a 422 refusal with this text.
    pub fn invalid(problem: impl Into<String>) -> Self {
        Refusal::Request(422, problem.into())
    }

    pub fn status(&self) -> u16 {
        match self {
            Refusal::Operator(OperatorError::Repeated(_)) => 409,
            Refusal::Operator(OperatorError::Denied(_)) => 403,
            Refusal::Operator(OperatorError::Invalid(_)) => 422,
            Refusal::Operator(OperatorError::Store(StoreError::Damaged(_))) => 500,
            Refusal::Operator(OperatorError::Ledger(LedgerError::Unavailable))
            | Refusal::Operator(OperatorError::Store(StoreError::Unavailable | StoreError::Busy))
            | Refusal::Busy => 503,
            Refusal::Operator(OperatorError::Ledger(_)) => 500,
            Refusal::NoTransaction(_) => 404,
            Refusal::Request(status, _) => *status,
            Refusal::Stranger { .. } => 403,
            Refusal::Field(page) => page.status,
        }
    }

    /// Returns what the log says besides the status; `None` for most refusals.
    pub fn hint(&self) -> Option<String> {
        match self {
            Refusal::Stranger { hint, .. } => Some(hint.clone()),
            _ => None,
        }
    }

    pub fn page(self) -> Page {
        let status = self.status();
        let (title, text) = match self {
            Refusal::Field(page) => return *page,
            Refusal::NoTransaction(problem) => return absent(&problem),
            Refusal::Operator(OperatorError::Store(StoreError::Unavailable)) => (
                "Workers KV timed out",
                "Workers KV did not answer in time. If you sent a form, part of your change may have \
                 been saved: check that, then send the form again."
                    .to_owned(),
            ),
            Refusal::Operator(OperatorError::Ledger(LedgerError::Unavailable)) => (
                "The ledger timed out",
                "The database did not answer in time. If you sent a form, check what was saved, then \
                 send the form again.".to_owned(),
            ),
            Refusal::Operator(OperatorError::Store(StoreError::Busy)) => (
                "Too busy",
                "You have too many large pages open. Wait a moment, then reload. If you sent a form, part \
                 of it may have been saved: check that before you send it again."
                    .to_owned(),
            ),
            Refusal::Busy => (
                "Too busy",
                "You have too many pages open. Nothing was changed: wait a moment, then reload."
                    .to_owned(),
            ),
            Refusal::Operator(OperatorError::Repeated(text)) => ("The form was sent twice", text),
            Refusal::Operator(OperatorError::Denied(text)) => ("Access denied", text),
            Refusal::Operator(error) => ("The request failed", error.to_string()),
            Refusal::Request(403, text) | Refusal::Stranger { text, .. } => ("Access denied", text),
            Refusal::Request(404, text) => ("Page not found", text),
            Refusal::Request(_, text) => ("Invalid request", text),
        };
        let text = view::inline_code(&view::sentence(&text));
        Page { status, ..Page::new(title, html! { p.lead { (text) } }) }
    }
}

/// Returns the error page for a transaction that was not found, with status 404.
fn absent(problem: &str) -> Page {
    let content = html! {
        p.lead { (view::inline_code(&view::sentence(problem))) }
        p {
            "Transactions of the last " (SHOWN_SECONDS) " s may not show yet, and each environment has \
             its own transactions. " a href="/" { "Search again" } "."
        }
    };
    Page { status: 404, ..Page::new("Transaction not found", content) }
}
