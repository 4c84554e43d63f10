//! Lists of transactions, from the ledger.

use super::Wanted;
use crate::ledger::{self, Direction, Filter, Ledger, OrderPage};
use crate::operator::Result;
use crate::operator::coverage::{Coverage, coverage};
use crate::settlement::Month;
use serde::{Deserialize, Serialize};

/// Selects the transactions of a list.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ListQuery {
    /// Only those of this unit and mode.
    pub wanted: Wanted,
    /// Only those that the API key of this ID made.
    pub key: Option<String>,
    /// Only those of this month.
    pub month: Option<Month>,
    /// Only those with an offering that had no price, and so cost nothing.
    pub unpriced: bool,
    /// Only those whose row in the ledger was written later, in milliseconds since 1970.
    pub changed_after: Option<u64>,
}

impl ListQuery {
    fn filter(&self) -> Filter {
        let span = self.month.map(|month| month.span_ms().unwrap_or_default()); // none before 1970
        Filter {
            mode: self.wanted.mode,
            units: self.wanted.units(),
            from: span.map_or(0, |(from, _)| from),
            until: span.map(|(_, until)| until),
            key: self.key.clone(),
            unpriced: self.unpriced,
            changed_after: self.changed_after,
        }
    }
}

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// The transactions, the newest first.
    #[serde(flatten)]
    pub page: OrderPage,
    /// Up to when the list is complete.
    #[serde(flatten)]
    pub coverage: Coverage,
}

/// A page of the transactions that are selected, at most so many. Three queries.
///
/// # Errors
/// If the unit's ID is out of bounds, or the ledger does not answer.
pub async fn list(
    ledger: &dyn Ledger,
    query: &ListQuery,
    from: &Direction,
    most: usize,
) -> Result<Listed> {
    query.wanted.check()?;
    let page = ledger::orders(ledger, &query.filter(), from, most).await?;
    let coverage = coverage(ledger, query.wanted.shops().as_deref()).await?;
    Ok(Listed { page, coverage })
}
