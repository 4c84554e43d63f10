//! Notes of people on transactions.

use crate::office::shared::rows::port::{Ledger, Query, Result, Statement, ask};
use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantNames};

/// Largest number of notes of one transaction. The database has the same limit.
pub const MAX_NOTES: usize = 100;

/// The role to which a note hands a transaction over.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantNames, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum HandOver {
    Accounts,
    Support,
}

impl HandOver {
    /// Returns the name, such as `support`.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A note on a transaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Note {
    /// The transaction's ID.
    pub id: String,
    /// The note's number among those of the transaction, from 1.
    pub number: u32,
    /// When it was written, in milliseconds since 1970.
    pub at: u64,
    pub author: String,
    /// Whether a person of the shop wrote it. Others are only for the service's staff.
    pub by_shop: bool,
    pub text: String,
    /// To whom the note hands the transaction over.
    pub role: Option<HandOver>,
    /// When the hand-over was ended, in milliseconds since 1970.
    pub done: Option<u64>,
    /// Who ended the hand-over.
    pub ended_by: Option<String>,
}

impl Note {
    /// Returns whether the note hands the transaction over, and nobody has ended this.
    pub fn is_open(&self) -> bool {
        self.role.is_some() && self.done.is_none()
    }
}

/// Returns the notes of a transaction, oldest first. One query.
pub async fn notes(ledger: &dyn Ledger, id: &str) -> Result<Vec<Note>> {
    ask(ledger, &OfTransaction { id }).await
}

/// Returns at most `most` notes that hand a transaction over to a role and are not ended, oldest first. One query.
pub async fn handed_over(ledger: &dyn Ledger, role: HandOver, most: usize) -> Result<Vec<Note>> {
    ask(ledger, &Open { role, most }).await
}

/// Deletes the notes of a transaction. One query.
pub(crate) async fn forget(ledger: &dyn Ledger, id: &str) -> Result<()> {
    ask(ledger, &Forget { id }).await.map(drop)
}

/// Returns the statement that adds a note with the next number. It fails if the transaction has [`MAX_NOTES`] notes.
pub(crate) fn adding(note: &Note) -> Result<Statement> {
    Add(note).statement()
}

/// Returns the statement that ends a hand-over.
pub(crate) fn ending(note: &Note) -> Result<Statement> {
    End(note).statement()
}

/// SQL: a note as JSON.
macro_rules! note {
    () => {
        "json_object('id', id, 'number', number, 'at', at, 'author', author, 'byShop', json(iif(by_shop, 'true', 'false')),
  'text', text, 'role', role, 'done', done, 'endedBy', ended_by)"
    };
}

#[derive(Serialize)]
struct OfTransaction<'a> {
    id: &'a str,
}

impl Query for OfTransaction<'_> {
    type Row = Note;
    const SQL: &'static str =
        concat!("SELECT ", note!(), " FROM notes WHERE id = ?1 ->> '$.id' ORDER BY number");
}

#[derive(Serialize)]
struct Open {
    role: HandOver,
    most: usize,
}

impl Query for Open {
    type Row = Note;
    const SQL: &'static str = concat!(
        "SELECT ",
        note!(),
        " FROM notes WHERE role IS NOT NULL AND done IS NULL AND role = ?1 ->> '$.role' ORDER BY at LIMIT ?1 ->> '$.most'"
    );
}

#[derive(Serialize)]
struct Forget<'a> {
    id: &'a str,
}

impl Query for Forget<'_> {
    type Row = ();
    const SQL: &'static str = "DELETE FROM notes WHERE id = ?1 ->> '$.id'";
}

#[derive(Serialize)]
struct Add<'a>(&'a Note);

impl Query for Add<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO notes (id, number, at, author, by_shop, text, role)
SELECT ?1 ->> '$.id', (SELECT ifnull(max(number), 0) + 1 FROM notes WHERE id = ?1 ->> '$.id'), ?1 ->> '$.at',
  ?1 ->> '$.author', ?1 ->> '$.byShop', ?1 ->> '$.text', ?1 ->> '$.role'";
}

#[derive(Serialize)]
struct End<'a>(&'a Note);

impl Query for End<'_> {
    type Row = ();
    const SQL: &'static str =
        "UPDATE notes SET done = ?1 ->> '$.done', ended_by = ?1 ->> '$.endedBy'
WHERE id = ?1 ->> '$.id' AND number = ?1 ->> '$.number'";
}
