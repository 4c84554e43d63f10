//! Lists transactions from the ledger.

use super::TransactionFilter;
use crate::office::orders::rows::order::{Filter, TransactionState};
use crate::office::orders::rows::orders;
use crate::office::orders::rows::orders::{Direction, OrderPage};
use crate::office::orders::rows::related::Likeness;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::coverage::{Coverage, coverage};
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::refused::RefusalCode;
use crate::office::shops::rows::scopes;
use crate::pledges::scope::{Mode, Scope};
use crate::pledges::secret::NamespaceSecret;
use crate::pledges::settlement::Month;
use crate::pledges::time::DAY_MS;
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
    /// Only transactions created at `from` or later, and before `until`, in milliseconds since 1970.
    pub from: Option<u64>,
    pub until: Option<u64>,
    /// Only transactions in this state.
    pub state: Option<TransactionState>,
    /// Only transactions with a charge of at least `least` and at most `greatest` cents, whatever the currency.
    pub least: Option<u64>,
    pub greatest: Option<u64>,
    /// Only transactions whose row in the ledger was written after this time, in milliseconds since 1970.
    pub changed_after: Option<u64>,
    /// Only transactions with the same buyer or the same reference as this transaction. The list also
    /// contains this transaction.
    #[serde(skip)]
    pub like: Option<(Likeness, TransactionId)>,
    /// Only transactions with this reference, in any spelling of the order number. The secret has its hash.
    #[serde(skip)]
    pub reference: Option<(NamespaceSecret, String)>,
    /// The transactions in a state that the ledger does not know, as [`add_ids`] reads them.
    #[serde(skip)]
    pub ids: Option<Vec<String>>,
}

/// Largest number of days between two dates for which the charges of all units are compared with a limit.
pub const MAX_DAYS: u64 = 31;
/// Largest number of scopes that a list with a reference can have. Each has up to two hashes of 32 bytes, and D1 accepts a
/// text of up to 2 MB.
const MAX_SCOPES: usize = 10_000;

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

    /// Refuses a range of charges in all units for more than [`MAX_DAYS`] days: no index finds charges, so all of these
    /// transactions would be read.
    fn check(&self) -> Result<()> {
        self.filter.check()?;
        let Filter { from, until, units, least, greatest, .. } = self.ledger_filter();
        let is_short = until.is_some_and(|until| until.saturating_sub(from) <= MAX_DAYS * DAY_MS);
        let is_looked_up = self.like.is_some()
            || self.reference.is_some()
            || !matches!(
                self.state,
                None | Some(TransactionState::Paid | TransactionState::Unpaid)
            );
        if (least.or(greatest).is_none()) || is_short || units.is_some() || is_looked_up {
            return Ok(());
        }
        let problem = format!(
            "to filter all units by charge, choose dates that are at most {MAX_DAYS} days apart, or a unit"
        );
        Err(OperatorError::at("from", RefusalCode::Invalid, problem))
    }

    pub(super) fn scopes(&self) -> Option<Vec<Scope>> {
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
        let (from, until) = (self.from.unwrap_or_default(), self.until.unwrap_or(u64::MAX));
        let until = until.min(span.map_or(u64::MAX, |(_, until)| until));
        let is_elsewhere =
            matches!(self.state, Some(TransactionState::Cancelled | TransactionState::Failed));
        Filter {
            mode: self.filter.mode,
            units: self.units(),
            from: from.max(span.map_or(0, |(from, _)| from)),
            until: (until < u64::MAX).then_some(until),
            key: self.key.clone(),
            state: self.state,
            least: self.least,
            greatest: self.greatest,
            ids: is_elsewhere.then(|| self.ids.clone().unwrap_or_default()),
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

/// Returns a page of at most `most` of the selected transactions. Ledger cost: 3 queries; 4 with `like` or `reference`.
///
/// # Errors
/// - If the unit's ID is not valid.
/// - If the charges of all units would be compared for more than [`MAX_DAYS`] days.
/// - If the ledger fails.
pub async fn list(
    ledger: &dyn Ledger,
    query: &ListQuery,
    from: &Direction,
    most: usize,
) -> Result<TransactionPage> {
    query.check()?;
    let filter = query.ledger_filter();
    let page = match (&query.like, &query.reference) {
        (None, None) => orders::orders(ledger, &filter, from, most).await?,
        (Some((likeness, id)), _) => {
            orders::like(ledger, (*likeness, id), &filter, from, most).await?
        }
        (None, Some((secret, reference))) => {
            let scopes = scopes::scopes(ledger, filter.mode, filter.units.as_deref()).await?;
            if scopes.len() > MAX_SCOPES {
                let problem = "there are too many units to search by order number: choose a unit";
                return Err(OperatorError::at("unit", RefusalCode::Invalid, problem));
            }
            let of = (scopes.as_slice(), reference.as_str());
            orders::with_reference(ledger, secret, of, &filter, from, most).await?
        }
    };
    let page = query.only_within(page);
    let coverage = coverage(ledger, query.scopes().as_deref()).await?;
    Ok(TransactionPage { page, coverage })
}
