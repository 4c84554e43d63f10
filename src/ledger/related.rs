//! The transactions that have the buyer or the reference of another one. They are compared by the hashes in its row, so that
//! neither its record nor the namespace's secret is read.

use super::listing::{Hashes, Row, columns_of};
use super::{Ledger, LedgerError, Order, Query, Result, ask};
use crate::pledge::TransactionId;
use serde::Serialize;

/// What two transactions have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// The recipient's e-mail address.
    Buyer,
    /// The reference, in any spelling of its order number.
    Reference,
}

impl Likeness {
    /// Returns the hashes of a transaction; none if it is erased or has no row.
    pub(super) async fn hashes(self, ledger: &dyn Ledger, id: &TransactionId) -> Result<Hashes> {
        let rows = ask(ledger, &HashesOf { id: id.as_str() }).await?;
        let (email, reference) = rows.into_iter().next().unwrap_or_default();
        let list = |hash: Option<String>| hash.into_iter().collect();
        Ok(match self {
            Likeness::Buyer => Hashes::Email { hashes: list(email) },
            Likeness::Reference => {
                Hashes::Reference { hashes: list(reference), prefixes: Vec::new() }
            }
        })
    }
}

#[derive(Serialize)]
struct HashesOf<'a> {
    id: &'a str,
}

impl Query for HashesOf<'_> {
    type Row = (Option<String>, Option<String>);
    const SQL: &'static str =
        "SELECT json_array(email, reference) FROM transactions WHERE id = ?1 ->> '$.id'";
}

/// The other transactions of a shop that are like one of its transactions, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Related {
    /// Those with the same reference.
    pub reference: Vec<Order>,
    /// Those of the same buyer.
    pub buyer: Vec<Order>,
}

/// Returns at most `most` other transactions of each [`Likeness`]. Both lists are empty if the transaction is erased or has
/// no row. One call, with two statements.
///
/// # Errors
/// If the ledger does not answer.
pub async fn related(ledger: &dyn Ledger, id: &TransactionId, most: usize) -> Result<Related> {
    let asked = Asked { id: id.as_str(), most };
    let statements = [SameReference(&asked).statement()?, SameBuyer(&asked).statement()?];
    let answers = ledger.run(&statements).await?;
    let [reference, buyer] = answers.as_slice() else { return Err(LedgerError::Damaged) };
    let orders = |rows: Vec<Row>| rows.into_iter().map(Row::into_order).collect();
    Ok(Related {
        reference: orders(SameReference::rows(reference)?),
        buyer: orders(SameBuyer::rows(buyer)?),
    })
}

#[derive(Serialize)]
struct Asked<'a> {
    id: &'a str,
    most: usize,
}

/// Defines the query for transactions whose column is that of another transaction.
macro_rules! same {
    ($name:ident, $column:literal) => {
        #[derive(Serialize)]
        struct $name<'a>(&'a Asked<'a>);

        impl Query for $name<'_> {
            type Row = Row;
            const SQL: &'static str = concat!(
                "WITH own AS (SELECT ",
                $column,
                " AS hash FROM transactions WHERE id = ?1 ->> '$.id'
)
SELECT ",
                columns_of!(),
                "
FROM own CROSS JOIN transactions t ON t.",
                $column,
                " = own.hash CROSS JOIN shops s ON s.shop = t.shop
WHERE t.id <> ?1 ->> '$.id'
ORDER BY t.created DESC, t.id DESC LIMIT ?1 ->> '$.most'"
            );
        }
    };
}

same!(SameReference, "reference");
same!(SameBuyer, "email");
