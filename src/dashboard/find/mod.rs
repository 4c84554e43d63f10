//! The search, and its results.
//!
//! The browser posts a search. The response redirects to a URL without personal data: the page of a transaction, or
//! `/find` with a [sealed] search term.

mod form;
mod found_by;
mod key;
mod results;
mod sealed;
mod search;
mod term;

pub(super) use form::search_section;
pub(super) use found_by::{FoundBy, found_by};
pub(super) use key::key_page;
pub(super) use search::{find, problem, search};
pub(super) use term::{is_secret, pasted, transaction_id};
