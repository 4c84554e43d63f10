//! Lists the transactions that were created or erased since a given time, for incremental backups.

use crate::office::shared::rows::port::{Ledger, Query, Result, ask};
use serde::{Deserialize, Serialize};

/// Largest difference, in milliseconds, that is expected between the clocks of the service and of an operator
/// who erases transactions.
const CLOCKS_MS: u64 = 60 * 60_000;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ChangedPage {
    /// The transactions' IDs. A transaction that was created and erased is listed twice.
    pub ids: Vec<String>,
    /// The cursor of the next page; `None` on the last page.
    pub next: Option<Next>,
}

/// The cursor for the next page: the last row of the page before it. Also says whether that row is in the
/// list of created transactions or in the list of erased ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Next {
    is_erased: bool,
    erased: u64,
    scope: i64,
    created: u64,
    id: String,
}

/// Returns a page of the transactions that were created or erased since a time, in milliseconds since 1970.
///
/// The page has at most `most` IDs, and begins after the cursor `next`. Cost: 1 query.
pub async fn changed(
    ledger: &dyn Ledger,
    since: u64,
    next: Next,
    most: usize,
) -> Result<ChangedPage> {
    let is_erased = next.is_erased;
    let since = if is_erased { since.saturating_sub(CLOCKS_MS) } else { since };
    let asked = ChangedQuery { since, after: &next, most };
    let rows = match is_erased {
        true => ask(ledger, &Erased(asked)).await?,
        false => ask(ledger, &Created(asked)).await?,
    };
    let next = match rows.last() {
        Some(Row(erased, scope, created, id)) if rows.len() == most => Some(Next {
            is_erased,
            erased: *erased,
            scope: *scope,
            created: *created,
            id: id.clone(),
        }),
        _ if is_erased => None,
        _ => Some(Next { is_erased: true, ..Next::default() }),
    };
    Ok(ChangedPage { ids: rows.into_iter().map(|Row(.., id)| id).collect(), next })
}

#[derive(Serialize)]
struct ChangedQuery<'a> {
    since: u64,
    after: &'a Next,
    most: usize,
}

/// A row of the answer: the time of erasure (0 if not erased), the scope, the time of creation, and the
/// transaction's ID.
#[derive(Deserialize)]
struct Row(u64, i64, u64, String);

#[derive(Serialize)]
struct Created<'a>(ChangedQuery<'a>);

impl Query for Created<'_> {
    type Row = Row;
    const SQL: &'static str = "SELECT json_array(0, t.scope, t.created, t.id)
FROM scopes s CROSS JOIN transactions t ON t.scope = s.scope
  AND t.created >= max(?1 ->> '$.since', iif(s.scope = ?1 ->> '$.after.scope', ?1 ->> '$.after.created', 0))
WHERE s.scope >= ?1 ->> '$.after.scope'
  AND (t.scope, t.created, t.id) > (?1 ->> '$.after.scope', ?1 ->> '$.after.created', ?1 ->> '$.after.id')
ORDER BY s.scope, t.created, t.id LIMIT ?1 ->> '$.most'";
}

#[derive(Serialize)]
struct Erased<'a>(ChangedQuery<'a>);

impl Query for Erased<'_> {
    type Row = Row;
    const SQL: &'static str = "SELECT json_array(erased, scope, created, id) FROM transactions t
WHERE erased IS NOT NULL AND erased >= max(?1 ->> '$.since', ?1 ->> '$.after.erased')
  AND (erased, scope, created, id)
    > (?1 ->> '$.after.erased', ?1 ->> '$.after.scope', ?1 ->> '$.after.created', ?1 ->> '$.after.id')
ORDER BY erased, scope, created, id LIMIT ?1 ->> '$.most'";
}
