//! Finds transactions by what a person entered: a reference or an e-mail address.

use crate::office::orders::rows::order::PageCursor;
use crate::office::orders::rows::orders::Direction;
use crate::office::orders::rule::{Found, SearchKey, TransactionFilter};
use crate::office::shared::page::form::Form;
use crate::office::shared::rule::error::OperatorError;
use crate::pledges::scope::Mode;

/// A value of the parameter `by`, which says whether the transactions were found by reference or by e-mail
/// address.
pub(super) const REFERENCE: &str = "reference";
pub(super) const EMAIL: &str = "email";

/// The transactions that were found, and whether they were found by reference or by e-mail address.
pub(crate) struct FoundBy {
    pub by: &'static str,
    pub found: Found,
}

/// Finds transactions by reference and, if that finds none and the term contains `@`, by e-mail address.
/// `query` contains the filters and the position in the list. `find` is the function that reads a page of
/// results.
pub(crate) async fn found_by(
    term: &str,
    query: &Form,
    find: impl AsyncFn((&TransactionFilter, &SearchKey), &Direction) -> Result<Found, OperatorError>,
) -> Result<FoundBy, OperatorError> {
    let unit = query.given("unit").map(str::to_owned);
    let filter = TransactionFilter { unit, mode: Mode::from_name(query.text("mode")) };
    let from = query.given("older").and_then(PageCursor::parse);
    let from = from.map_or(Direction::Newest, Direction::Older);
    if query.text("by") != EMAIL {
        let found = find((&filter, &SearchKey::Reference(term.to_owned())), &from).await?;
        if !found.transactions.is_empty() || !term.contains('@') {
            return Ok(FoundBy { by: REFERENCE, found });
        }
    }
    let found = find((&filter, &SearchKey::Email(term.to_owned())), &from).await?;
    Ok(FoundBy { by: EMAIL, found })
}
