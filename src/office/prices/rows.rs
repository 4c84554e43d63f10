//! The charges and quantities of a scope's month, by price list. The lines of the monthly statement are
//! computed from them.

use crate::office::fulfilment::rows::quantities::PLACES;
use crate::office::shared::rows::money::of_halves;
use crate::office::shared::rows::port::{Ledger, LedgerError, Query, Result};
use crate::office::shops::rows::scopes::wanted;
use crate::pledges::decimal::Decimal;
use crate::pledges::settlement::ScopeMonth;
use serde::{Deserialize, Serialize};

/// The charges and quantities of a scope's month.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PricedMonth {
    /// The charges, one entry for each combination of currency, price list and [`is_split`](PricedCharges::is_split).
    pub charges: Vec<PricedCharges>,
    /// The quantities by currency, price list and offering. Transactions whose charge cannot be split by
    /// offering are left out.
    pub quantities: Vec<PricedQuantity>,
    pub more: bool,
}

/// Identifies a price list by its currency and the time when it was set. The row of a transaction contains
/// both.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub struct PricedBy {
    pub currency_code: String,
    /// When the price list was set, in milliseconds since 1970; `None` if no price list with a time was in
    /// effect.
    pub prices: Option<u64>,
}

/// The charges of the transactions that have the same price list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PricedCharges {
    /// The price list of these transactions.
    pub by: PricedBy,
    /// Whether the charges can be split by offering. The quantities must be known, and the ledger must store
    /// every charge and quantity as a number. It stores a value that is too large or too precise as a text.
    pub is_split: bool,
    pub transactions: u64,
    /// The sum of the charges; 0 if `is_split` is false.
    pub amount: Decimal,
}

/// The quantity pledged for an offering by transactions that have the same price list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PricedQuantity {
    /// The price list of these transactions.
    pub by: PricedBy,
    /// The offering's ID, [shortened as in rows](crate::office::orders::rows::entry::offering_in_rows) if it is long.
    pub offering: String,
    /// The exact sum of the quantities.
    pub quantity: Decimal,
}

/// Sums the charges of a month by price list, and the quantities by price list and offering. Returns at most
/// `most` quantities. Two statements in one query.
pub async fn priced(
    ledger: &dyn Ledger,
    ScopeMonth { scope, month }: &ScopeMonth,
    most: usize,
) -> Result<PricedMonth> {
    let Some((from, until)) = month.span_ms() else { return Ok(PricedMonth::default()) };
    let asked =
        Asked { mode: scope.mode.name(), units: [&scope.unit], from, until, most: most + 1 };
    let statements = [Charges(&asked).statement()?, Quantities(&asked).statement()?];
    let answers = ledger.run(&statements).await?;
    let rows = |index: usize| answers.get(index).ok_or(LedgerError::Damaged);
    let charges = Charges::rows(rows(0)?)?.into_iter().map(ChargesRow::into_charges).collect();
    let quantities = Quantities::rows(rows(1)?)?.into_iter().map(QuantityRow::into_quantity);
    let mut quantities: Vec<_> = quantities.collect();
    let more = quantities.len() > most;
    quantities.truncate(most);
    Ok(PricedMonth { charges, quantities, more })
}

#[derive(Serialize)]
struct Asked<'a> {
    mode: &'a str,
    units: [&'a str; 1],
    from: u64,
    until: u64,
    most: usize,
}

/// SQL that selects the transactions of the month. `is_split` is 0 for a transaction whose charge cannot be
/// split by offering. Such a transaction has no quantities, or its charge or one of its quantities is stored
/// as a text. The ledger stores a text for a number that is too large or has too many decimal places.
///
/// The characters `","` in the quantities show that a quantity is a text: only there does one JSON string
/// follow another.
macro_rules! of_month {
    () => {
        concat!(
            "WITH ",
            wanted!(),
            ", own AS (
  SELECT currency, prices, cents, t.quantities,
    cents IS NOT NULL AND t.quantities <> '[]' AND instr(t.quantities, '\",\"') = 0 AS is_split
  FROM wanted CROSS JOIN transactions t
    ON t.scope = wanted.scope AND t.created >= ?1 ->> '$.from' AND t.created < ?1 ->> '$.until'
)"
        )
    };
}

#[derive(Serialize)]
struct Charges<'a>(&'a Asked<'a>);

impl Query for Charges<'_> {
    type Row = ChargesRow;
    const SQL: &'static str = concat!(
        of_month!(),
        " SELECT json_array(currency, prices, json(iif(is_split, 'true', 'false')), count(*),
  sum(iif(is_split, cents / 1000000, 0)), sum(iif(is_split, cents % 1000000, 0)))
FROM own GROUP BY currency, prices, is_split ORDER BY currency, prices, is_split"
    );
}

#[derive(Deserialize)]
struct ChargesRow(String, Option<u64>, bool, u64, u64, u64);

impl ChargesRow {
    fn into_charges(self) -> PricedCharges {
        let ChargesRow(currency_code, prices, is_split, transactions, millions, rest) = self;
        let amount = Decimal::sum(of_halves(millions, rest, 2).into_iter());
        PricedCharges { by: PricedBy { currency_code, prices }, is_split, transactions, amount }
    }
}

#[derive(Serialize)]
struct Quantities<'a>(&'a Asked<'a>);

impl Query for Quantities<'_> {
    type Row = QuantityRow;
    // Many transactions have the same quantities: equal pairs are counted first, and only then parsed.
    const SQL: &'static str = concat!(
        of_month!(),
        ", pairs AS (
  SELECT currency, prices, pair.value, count(*) AS number
  FROM own CROSS JOIN json_each(own.quantities) pair WHERE is_split GROUP BY currency, prices, pair.value
), pledged AS (
  SELECT currency, prices, number, value -> '$[0]' AS offering, value ->> '$[1]' AS quantity FROM pairs
)
SELECT json_array(currency, prices, json(offering),
  sum(number * (quantity / 1000000)), sum(number * (quantity % 1000000)))
FROM pledged GROUP BY currency, prices, offering ORDER BY currency, prices, offering LIMIT ?1 ->> '$.most'"
    );
}

#[derive(Deserialize)]
struct QuantityRow(String, Option<u64>, String, u64, u64);

impl QuantityRow {
    fn into_quantity(self) -> PricedQuantity {
        let QuantityRow(currency_code, prices, offering, millions, rest) = self;
        let quantity = Decimal::sum(of_halves(millions, rest, PLACES).into_iter());
        PricedQuantity { by: PricedBy { currency_code, prices }, offering, quantity }
    }
}
