//! Sums credits by month, and by offering.

use super::credits::{CreditRow, credit};
use crate::office::fulfilment::rows::quantities::OfferingSum;
use crate::office::payments::rows::sums::SumsQuery;
use crate::office::shared::rows::money::of_halves;
use crate::office::shared::rows::port::{Ledger, Query, Result, ask};
use crate::pledges::decimal::Decimal;
use crate::pledges::quantities::{Quantities, Quantity};
use crate::pledges::scope::Mode;
use crate::pledges::settlement::{Month, ScopeMonth};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The sum of the credits that are booked in one month of a scope, in one currency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreditSum {
    /// The month in which the credits are booked.
    pub of: ScopeMonth,
    pub currency_code: String,
    /// The exact sum of the credits, as a decimal with two places.
    pub amount: String,
    /// Whether the credits may exceed the sum of the month's charges. They may if one of them belongs to a transaction
    /// of another month, usually an earlier one, or to a transaction whose charge was another one when it was credited.
    ///
    /// The other month may also be a later one. This happens if a create request was interrupted, its
    /// transaction was credited, and the request was then repeated in a later month. Of creates with one ID that race, the
    /// last one decides the charge.
    pub may_exceed: bool,
}

/// Sums the credits by booked month, unit, mode and currency, oldest month first. `units` restricts the sums to these
/// units; `None` means all units. One query.
///
/// Leaves out a credit of a transaction without a row, unless it is booked in a later month than the transaction's.
pub async fn credit_sums(
    ledger: &dyn Ledger,
    mode: Option<Mode>,
    units: Option<&[String]>,
) -> Result<Vec<CreditSum>> {
    let rows = match units {
        Some(units) => ask(ledger, &BookedOfUnits { mode, units }).await?,
        None => ask(ledger, &Booked { mode }).await?,
    };
    Ok(rows.into_iter().map(BookedRow::into_sum).collect())
}

/// SQL that selects the credits that count in the month in which they are booked. A credit that is
/// booked in its order's month does not count if the order has no row, for example because its
/// record was deleted. Then no sum contains the order's charge.
macro_rules! counts {
    () => {
        "(booked_month <> order_month OR EXISTS (SELECT 1 FROM transactions t WHERE t.id = credits.id))"
    };
}

/// Returns the credits that are counted in a month of these units, sorted by transaction and number: at most
/// `most`, after the credit `after`. One query.
pub async fn booked(
    ledger: &dyn Ledger,
    (mode, units): (Mode, &[String]),
    month: Month,
    after: Option<&CreditRow>,
    most: usize,
) -> Result<Vec<CreditRow>> {
    let after = after.map(|credit| (&*credit.id, credit.number));
    ask(ledger, &BookedIn { mode, units, month, after, most }).await
}

#[derive(Serialize)]
struct BookedIn<'a> {
    mode: Mode,
    units: &'a [String],
    month: Month,
    after: Option<(&'a str, u32)>,
    most: usize,
}

impl Query for BookedIn<'_> {
    type Row = CreditRow;
    const SQL: &'static str = concat!(
        "SELECT ",
        credit!(),
        " FROM credits WHERE unit IN (SELECT value FROM json_each(?1, '$.units')) AND mode = ?1 ->> '$.mode'
  AND booked_month = ?1 ->> '$.month' AND ",
        counts!(),
        " AND (?1 ->> '$.after' IS NULL OR (id, number) > (?1 ->> '$.after[0]', ?1 ->> '$.after[1]'))
ORDER BY id, number LIMIT ?1 ->> '$.most'"
    );
}

/// Sums credits by booked month, unit, mode and currency. `$units` restricts the units. The times of the
/// credited transactions come from the index `by_id`.
macro_rules! booked {
    ($units:literal) => {
        concat!(
            "WITH booked AS (
  SELECT booked_month AS month, unit, mode, currency, max(booked_month <> order_month OR EXISTS (
      SELECT 1 FROM transactions t WHERE t.id = credits.id
        AND (strftime('%Y-%m', t.created / 1000, 'unixepoch') <> booked_month
          OR t.cents IS NOT charge_cents OR t.amount IS NOT charge_amount)
    )) AS may_exceed,
    ifnull(sum(cents / 1000000), 0) AS millions, ifnull(sum(cents % 1000000), 0) AS rest,
    json_group_array(amount) FILTER (WHERE amount IS NOT NULL) AS large
  FROM credits WHERE ",
            $units,
            " AND (?1 ->> '$.mode' IS NULL OR mode = ?1 ->> '$.mode') AND ",
            counts!(),
            "
  GROUP BY booked_month, unit, mode, currency
)
SELECT json_object('month', month, 'unit', unit, 'mode', mode, 'currency', currency, 'may_exceed', may_exceed,
  'millions', millions, 'rest', rest, 'large', json(large)) FROM booked ORDER BY month, unit, mode, currency"
        )
    };
}

