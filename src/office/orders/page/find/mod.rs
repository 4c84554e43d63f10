//! The search, and its results.
//!
//! The browser posts a search. The response redirects to a URL without personal data: the page of a
//! transaction, or `/find` with an encrypted search term (module [sealed]).

mod form;
mod found_by;
mod key;
mod pages;
mod results;
mod sealed;
mod search;
mod suggestions;
mod term;

pub(crate) use form::{TOKEN, address};
pub(crate) use found_by::{FoundBy, found_by, only};
pub(crate) use key::key_page;
pub(crate) use pages::pages;
pub(crate) use search::{closed, find, open, problem, seal, search};
pub(crate) use term::{is_secret, pasted, term, transaction_id};
