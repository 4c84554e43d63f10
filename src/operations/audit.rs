//! Operations on the audit log.

use super::call::{Answer, Call, Ports, Result};
use super::spec::{Argument, Kind, Spec, text};
use super::table::{paragraphs, table, time};
use crate::operator::audit::{self, Change};
use serde::Deserialize;

pub const LIST: Spec = Spec::reads(
    "audit",
    "list",
    "list the entries of the audit log, newest first: who changed or revealed what, and when",
    &[
        Argument::option("limit", Kind::Number { least: 1, most: 1_000 }, "the largest number of rows to print")
            .or("50"),
        Argument::option(
            "after",
            text("cursor"),
            "`next` of the previous page; lists the entries that are older than it",
        ),
    ],
)
.answers("`changes`: for each entry `at`, `by`, `command`, `on` (the IDs of what it changed) and, for a change, `operation` (a hash of the author and the operation ID); `damaged`: number of entries that cannot be read; `next`: the value of `--after` for older entries, or `null`");

#[derive(Deserialize)]
pub struct List {
    limit: usize,
    after: Option<String>,
}

pub async fn list<P: Ports>(call: &Call<'_, P>, List { limit, after }: List) -> Result<Answer> {
    let page = audit::page(call.store, after.as_deref(), limit).await?;
    let rows: Vec<_> = page.changes.iter().map(cells).collect();
    let list = match rows.is_empty() {
        true => "no entries".to_owned(),
        false => table(["TIME", "BY", "COMMAND", "ON"], &rows),
    };
    let damaged = match page.damaged {
        0 => String::new(),
        count => format!("Damaged entries, left out: {count}."),
    };
    let older = page.next.as_ref().map(|next| format!("Older entries: `--after {next}`."));
    let text = paragraphs([list, damaged, older.unwrap_or_default()]);
    Answer::new(&page, text)
}

fn cells(Change { at, by, command, on, .. }: &Change) -> [String; 4] {
    [time(at), by.clone(), command.clone(), on.join(", ")]
}
