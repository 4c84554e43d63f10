//! Operations on API keys.

use super::call::{Answer, Call, Failure, Host as _, Ports, Result, invalid};
use super::register::{confirm_new, whose};
use super::spec::{Argument, Kind, Spec, mode, text, unit};
use super::table::{sentence, table, time};
use super::values::Values;
use crate::auth::{KeyLevel, KeyRecord};
use crate::operator::delays::REFUSED_SECONDS;
use crate::operator::keys::{self, KeyExpiry, KeyMetadata, KeyName, KeyRow, MadeKey, Rotated};
use crate::operator::{Done, OperatorError};
use crate::scope::Mode;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

const TEAM: Argument = Argument::option(
    "team",
    text("id"),
    "the team whose units the key may act for; each request names one of them in `X-Service-Unit-Id`",
);

pub const CREATE: Spec = Spec::changes(
    "keys",
    "create",
    "create an API key; it is shown only once, because only its hash is stored",
    &[
        mode("whether the key creates test or live transactions").required(),
        unit("the unit that the key acts for"),
        TEAM,
        Argument::option("label", text("text"), "a note that `keys list` shows").or(""),
    ],
)
.confirmed_if("the unit or team is not registered")
.answers("`key`: the key itself, or `null` if it was shown before (with exit code 1); `id`; `name`: the name of its record, with its whole hash; `mode`; `unit` or `team`; `label`; `created`; `by`");

#[derive(Deserialize)]
pub struct Create {
    mode: Mode,
    unit: Option<String>,
    team: Option<String>,
    label: String,
}

impl Create {
    fn level(self) -> Result<(Mode, KeyLevel, String), String> {
        let level = match (self.unit, self.team) {
            (Some(unit), None) => KeyLevel::Unit(unit),
            (None, Some(team)) => KeyLevel::Team(team),
            _ => return Err("give either `--unit` or `--team`, which the key acts for".to_owned()),
        };
        Ok((self.mode, level, self.label))
    }
}

pub fn check(values: &Values) -> Result<(), String> {
    values.read::<Create>()?.level().map(drop)
}

pub async fn create<P: Ports>(call: &Call<'_, P>, asked: Create) -> Result<Answer> {
    let (mode, level, label) = asked.level().map_err(Failure::Usage)?;
    if !call.was_done().await? {
        confirm_new(call, std::slice::from_ref(&level), "no key was created").await?;
    }
    let by = call.host.person().await?;
    let record = KeyRecord { label, ..KeyRecord::new(mode, level) };
    let made = keys::create(call.store, call.ledger, &call.author(&by)?, record).await?;
    let answer = Answer::done(&made, shown_once(&made.outcome))?;
    Ok(answer.failing_if(made.outcome.key.is_none()))
}

fn shown_once(made: &MadeKey) -> String {
    let key = match made.secret() {
        Ok(key) => key,
        Err(shown_before) => return sentence(&shown_before.to_string()),
    };
    let mode = made.row.note.as_ref().map_or("", |note| note.mode.name());
    let id = &made.row.name.id;
    format!(
        "{key}\n\nThis {mode} key is shown only once: store it now. `keys list` shows its ID, {id}."
    )
}

// ---- List ----------------------------------------------------------------------------------------

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
.answers("`keys`: for each `id`, `name`, `mode`, `unit` or `team`, `label`, `created`, `by`; `predecessor` and `successor`: the IDs of the keys that it replaced and that replaces it; `ends`: when it expires, if it does; `problem`: if its metadata cannot be read (then only `id` and `name` are present), or if it was created with another secret than the namespace's (as after a restore)");

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
    for level in
        [listing.unit.clone().map(KeyLevel::Unit), listing.team.clone().map(KeyLevel::Team)]
            .into_iter()
            .flatten()
    {
        level.check().map_err(invalid)?;
    }
    let (mut rows, _) = keys::list(call.store, None, usize::MAX).await?;
    rows.retain(|row| listing.has(row));
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

// ---- Rotate and revoke ---------------------------------------------------------------------------

const KEY: Argument = Argument::positional(
    "id",
    text("id"),
    "the key's ID as in `keys list`, or its whole hash; without it, the key itself is read from standard input",
)
.optional();

/// How long a rotated key may keep working: 0, or from 60 s, the shortest expiry that Workers KV accepts, to a year.
const KEEP: Kind = Kind::Duration { least: 60, most: 365 * 86_400 };

pub const ROTATE: Spec = Spec::changes(
    "keys",
    "rotate",
    "replace a key: create one with the same rights, and let the old one expire",
    &[
        KEY,
        Argument::option(
            "keep",
            KEEP,
            "how long the old key keeps working, such as 90s, 30m, 24h or 7d; 0 revokes it at once. If the \
             old key expires sooner already, that stays",
        )
        .required(),
    ],
)
.confirmed_if("the key was already replaced")
.answers("the members of `keys create`, for the new key; `predecessor`: the ID of the old key; `replaces`: `id` and `name` of the old key, `ends` (when it expires) and `revoked` (whether somebody revoked it at the same time)");

