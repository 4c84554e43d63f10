//! Notes of people on transactions. A note can hand the transaction over to accounts or support, until somebody ends this.

use super::Record;
use crate::buyer::visible::is_line;
use crate::office::audit::rule::{Author, Subject};
use crate::office::orders::rows::notes as rows;
use crate::office::orders::rows::notes::{HandOver, MAX_NOTES, Note};
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::commit::{Commit, commit};
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::once::{Done, StoredAsIs};
use crate::office::shared::rule::refused::RefusalCode;
use crate::pledges::auth::KeyLevel;
use crate::pledges::scope::Scope;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::Recorded;
use serde::{Deserialize, Serialize};

/// Largest length of a note, in bytes.
pub const MAX_NOTE: usize = 1_000;

/// A change of a note. It does not contain the text, because outcomes are stored, and notes are erased.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoteChange {
    /// The transaction's ID.
    pub id: String,
    pub role: Option<HandOver>,
}

impl StoredAsIs for NoteChange {}

const ADD: &str = "transactions note";
const END: &str = "transactions note-done";

/// Adds a note to a transaction. Ledger cost: 2 calls.
///
/// # Errors
/// If the text is not one line of 1 to 1,000 bytes, the transaction is erased or has 100 notes, or the ledger fails.
pub async fn add_note(
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    record: &Record,
    (text, role): (&str, Option<HandOver>),
) -> Result<Done<NoteChange>> {
    let text = text.trim();
    let work = async |at: &Commit<'_, _, _>| add_now(at, record, (text, role)).await;
    commit(ledger, author, (ADD, &(record.id(), text, role)), work).await
}

async fn add_now(
    commit: &Commit<'_, impl Clock, impl Entropy>,
    record: &Record,
    (text, role): (&str, Option<HandOver>),
) -> Result<NoteChange> {
    if !is_line(text, MAX_NOTE) {
        let problem = format!(
            "nothing was written: enter one line of 1 to {MAX_NOTE} bytes, without invisible characters"
        );
        return Err(OperatorError::at("text", RefusalCode::Invalid, problem));
    }
    let author = &commit.author;
    let Recorded { scope: Scope { unit, .. }, summary, .. } = record.metadata()?;
    if summary.erased.is_some() {
        return Err(OperatorError::invalid("nothing was written: the transaction is erased"));
    }
    let entry = author.entry(ADD, |_| subject(&unit, record)).await?;
    let note = Note {
        id: record.id().to_owned(),
        number: 0, // the statement counts
        at: entry.key.time_ms(),
        author: author.by().to_owned(),
        by_shop: entry.change.by_shop,
        text: text.to_owned(),
        role,
        done: None,
        ended_by: None,
    };
    let outcome = NoteChange { id: note.id.clone(), role };
    match commit.make(&entry, &outcome, [rows::adding(&note)?]).await? {
        true => Ok(outcome),
        false => Err(OperatorError::invalid(format!(
            "nothing was written: the transaction has {MAX_NOTES} notes"
        ))),
    }
}

/// Ends the hand-over of a transaction by a note. Ledger cost: 3 calls.
///
/// # Errors
/// If there is no open hand-over with this number, or the ledger fails.
pub async fn end_hand_over(
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    record: &Record,
    number: u32,
) -> Result<Done<NoteChange>> {
    let work = async |at: &Commit<'_, _, _>| end_now(at, record, number).await;
    commit(ledger, author, (END, &(record.id(), number)), work).await
}

async fn end_now(
    commit: &Commit<'_, impl Clock, impl Entropy>,
    record: &Record,
    number: u32,
) -> Result<NoteChange> {
    let author = &commit.author;
    let notes = rows::notes(commit.ledger, record.id()).await?;
    let note = notes.into_iter().find(|note| note.number == number && note.is_open());
    let note = note.ok_or_else(|| {
        let problem = "nothing was changed: the transaction has no open hand-over with this number";
        OperatorError::at("number", RefusalCode::NotFound, problem)
    })?;
    let unit = record.unit()?;
    let entry = author.entry(END, |_| subject(&unit, record)).await?;
    let (done, ended_by) = (Some(entry.key.time_ms()), Some(author.by().to_owned()));
    let note = Note { done, ended_by, ..note };
    let outcome = NoteChange { id: note.id.clone(), role: note.role };
    match commit.make(&entry, &outcome, [rows::ending(&note)?]).await? {
        true => Ok(outcome),
        false => Err(OperatorError::try_again("nothing was changed: try again")),
    }
}

/// Returns what the audit log records: the transaction, without the text.
fn subject(unit: &str, record: &Record) -> Subject {
    Subject::of(KeyLevel::Unit(unit.to_owned()), [record.id()])
}
