//! Sets the first month whose transactions the ledger keeps, because a D1 database has a maximum size. Workers KV keeps
//! all transactions.

use crate::office::shared::rows::port::{Ledger, Query, Result, ask};
use crate::pledges::settlement::Month;
use serde::Serialize;

/// Keeps transactions from this month on; `None` keeps all transactions. The next whole reconciliation pass
/// applies the change. If the month is later than before, the pass removes the rows of earlier months. If the month
/// is earlier than before, the pass adds the missing rows, and the ledger is incomplete until the pass ends.
pub async fn keep_from(ledger: &dyn Ledger, month: Option<Month>) -> Result<()> {
    let first = month.and_then(Month::span_ms).map_or(0, |(begin_ms, _)| begin_ms);
    ask(ledger, &KeepFrom { first }).await.map(drop)
}

#[derive(Serialize)]
struct KeepFrom {
    first: u64,
}

/// Stores the first month to keep. Also cancels a reconciliation pass that is under way, because that pass has
/// already compared some rows with the old first month.
impl Query for KeepFrom {
    type Row = ();
    const SQL: &'static str = "UPDATE reconciliation SET kept_from = ?1 ->> '$.first', started = NULL, lease = 0, holder = '',
  completed = iif(?1 ->> '$.first' < kept_from, NULL, completed)";
}
