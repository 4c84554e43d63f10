//! The epoch: a random text that identifies the database with all people, credits, fulfilments and updates. No record in
//! Workers KV has these rows, so another database cannot be rebuilt from KV.

use crate::office::shared::rows::port::{Ledger, LedgerError, Query, Result, ask};
use serde::Serialize;

/// Returns the epoch of the database; `None` if it has none. One query.
pub async fn get(ledger: &dyn Ledger) -> Result<Option<String>> {
    Ok(ask(ledger, &Get {}).await?.pop())
}

/// Gives the database this epoch, unless it has one. Returns its epoch. One call.
pub async fn begin(ledger: &dyn Ledger, epoch: &str) -> Result<String> {
    let answers = ledger.run(&[Begin { epoch }.statement()?, Get {}.statement()?]).await?;
    let mut rows = Get::rows(answers.get(1).ok_or(LedgerError::Damaged)?)?;
    rows.pop().ok_or(LedgerError::Damaged)
}

#[derive(Serialize)]
struct Get {}

impl Query for Get {
    type Row = String;
    // D1 refuses a parameter that the statement does not use.
    const SQL: &'static str = "SELECT json_quote(epoch) FROM epoch WHERE ?1 IS NOT NULL";
}

#[derive(Serialize)]
struct Begin<'a> {
    epoch: &'a str,
}

impl Query for Begin<'_> {
    type Row = ();
    const SQL: &'static str =
        "INSERT INTO epoch (one, epoch) VALUES (1, ?1 ->> '$.epoch') ON CONFLICT DO NOTHING";
}
