//! Adds a note to a transaction, ends the hand-over by a note, and lists notes.

use crate::office::orders::rows::notes as rows;
use crate::office::orders::rows::notes::{HandOver, Note};
use crate::office::orders::rule as transactions;
use crate::office::orders::rule::NoteChange;
use crate::office::shared::operation::call::{Answer, Call, Changed, Host as _, Ports, Result};
use crate::office::shared::operation::facts::{Fact, Facts};
use crate::office::shared::operation::listing::Listing;
use crate::office::shared::operation::spec::{Argument, Kind, Spec, text};
use crate::office::shared::rule::roles::Permission;
use serde::Deserialize;
use strum::VariantNames as _;

const ID: Argument = Argument::positional("id", text("id"), "the ID of the transaction");
const ANSWERS: &str = "`id`; `role`: to whom the note hands the transaction over, or `null`";

pub const NOTE: Spec = Spec::changes(
    "transactions",
    "note",
    "write a note on a transaction, and hand it over to accounts or support if you like",
    &[
        ID,
        Argument::option("text", text("text"), "the note: one line of at most 1,000 bytes")
            .required()
            .field("Note", "One line of at most 1,000 bytes. It is deleted when the transaction is erased."),
        Argument::option(
            "hand-over",
            Kind::Choice { choices: HandOver::VARIANTS },
            "hand the transaction over to these people: their home page shows the note until somebody ends it",
        )
        .menu("Hand over to", &["Accounts", "Support"]),
    ],
)
.button("Write the note")
.permission(Permission::Look)
.answers(ANSWERS);

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct NoteArguments {
    id: String,
    text: String,
    hand_over: Option<HandOver>,
}

pub async fn note<P: Ports>(
    call: &Call<'_, P>,
    NoteArguments { id, text, hand_over }: NoteArguments,
) -> Result<Answer> {
    let record = transactions::get(call.store, &id).await?;
    let by = call.host.person().await?;
    let author = call.author(&by)?;
    let done = transactions::add_note(call.ledger, &author, &record, (&text, hand_over)).await?;
    let said = match done.outcome.role {
        Some(role) => {
            format!("The note is written, and the transaction is handed over to {}.", role.name())
        }
        None => "The note is written.".to_owned(),
    };
    Answer::changed(&done, Changed::new(said, Facts::new()))
}

pub const NOTE_DONE: Spec = Spec::changes(
    "transactions",
    "note-done",
    "end the hand-over of a transaction to accounts or support",
    &[
        ID,
        Argument::option(
            "number",
            Kind::Number { least: 1, most: 100 },
            "the number of the note, as `transactions notes` prints it",
        )
        .required(),
    ],
)
.button("Done")
.permission(Permission::Look)
.answers(ANSWERS);

#[derive(Deserialize)]
pub struct NoteDone {
    id: String,
    number: u32,
}

pub async fn note_done<P: Ports>(
    call: &Call<'_, P>,
    NoteDone { id, number }: NoteDone,
) -> Result<Answer> {
    let record = transactions::get(call.store, &id).await?;
    let by = call.host.person().await?;
    let author = call.author(&by)?;
    let done = transactions::end_hand_over(call.ledger, &author, &record, number).await?;
    let NoteChange { role, .. } = &done.outcome;
    let said = format!("The hand-over to {} is ended.", role.map_or("", HandOver::name));
    Answer::changed(&done, Changed::new(said, Facts::new()))
}

/// Maximum number of open hand-overs of a role that are listed.
const MAX_LISTED: usize = 1_000;

pub const NOTES: Spec = Spec::reads(
    "transactions",
    "notes",
    "list the notes on a transaction, or those that hand transactions over to accounts or support",
    &[Argument::positional("id", text("id"), "the ID of the transaction; leave it out to list the open hand-overs").optional()],
)
.permission(Permission::Support)
.answers("`notes`: for each, oldest first, `id`, `number`, `at` (in milliseconds since 1970), `author`, `byShop`: whether a person of the shop wrote it, `text`, `role`: to whom it hands the transaction over, or `null`, and `done` and `endedBy`: when and by whom this was ended");

#[derive(Deserialize)]
pub struct NotesArguments {
    id: Option<String>,
}

pub async fn notes<P: Ports>(
    call: &Call<'_, P>,
    NotesArguments { id }: NotesArguments,
) -> Result<Answer> {
    let notes = match id {
        Some(id) => {
            let record = transactions::get(call.store, &id).await?;
            rows::notes(call.ledger, record.id()).await?
        }
        None => {
            let mut open = Vec::new();
            for role in [HandOver::Accounts, HandOver::Support] {
                open.extend(rows::handed_over(call.ledger, role, MAX_LISTED).await?);
            }
            open
        }
    };
    Answer::list("notes", &notes, listing(&notes).in_lines())
}

fn listing(notes: &[Note]) -> Listing {
    Listing::new(
        notes,
        "No notes.",
        &[
            ("ID", &|it| Fact::transaction(&it.id)),
            ("Number", &|it| Fact::number(it.number)),
            ("Written", &|it| Fact::time_of(it.at)),
            ("By", &|it| Fact::Text(it.author.clone())),
            ("Handed over to", &|it| {
                let done = if it.role.is_some() && !it.is_open() { " (done)" } else { "" };
                Fact::Words([it.role.map_or("", HandOver::name), done].concat())
            }),
            ("Note", &|it| Fact::Text(it.text.clone())),
        ],
    )
}
