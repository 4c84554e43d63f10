//! Finds uploaded pictures that no update has.

use crate::office::shared::rows::port::{Ledger, Query, Result, ask};
use serde::Serialize;

/// Returns those of some pictures that no update has, in any state. The pictures are named by their paths. One query, or none
/// without pictures.
pub async fn unused(ledger: &dyn Ledger, paths: &[String]) -> Result<Vec<String>> {
    match paths {
        [] => Ok(Vec::new()),
        paths => ask(ledger, &Unused { paths }).await,
    }
}

#[derive(Serialize)]
struct Unused<'a> {
    paths: &'a [String],
}

impl Query for Unused<'_> {
    type Row = String;
    const SQL: &'static str = "SELECT json_quote(value) FROM json_each(?1, '$.paths')
WHERE NOT EXISTS (SELECT 1 FROM updates WHERE content ->> '$.picture.url' = value)";
}
