//! Computes what can still be credited of a transaction.

use super::credit::{Credit, Credits, Left, stated};
use crate::office::credits::rows as credits;
use crate::office::credits::rows::{CreditRow, left_of};
use crate::office::orders::rows::order::Order;
use crate::office::orders::rule as transactions;
use crate::office::orders::rule::{Record, ViewOptions};
use crate::office::payments::rule::due::money;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::Result;
use crate::office::system::rule::epoch;
use crate::pledges::decimal::Decimal;
use crate::pledges::quantities::Quantities;
use crate::pledges::store::OperatorStore;

/// Returns the credits of a transaction, and what can still be credited. Ledger cost: 2 queries. KV cost: 3
/// reads.
///
/// # Errors
/// If the record is damaged, or the ledger has lost credits, or the ledger or the store fails.
pub async fn of(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    record: &Record,
) -> Result<Credits> {
    epoch::check(store, ledger).await?;
    let order = Creditable::read(store, ledger, record).await?;
    let left = Left {
        currency_code: order.row.currency_code.clone(),
        amount: order.left().to_money(),
        quantities: stated(&order.left_quantities()),
        divisible: order.charge.units(2).is_some(),
    };
    Ok(Credits { credits: order.credits.into_iter().map(Credit::from).collect(), left })
}

pub(super) struct Creditable {
    pub row: Order,
    pub charge: Decimal,
    pub pledged: Quantities,
    pub credits: Vec<CreditRow>,
}

impl Creditable {
    pub async fn read(
        store: &impl OperatorStore,
        ledger: &dyn Ledger,
        record: &Record,
    ) -> Result<Self> {
        let row = record.show(ViewOptions::default())?.row;
        let charge = money(&row.amount);
        let pledged = transactions::quantities_to_keep(store, record).await?;
        let credits = credits::credits(ledger, &row.id).await?;
        Ok(Creditable { row, charge, pledged, credits })
    }

    pub fn left(&self) -> Decimal {
        let credited = Decimal::sum(self.credits.iter().map(|credit| money(&credit.amount())));
        self.charge.minus(&credited).unwrap_or_else(|| Decimal::from_units(0, 0))
    }

    pub fn left_quantities(&self) -> Quantities {
        left_of(&self.pledged, &self.credits)
    }
}
