//! Writes and reads the credits of transactions.

use crate::office::shared::rows::money::money;
use crate::office::shared::rows::port::{Ledger, Query, Result, Statement, ask};
use crate::pledges::decimal::Decimal;
use crate::pledges::quantities::Quantities;
use crate::pledges::scope::Scope;
use crate::pledges::settlement::Month;
use serde::{Deserialize, Serialize};

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
pub(super) use credit;

#[derive(Serialize)]
struct OfTransaction<'a> {
    id: &'a str,
}

impl Query for OfTransaction<'_> {
    type Row = CreditRow;
    const SQL: &'static str =
        concat!("SELECT ", credit!(), " FROM credits WHERE id = ?1 ->> '$.id' ORDER BY number");
}
