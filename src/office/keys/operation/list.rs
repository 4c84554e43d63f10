use crate::office::keys::rule as keys;
use crate::office::keys::rule::{KeyMetadata, KeyRow};
use crate::office::shared::operation::call::{Answer, Call, Ports, Result, invalid};
use crate::office::shared::operation::spec::{Argument, Kind, Spec, mode, text, unit};
use crate::office::shared::operation::table::{table, time};
use crate::office::shops::operation::register::must_be_registered;
use crate::pledges::auth::KeyLevel;
use crate::pledges::scope::Mode;
use serde::{Deserialize, Serialize};
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

#[derive(Serialize)]
struct Keys {
    keys: Vec<KeyRow>,
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
    let text = match rows.is_empty() {
        true => "no keys".to_owned(),
        false => {
            let heads = ["ID", "MODE", "UNIT OR TEAM", "LABEL", "CREATED", "BY", "EXPIRES", "NOTE"];
            table(heads, &rows.iter().map(cells).collect::<Vec<_>>())
        }
    };
    Answer::new(&Keys { keys: rows }, text)
}

fn cells(row: &KeyRow) -> [String; 8] {
    let id = row.name.id.clone();
    let problem = row.problem.clone();
    let Some(note) = &row.note else {
        let [none, unknown] = ["", "?"].map(str::to_owned);
        let problem = problem.unwrap_or_default();
        return [
            id,
            unknown.clone(),
            unknown,
            none.clone(),
            none.clone(),
            none.clone(),
            none,
            problem,
        ];
    };
    let replaced = note.successor.as_ref().map(|successor| format!("replaced by {successor}"));
    let remarks: Vec<_> = replaced.into_iter().chain(problem).collect();
    [
        id,
        note.mode.name().to_owned(),
        match &note.level {
            KeyLevel::Unit(unit) => format!("unit {unit}"),
            KeyLevel::Team(team) => format!("team {team}"),
        },
        note.label.clone(),
        time(&note.created),
        note.by.clone(),
        note.ends.as_deref().map(time).unwrap_or_default(),
        remarks.join("; "),
    ]
}
