//! Sets the first month whose transactions the ledger keeps, because a D1 database has a maximum size. Workers KV keeps
//! all transactions.

use super::{Ledger, Query, Result, ask};
use crate::settlement::Month;
use serde::Serialize;

/// Keeps transactions from this month on; `None` keeps all transactions. The next whole pass of the
/// reconciliation removes older rows, or writes them again. Until that pass ends, the ledger is incomplete.
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

/// Stores the first month to keep. It also cancels a pass that is under way, because that pass has already
/// compared some of the rows.
impl Query for KeepFrom {
    type Row = ();
    const SQL: &'static str = "UPDATE reconciliation SET kept_from = ?1 ->> '$.first', started = NULL, lease = 0, holder = '',
  completed = iif(?1 ->> '$.first' < kept_from, NULL, completed)";
}
