//! Finds transactions that have the same buyer or the same reference as a given transaction. The query compares hashes
//! in the rows, so neither the given transaction's record nor the namespace's secret is read.

use super::listed::{Hashes, Row, columns_of};
use super::order::Order;
use crate::office::shared::rows::port::{Ledger, LedgerError, Query, Result, ask};
use crate::pledges::types::TransactionId;
use serde::Serialize;

/// What two transactions have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// The recipient's e-mail address.
    Buyer,
    /// The reference. Spellings of one order number, such as `1053` and `#1053`, count as the same
    /// reference.
    Reference,
}

impl Likeness {
    /// Returns the hash of the transaction's buyer or reference; no hash if the transaction is erased or has no row.
    pub(crate) async fn hashes(self, ledger: &dyn Ledger, id: &TransactionId) -> Result<Hashes> {
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

/// The transactions that have the same reference or the same buyer as a given transaction of the same scope,
/// newest first. The given transaction is not included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Related {
    pub reference: Vec<Order>,
    pub buyer: Vec<Order>,
}

/// Returns two lists: the transactions with the same reference as the given transaction, and those with the
/// same buyer. Each list has at most `most` transactions. Both are empty if the given transaction is erased
/// or has no row. Ledger cost: 1 call with 2 statements.
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

/// Defines a query for the other transactions whose hash in `$column` equals that of the given transaction.
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
                " = own.hash CROSS JOIN scopes s ON s.scope = t.scope
WHERE t.id <> ?1 ->> '$.id'
ORDER BY t.created DESC, t.id DESC LIMIT ?1 ->> '$.most'"
            );
        }
    };
}

same!(SameReference, "reference");
same!(SameBuyer, "email");
