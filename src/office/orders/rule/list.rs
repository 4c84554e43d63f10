//! Lists transactions from the ledger.

use super::TransactionFilter;
use crate::office::orders::rows::order::Filter;
use crate::office::orders::rows::orders;
use crate::office::orders::rows::orders::{Direction, OrderPage};
use crate::office::orders::rows::related::Likeness;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::coverage::{Coverage, coverage};
use crate::office::shared::rule::error::Result;
use crate::pledges::scope::{Mode, Scope};
use crate::pledges::settlement::Month;
use crate::pledges::types::TransactionId;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ListQuery {
    pub filter: TransactionFilter,
    /// Only transactions of these units, in addition to what the filter requires; `None` allows all units.
    pub within: Option<Vec<String>>,
    /// Only transactions that the API key with this ID created.
    pub key: Option<String>,
    pub month: Option<Month>,
    /// Only transactions with unpriced pledges. These are pledges whose offering had no price, so they cost nothing.
    pub unpriced: bool,
    /// Only transactions whose row in the ledger was written after this time, in milliseconds since 1970.
    pub changed_after: Option<u64>,
    /// Only transactions with the same buyer or the same reference as this transaction. The list also
    /// contains this transaction.
    #[serde(skip)]
    pub like: Option<(Likeness, TransactionId)>,
}

impl ListQuery {
    fn units(&self) -> Option<Vec<String>> {
        match (self.filter.units(), &self.within) {
            (units, None) => units,
            (None, Some(within)) => Some(within.clone()),
            (Some(units), Some(within)) => {
                Some(units.into_iter().filter(|unit| within.contains(unit)).collect())
            }
        }
    }

    fn scopes(&self) -> Option<Vec<Scope>> {
        let modes = self.filter.modes();
        let scopes = |unit: &String| {
            let scope = |mode: &Mode| Scope { mode: *mode, unit: unit.clone() };
            modes.iter().map(scope).collect::<Vec<_>>()
        };
        Some(self.units()?.iter().flat_map(scopes).collect())
    }

    /// Keeps only the transactions of the units in [`within`](Self::within). A list that is selected by
    /// [`like`](Self::like) may contain transactions of other units.
    fn only_within(&self, mut page: OrderPage) -> OrderPage {
        if let Some(within) = &self.within {
            page.orders.retain(|order| within.contains(&order.scope.unit));
        }
        page
    }

    fn ledger_filter(&self) -> Filter {
        let span = self.month.map(|month| month.span_ms().unwrap_or_default()); // none before 1970
        Filter {
            mode: self.filter.mode,
            units: self.units(),
            from: span.map_or(0, |(from, _)| from),
            until: span.map(|(_, until)| until),
            key: self.key.clone(),
            unpriced: self.unpriced,
            changed_after: self.changed_after,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TransactionPage {
    /// The transactions, newest first.
    #[serde(flatten)]
    pub page: OrderPage,
    #[serde(flatten)]
    pub coverage: Coverage,
}

/// Returns a page of at most `most` of the selected transactions. Ledger cost: 3 queries; 4 with `like`.
///
/// # Errors
/// If the unit's ID is not valid, or the ledger fails.
pub async fn list(
    ledger: &dyn Ledger,
    query: &ListQuery,
    from: &Direction,
    most: usize,
) -> Result<TransactionPage> {
    query.filter.check()?;
    let filter = query.ledger_filter();
    let page = match &query.like {
        None => orders::orders(ledger, &filter, from, most).await?,
        Some((likeness, id)) => orders::like(ledger, (*likeness, id), &filter, from, most).await?,
    };
    let page = query.only_within(page);
    let coverage = coverage(ledger, query.scopes().as_deref()).await?;
    Ok(TransactionPage { page, coverage })
}