#[derive(Deserialize)]
pub struct Rotate {
    id: Option<String>,
    keep: u32,
}

/// Returns the key that the command is about: the argument or, without one, standard input, which keeps a key out of
/// the shell's history.
async fn meant<P: Ports>(call: &Call<'_, P>, id: Option<String>) -> Result<String> {
    let key = match id {
        Some(id) => id,
        None => String::from_utf8_lossy(&call.host.read("-").await?).into_owned(),
    };
    match key.trim() {
        "" => Err(Failure::Usage(
            "`<id>` is missing: give the ID of the key, or the key itself on standard input"
                .to_owned(),
        )),
        key => Ok(key.to_owned()),
    }
}

#[derive(Serialize)]
struct Replacement<'r> {
    #[serde(flatten)]
    made: &'r MadeKey,
    replaces: Replaced<'r>,
}

#[derive(Serialize)]
struct Replaced<'r> {
    #[serde(flatten)]
    name: &'r KeyName,
    #[serde(flatten)]
    end: &'r KeyExpiry,
}

pub async fn rotate<P: Ports>(call: &Call<'_, P>, Rotate { id, keep }: Rotate) -> Result<Answer> {
    let key = meant(call, id).await?;
    if !call.was_done().await?
        && let Some(KeyRow { name, note: Some(note), .. }) = keys::get(call.store, &key).await?
        && let Some(successor) = note.successor
    {
        let id = name.id;
        let question = format!("The key {id} was already replaced by {successor}. Create another?");
        call.host.confirm(&question, "nothing was done").await?;
    }
    let by = call.host.person().await?;
    let Done { outcome, before } =
        keys::rotate(call.store, call.ledger, &call.author(&by)?, &key, keep).await?;
    let Rotated { made, replaces, end } = outcome;
    match end {
        Ok(end) => {
            let text = format!("{}\n{}", shown_once(&made), ended(&replaces, &end, keep));
            let replaces = Replaced { name: &replaces, end: &end };
            let answer = Answer::new(&Replacement { made: &made, replaces }, text)?;
            Ok(answer.since(before.as_deref()).failing_if(made.key.is_none()))
        }
        Err(error) => Err(Failure::Partial(
            Box::new(not_ended(&made, &replaces, error)),
            Answer::new(&made, shown_once(&made))?,
        )),
    }
}

/// Returns the error for a rotation that could not end the old key. Both keys work.
fn not_ended(made: &MadeKey, old: &KeyName, error: OperatorError) -> Failure {
    let (new, old) = (&made.row.name.id, &old.id);
    invalid(format!(
        "the old key {old} still works, and so does the new key {new}: revoke one of them ({error})"
    ))
}

fn ended(
    KeyName { id, .. }: &KeyName,
    KeyExpiry { ends, revoked: is_revoked }: &KeyExpiry,
    keep: u32,
) -> String {
    match keep {
        _ if *is_revoked => format!("Somebody revoked {id} meanwhile; it stays revoked."),
        0 => revoked(id),
        _ => format!("{id} expires at {}.", time(ends)),
    }
}

pub const REVOKE: Spec = Spec::changes("keys", "revoke", "revoke a key", &[KEY])
    .confirmed()
    .answers("`id`, `name`, `revoked`");

#[derive(Deserialize)]
pub struct Revoke {
    id: Option<String>,
}

#[derive(Serialize)]
struct Revoked {
    #[serde(flatten)]
    name: KeyName,
    revoked: bool,
}

pub async fn revoke<P: Ports>(call: &Call<'_, P>, Revoke { id }: Revoke) -> Result<Answer> {
    let mut key = meant(call, id).await?;
    if !call.was_done().await?
        && let Some(row) = keys::get(call.store, &key).await?
    {
        let question = format!("Revoke {}, {}?", described(&row), call.place);
        call.host.confirm(&question, "nothing was revoked").await?;
        key = row.name.name;
    }
    let by = call.host.person().await?;
    let done = keys::revoke(call.store, call.ledger, &call.author(&by)?, &key).await?;
    let text = revoked(&done.outcome.id);
    Answer::done(&done.map(|name| Revoked { name, revoked: true }), text)
}

fn described(KeyRow { name: KeyName { id, .. }, note, problem }: &KeyRow) -> String {
    let Some(note) = note else {
        return format!("the key {id} ({})", problem.as_deref().unwrap_or_default());
    };
    let label = match &*note.label {
        "" => String::new(),
        label => format!(", “{label}”"),
    };
    format!("the {} key {id} of the {}{label}", note.mode.name(), whose(&note.level))
}

fn revoked(id: &str) -> String {
    format!("{id} is revoked. The service rejects it everywhere within about {REFUSED_SECONDS} s.")
}
