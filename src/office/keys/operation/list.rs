use crate::office::keys::rule as keys;
use crate::office::keys::rule::{KeyMetadata, KeyRow};
use crate::office::shared::operation::call::{Answer, Call, Ports, Result, invalid};
use crate::office::shared::operation::facts::{Fact, Tone};
use crate::office::shared::operation::listing::Listing as Table;
use crate::office::shared::operation::spec::{Argument, Kind, Spec, mode, text, unit};
use crate::office::shops::operation::register::must_be_registered;
use crate::pledges::auth::KeyLevel;
use crate::pledges::scope::Mode;
use serde::Deserialize;
use std::cmp::Ordering;

pub const LIST: Spec = Spec::reads(
    "keys",
    "list",
    "list the API keys",
    &[
        mode("only test keys, or only live keys"),
        unit("only keys of this unit"),
        Argument::option("team", text("id"), "only keys of this team"),
        Argument::option(
            "sort",
            Kind::Choice { choices: &["id", "unit", "label", "created", "expires"] },
            "the column to sort by; `unit` sorts by unit or team",
        )
        .or("unit"),
    ],
)
.answers("`keys`: for each `id`, `name`, `mode`, `unit` or `team`, `label`, `created`, `by`, `byShop` (`true` if a person of a shop created it); `predecessor` and `successor`: the IDs of the keys that it replaced and that replaces it; `ends`: when it expires, if it does; `problem`: if its metadata cannot be read (then only `id` and `name` are present), or if it was created with another secret than the namespace's (as after a restore)");

#[derive(Deserialize)]
pub struct Listing {
    mode: Option<Mode>,
    unit: Option<String>,
    team: Option<String>,
    sort: Column,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Column {
    Id,
    Unit,
    Label,
    Created,
    #[serde(rename = "expires")]
    Ends,
}

impl Listing {
    fn has(&self, row: &KeyRow) -> bool {
        let note = row.note.as_ref();
        let (unit, team) = (note.and_then(unit_of), note.and_then(team_of));
        self.mode.is_none_or(|mode| note.is_some_and(|note| note.mode == mode))
            && self.unit.is_none() | (self.unit.as_deref() == unit)
            && self.team.is_none() | (self.team.as_deref() == team)
    }
}

fn unit_of(note: &KeyMetadata) -> Option<&str> {
    match &note.level {
        KeyLevel::Unit(unit) => Some(unit),
        KeyLevel::Team(_) => None,
    }
}

fn team_of(note: &KeyMetadata) -> Option<&str> {
    match &note.level {
        KeyLevel::Team(team) => Some(team),
        KeyLevel::Unit(_) => None,
    }
}

impl Column {
    fn compare(self, a: &KeyRow, b: &KeyRow) -> Ordering {
        self.of(a).cmp(self.of(b))
    }

    fn of(self, row: &KeyRow) -> &str {
        let note = row.note.as_ref();
        match self {
            Column::Id => &row.name.id,
            Column::Unit => note.map_or("", |note| note.level.id()),
            Column::Label => note.map_or("", |note| &note.label),
            Column::Created => note.map_or("", |note| &note.created),
            Column::Ends => note.and_then(|note| note.ends.as_deref()).unwrap_or("9"), // after every year
        }
    }
}

pub async fn list<P: Ports>(call: &Call<'_, P>, listing: Listing) -> Result<Answer> {
    let levels =
        [listing.unit.clone().map(KeyLevel::Unit), listing.team.clone().map(KeyLevel::Team)];
    for level in levels.iter().flatten() {
        level.check().map_err(invalid)?;
    }
    let (mut rows, _) = keys::list(call.store, None, usize::MAX).await?;
    rows.retain(|row| listing.has(row));
    if rows.is_empty() {
        for level in levels {
            must_be_registered(call, level).await?;
        }
    }
    let age = Column::Created;
    rows.sort_by(|a, b| listing.sort.compare(a, b).then_with(|| age.compare(a, b)));
    Answer::list("keys", &rows, listed(&rows, &|note| Fact::Text(note.by.clone())).in_lines())
}

/// Returns the list of keys. `author` names who created a key.
pub(crate) fn listed(keys: &[KeyRow], author: &dyn Fn(&KeyMetadata) -> Fact) -> Table {
    let noted = |row: &KeyRow, of: &dyn Fn(&KeyMetadata) -> Fact| {
        row.note.as_ref().map_or_else(Fact::none, of)
    };
    Table::new(
        keys,
        "No API keys yet.",
        &[
            ("ID", &|row| Fact::id(&row.name.id)),
            ("Mode", &|row| noted(row, &|note| Fact::Mode(note.mode))),
            ("Unit or team", &|row| {
                noted(row, &|note| Fact::Text([note.level.kind(), " ", note.level.id()].concat()))
            }),
            ("Label", &|row| noted(row, &|note| Fact::Text(note.label.clone()))),
            ("Created", &|row| noted(row, &|note| Fact::time(&*note.created))),
            ("Created by", &|row| noted(row, &|note| author(note))),
            ("Expires", &|row| noted(row, &|note| Fact::time(note.ends.as_deref()))),
            ("Note", &|row| remarks(row)),
        ],
    )
}

/// Returns which key replaces a key, and what is wrong with it.
fn remarks(row: &KeyRow) -> Fact {
    let successor = row.note.as_ref().and_then(|note| note.successor.as_ref());
    let replaced = successor.map(|successor| Fact::Words(format!("replaced by {successor}")));
    let problem = row.problem.clone().map(|problem| Fact::Tag(Tone::Alarm, problem));
    Fact::List(replaced.into_iter().chain(problem).collect())
}