#[derive(Serialize)]
struct Booked {
    mode: Option<Mode>,
}

impl Query for Booked {
    type Row = BookedRow;
    const SQL: &'static str = booked!("true");
}

#[derive(Serialize)]
struct BookedOfUnits<'a> {
    mode: Option<Mode>,
    units: &'a [String],
}

impl Query for BookedOfUnits<'_> {
    type Row = BookedRow;
    const SQL: &'static str = booked!("unit IN (SELECT value FROM json_each(?1, '$.units'))");
}

/// A row of the result. `large` has the amounts that are stored as texts. The sum of all other amounts is
/// `millions` × 1,000,000 + `rest`, in cents.
#[derive(Deserialize)]
struct BookedRow {
    #[serde(flatten)]
    of: ScopeMonth,
    currency: String,
    may_exceed: u8,
    millions: u64,
    rest: u64,
    large: Vec<String>,
}

impl BookedRow {
    fn into_sum(self) -> CreditSum {
        let mut parts = of_halves(self.millions, self.rest, 2);
        parts.extend(self.large.iter().filter_map(|text| Decimal::parse_bounded(text)));
        let amount = Decimal::sum(parts.into_iter()).to_money();
        let BookedRow { of, currency: currency_code, may_exceed, .. } = self;
        CreditSum { of, currency_code, amount, may_exceed: may_exceed != 0 }
    }
}

/// Sums the credited quantities by offering, mode and month, newest month first. A credit counts in the month
/// of its order, which must be one of `months`. `units` restricts the sums to these units; `None` means all
/// units. In each sum, `transactions` is the number of credits. One query.
pub async fn credited_quantities(
    ledger: &dyn Ledger,
    mode: Option<Mode>,
    units: Option<&[String]>,
    months: &[Month],
) -> Result<Vec<OfferingSum>> {
    let rows = ask(ledger, &OfOrders(&SumsQuery::new(mode, units, months))).await?;
    let mut sums: BTreeMap<_, Vec<Decimal>> = BTreeMap::new();
    for OfOrder { month, mode, quantities } in rows {
        for (offering, quantity) in quantities.iter() {
            let group = (std::cmp::Reverse(month), mode, offering.to_owned());
            sums.entry(group).or_default().push(quantity.decimal());
        }
    }
    let sum = |((month, mode, offering), parts): ((std::cmp::Reverse<Month>, _, _), Vec<_>)| {
        let transactions = parts.len() as u64;
        let quantity = Decimal::sum(parts.into_iter()).to_exact();
        OfferingSum { month: month.0, mode, offering, transactions, quantity }
    };
    Ok(sums.into_iter().map(sum).collect())
}

#[derive(Serialize)]
struct OfOrders<'a>(&'a SumsQuery<'a>);

impl Query for OfOrders<'_> {
    type Row = OfOrder;
    const SQL: &'static str =
        "SELECT json_object('month', order_month, 'mode', mode, 'quantities', json(quantities))
FROM json_each(?1, '$.months') month CROSS JOIN credits ON order_month = month.value ->> '$[0]'
WHERE (?1 ->> '$.mode' IS NULL OR mode = ?1 ->> '$.mode')
  AND (?1 ->> '$.units' IS NULL OR unit IN (SELECT value FROM json_each(?1, '$.units')))";
}

#[derive(Deserialize)]
struct OfOrder {
    month: Month,
    mode: Mode,
    quantities: Quantities,
}

/// Subtracts the quantities of a transaction's credits from the pledged quantities.
pub fn left_of(pledged: &Quantities, credits: &[CreditRow]) -> Quantities {
    let left = pledged.iter().filter_map(|(offering, quantity)| {
        let of = |credit: &CreditRow| credit.quantities.get(offering).map(Quantity::decimal);
        let credited = Decimal::sum(credits.iter().filter_map(of));
        Some((offering.to_owned(), quantity.decimal().minus(&credited)?))
    });
    Quantities::of_sums(left)
}
