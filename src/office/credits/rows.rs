//! Credits: amounts and quantities that are taken back from a transaction. Constraints of their table
//! guarantee that the credits of a transaction never exceed its charge, and that a credit is never changed.
//!
//! A credit reduces the sum of its order's month, or of the current month if the order's month is already
//! marked as paid. So the sums of a paid month never change.
//!
//! If a month is marked as paid while a credit is made that counts in it, the later of the two changes is refused.

use crate::office::fulfilment::rows::quantities::OfferingSum;
use crate::office::payments::rows::sums::SumsQuery;
use crate::office::shared::rows::money::{money, of_halves};
use crate::office::shared::rows::port::{Ledger, Query, Result, Statement, ask};
use crate::pledges::decimal::Decimal;
use crate::pledges::quantities::{Quantities, Quantity};
use crate::pledges::scope::{Mode, Scope};
use crate::pledges::settlement::{Month, ScopeMonth};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Largest number of credits of one transaction.
pub const MAX_CREDITS: u32 = 100;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreditRow {
    /// The hash of the operation that made the credit.
    pub operation: String,
    pub id: String,
    /// The credit's number among the credits of the transaction, from 1 to [`MAX_CREDITS`].
    pub number: u32,
    /// The scope of the transaction.
    #[serde(flatten)]
    pub scope: Scope,
    /// The month in which the transaction was created.
    pub order_month: Month,
    /// The month whose sum the credit reduces.
    pub booked_month: Month,
    pub currency: String,
    #[serde(flatten)]
    pub charge: Charge,
    #[serde(flatten)]
    pub amount: Credited,
    pub quantities: Quantities,
    pub reason: String,
    /// The name of the credit's entry in the audit log.
    pub change: String,
    pub author: String,
    /// When the credit was made, in milliseconds since 1970.
    pub at: u64,
}

/// The charge of a transaction in two columns: whole cents or, for a larger amount, a decimal text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charge {
    /// The cents, up to 2^53 - 1.
    pub charge_cents: Option<u64>,
    /// A charge above 2^53 - 1 cents, as a decimal.
    pub charge_amount: Option<String>,
}

/// The amount of a credit in two columns: whole cents or, for a larger amount, a decimal text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credited {
    pub cents: Option<u64>,
    /// An amount above 2^53 - 1 cents, as a decimal. It is always the whole charge.
    pub amount: Option<String>,
}

impl CreditRow {
    /// Returns the charge of the transaction, a decimal with two places.
    pub fn charge(&self) -> String {
        money(self.charge.charge_cents, self.charge.charge_amount.as_deref())
    }

    /// Returns the credited amount, a decimal with two places.
    pub fn amount(&self) -> String {
        money(self.amount.cents, self.amount.amount.as_deref())
    }
}

impl Charge {
    pub fn new(amount: &Decimal) -> Self {
        let cents = amount.units(2);
        let text = cents.is_none().then(|| amount.to_scientific());
        Charge { charge_cents: cents, charge_amount: text }
    }
}

impl Credited {
    pub fn new(amount: &Decimal) -> Self {
        let Charge { charge_cents: cents, charge_amount: amount } = Charge::new(amount);
        Credited { cents, amount }
    }
}

/// Whether a month is paid, as somebody saw it.
#[derive(Clone, Debug, Serialize)]
pub struct SeenMonth {
    /// The name of the month's settlement record.
    pub name: String,
    /// The name of the last change's entry in the audit log; `None` if the month was never marked as paid.
    pub change: Option<String>,
}

// ---- Write and list ------------------------------------------------------------------------------

/// Returns the statements that write a credit. They fail if somebody has marked the month `booked`, in which the credit is
/// booked, as paid or unpaid since it was seen, if the transaction got another credit after `credit.number` was determined,
/// or if the credits would exceed the charge.
pub(crate) fn crediting(credit: &CreditRow, booked: &SeenMonth) -> Result<[Statement; 2]> {
    Ok([IsSeen { credit, booked }.statement()?, Write { credit }.statement()?])
}

/// Returns the credits of a transaction, oldest first. One query.
pub async fn credits(ledger: &dyn Ledger, id: &str) -> Result<Vec<CreditRow>> {
    ask(ledger, &OfTransaction { id }).await
}

#[derive(Serialize)]
struct IsSeen<'a> {
    credit: &'a CreditRow,
    booked: &'a SeenMonth,
}

impl Query for IsSeen<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO preconditions (holds) SELECT
  (SELECT count(*) + 1 FROM credits WHERE id = ?1 ->> '$.credit.id') = ?1 ->> '$.credit.number'
  AND ?1 ->> '$.booked.change' IS (SELECT change FROM published WHERE name = ?1 ->> '$.booked.name')";
}

#[derive(Serialize)]
struct Write<'a> {
    credit: &'a CreditRow,
}

impl Query for Write<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO credits (id, number, operation, mode, unit, order_month, booked_month,
  currency, charge_cents, charge_amount, cents, amount, quantities, reason, change, author, at)
SELECT it ->> '$.id', it ->> '$.number', it ->> '$.operation', it ->> '$.mode', it ->> '$.unit', it ->> '$.order_month',
  it ->> '$.booked_month', it ->> '$.currency', it ->> '$.charge_cents', it ->> '$.charge_amount', it ->> '$.cents',
  it ->> '$.amount', it -> '$.quantities', it ->> '$.reason', it ->> '$.change', it ->> '$.author', it ->> '$.at'
FROM (SELECT ?1 -> '$.credit' AS it)
WHERE NOT EXISTS (SELECT 1 FROM credits WHERE operation = it ->> '$.operation')
  AND (SELECT count(*) + 1 FROM credits WHERE id = it ->> '$.id') = it ->> '$.number'";
}

/// SQL for a row of the table `credits`, as JSON.
macro_rules! credit {
    () => {
        "json_object('id', id, 'number', number, 'operation', operation, 'mode', mode, 'unit', unit,
  'order_month', order_month, 'booked_month', booked_month, 'currency', currency, 'charge_cents', charge_cents,
  'charge_amount', charge_amount, 'cents', cents, 'amount', amount, 'quantities', json(quantities), 'reason', reason,
  'change', change, 'author', author, 'at', at)"
    };
}

#[derive(Serialize)]
struct OfTransaction<'a> {
    id: &'a str,
}

impl Query for OfTransaction<'_> {
    type Row = CreditRow;
    const SQL: &'static str =
        concat!("SELECT ", credit!(), " FROM credits WHERE id = ?1 ->> '$.id' ORDER BY number");
}

// ---- Sums ----------------------------------------------------------------------------------------

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
