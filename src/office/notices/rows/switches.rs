//! The kinds of e-mails that people have switched off.

use super::notices::NoticeKind;
use crate::office::shared::rows::port::{Ledger, Query, Result, Statement, ask};
use serde::{Deserialize, Serialize};

/// A kind of e-mails that a person has switched off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwitchedOff {
    /// The [normal address](crate::office::people::rows::people::normal_address).
    pub address: String,
    pub kind: NoticeKind,
}

/// Returns at most `most` switched-off kinds: those of one person, or of everybody. Sorted by address. One query.
pub async fn switched_off(
    ledger: &dyn Ledger,
    address: Option<&str>,
    most: usize,
) -> Result<Vec<SwitchedOff>> {
    ask(ledger, &All { address, most }).await
}

/// Returns the statements that switch a kind on or off for a person. To switch it off also withdraws what waits.
pub(crate) fn switching(of: &SwitchedOff, is_on: bool) -> Result<Vec<Statement>> {
    Ok(match is_on {
        true => vec![On(of).statement()?],
        false => vec![Off(of).statement()?, Delete(of).statement()?, GiveUp(of).statement()?],
    })
}

#[derive(Serialize)]
struct All<'a> {
    address: Option<&'a str>,
    most: usize,
}

impl Query for All<'_> {
    type Row = SwitchedOff;
    const SQL: &'static str = "SELECT json_object('address', address, 'kind', kind) FROM notices_off
WHERE ?1 ->> '$.address' IS NULL OR address = ?1 ->> '$.address' ORDER BY address, kind LIMIT ?1 ->> '$.most'";
}

#[derive(Serialize)]
struct On<'a>(&'a SwitchedOff);

impl Query for On<'_> {
    type Row = ();
    const SQL: &'static str =
        "DELETE FROM notices_off WHERE address = ?1 ->> '$.address' AND kind = ?1 ->> '$.kind'";
}

#[derive(Serialize)]
struct Off<'a>(&'a SwitchedOff);

impl Query for Off<'_> {
    type Row = ();
    const SQL: &'static str =
        "INSERT INTO notices_off (address, kind) VALUES (?1 ->> '$.address', ?1 ->> '$.kind')
ON CONFLICT DO NOTHING";
}

#[derive(Serialize)]
struct Delete<'a>(&'a SwitchedOff);

impl Query for Delete<'_> {
    type Row = ();
    const SQL: &'static str = "DELETE FROM notices
WHERE address = ?1 ->> '$.address' AND kind = ?1 ->> '$.kind' AND state = 'waiting'";
}

#[derive(Serialize)]
struct GiveUp<'a>(&'a SwitchedOff);

impl Query for GiveUp<'_> {
    type Row = ();
    const SQL: &'static str = "UPDATE notices SET due = NULL
WHERE address = ?1 ->> '$.address' AND kind = ?1 ->> '$.kind' AND due IS NOT NULL";
}
