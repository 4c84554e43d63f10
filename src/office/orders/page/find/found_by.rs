//! Finds transactions by what a person entered: a reference or an e-mail address.

use super::term::{Reading, readings};
use crate::office::orders::rows::order::PageCursor;
use crate::office::orders::rows::orders::Direction;
use crate::office::orders::rule::{Found, SearchKey, TransactionFilter};
use crate::office::shared::page::form::Form;
use crate::office::shared::page::link;
use crate::office::shared::page::response::Page;
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
/// results. `units` returns the units that a name beside the order number may mean; `None` if all of them are searched.
pub(crate) async fn found_by(
    term: &str,
    query: &Form,
    find: impl AsyncFn((&TransactionFilter, &SearchKey), &Direction) -> Result<Found, OperatorError>,
    units: impl AsyncFn(&str) -> Option<Vec<String>>,
) -> Result<FoundBy, OperatorError> {
    let search = Search { query, find, units };
    if query.text("by") != EMAIL {
        let found = search.by_reference(term).await?;
        if !found.transactions.is_empty() || !term.contains('@') {
            return Ok(FoundBy { by: REFERENCE, found });
        }
    }
    let found = search.in_unit(query.given("unit"), &SearchKey::Email(term.to_owned())).await?;
    Ok(FoundBy { by: EMAIL, found })
}

/// Returns a redirect to the page of the only transaction that a search found; `None` if it found several or none.
pub(crate) fn only(found: &Found, query: &Form) -> Option<Page> {
    let [order] = found.transactions.as_slice() else { return None };
    let is_only = !found.more && query.given("older").is_none();
    is_only.then(|| Page::redirect(link::path(&["transactions", &order.id])))
}

struct Search<'q, F, U> {
    query: &'q Form,
    find: F,
    units: U,
}

impl<F, U> Search<'_, F, U>
where
    F: AsyncFn((&TransactionFilter, &SearchKey), &Direction) -> Result<Found, OperatorError>,
    U: AsyncFn(&str) -> Option<Vec<String>>,
{
    /// Searches for the term, then for one reading of it after the other, until one finds something.
    async fn by_reference(&self, term: &str) -> Result<Found, OperatorError> {
        let literal = SearchKey::Reference(term.to_owned());
        let mut found = self.in_unit(self.query.given("unit"), &literal).await?;
        for reading in readings(term) {
            if !found.transactions.is_empty() {
                break;
            }
            let Found { transactions, more, .. } = self.of_reading(&reading).await?;
            found = Found { transactions, more, ..found };
        }
        Ok(found)
    }

    async fn of_reading(&self, reading: &Reading) -> Result<Found, OperatorError> {
        let by = SearchKey::Reference(reading.number.clone());
        let named = match (self.query.given("unit"), &reading.shop) {
            (None, Some(shop)) => (self.units)(shop).await,
            _ => None,
        };
        let Some(units) = named else { return self.in_unit(self.query.given("unit"), &by).await };
        let mut all = Found::default();
        for unit in units {
            let Found { transactions, more, .. } = self.in_unit(Some(&unit), &by).await?;
            all.transactions.extend(transactions);
            all.more |= more;
        }
        Ok(all)
    }

    async fn in_unit(&self, unit: Option<&str>, by: &SearchKey) -> Result<Found, OperatorError> {
        let mode = Mode::from_name(self.query.text("mode"));
        let filter = TransactionFilter { unit: unit.map(str::to_owned), mode };
        let from = self.query.given("older").and_then(PageCursor::parse);
        let from = from.map_or(Direction::Newest, Direction::Older);
        (self.find)((&filter, by), &from).await
    }
}
