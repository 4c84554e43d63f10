//! The shops that have transactions.

use super::orders::wanted;
use super::{Ledger, Query, Result, ask};
use crate::scope::{Mode, Scope};
use serde::Serialize;

/// The shops of these units, or of all, that have transactions. One query.
///
/// # Errors
/// If the ledger does not answer.
pub async fn shops(
    ledger: &dyn Ledger,
    mode: Option<Mode>,
    units: Option<&[String]>,
) -> Result<Vec<Scope>> {
    let rows = ask(ledger, &Shops { mode, units }).await?;
    Ok(rows.into_iter().map(|(mode, unit)| Scope { mode, unit }).collect())
}

#[derive(Serialize)]
struct Shops<'a> {
    mode: Option<Mode>,
    units: Option<&'a [String]>,
}

impl Query for Shops<'_> {
    type Row = (Mode, String);
    const SQL: &'static str = concat!(
        "WITH ",
        wanted!(),
        " SELECT json_array(mode, unit) FROM wanted ORDER BY unit, mode"
    );
}
