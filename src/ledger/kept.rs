//! From which month on transactions are kept, as a database has a size. Workers KV keeps all.

use super::{Ledger, Query, Result, ask};
use crate::settlement::Month;
use serde::Serialize;

/// Keeps transactions from this month on, or all of them. A whole pass of the reconciliation then removes the rows of older
/// ones, or makes them again: until that ends, the ledger is not complete.
///
/// # Errors
/// If the ledger does not answer.
pub async fn keep_from(ledger: &dyn Ledger, month: Option<Month>) -> Result<()> {
    let first = month.and_then(Month::span_ms).map_or(0, |(begin_ms, _)| begin_ms);
    ask(ledger, &KeepFrom { first }).await.map(drop)
}

#[derive(Serialize)]
struct KeepFrom {
    first: u64,
}

/// A pass that is under way ends, as it has passed over some rows already.
impl Query for KeepFrom {
    type Row = ();
    const SQL: &'static str = "UPDATE reconciliation SET kept_from = ?1 ->> '$.first', started = NULL, lease = 0, holder = '',
  completed = iif(?1 ->> '$.first' < kept_from, NULL, completed)";
}
