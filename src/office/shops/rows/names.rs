//! The names of registered units and teams. A search finds them by the beginning of any word in their ID or
//! name.
//!
//! The register and the profiles in Workers KV remain the system of record. A reconciliation pass copies IDs
//! and names from them to the ledger. When a profile is changed, its name is copied at once.

use crate::buyer::recipient::Profile;
use crate::office::shared::rows::port::{Ledger, Query, Result, ask};
use crate::pledges::order_number::folded;
use crate::pledges::store::{
    Key as _, ListPage, MAX_READS, OperatorStore, ProfileKey, StoreError, TeamKey, UnitKey, present,
};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NameKind {
    /// A unit, which is one shop.
    Unit,
    Team,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Name {
    /// Unit or team.
    pub kind: NameKind,
    pub id: String,
    /// The name in the unit's profile. Empty for a team, and for a unit without a name.
    pub name: String,
}

/// Finds at most `most` units and teams whose ID or name has a word that begins with this text, sorted by ID. Case is ignored.
/// One query, which reads all names.
pub async fn find(ledger: &dyn Ledger, text: &str, most: usize) -> Result<Vec<Name>> {
    let words = words(text);
    match words.as_str() {
        "" => Ok(Vec::new()),
        _ => ask(ledger, &Find { words, most }).await,
    }
}

/// Returns these units with their names, except those without a name. One query, which reads only their rows.
pub(crate) async fn of_units(ledger: &dyn Ledger, units: &[&str]) -> Result<Vec<Name>> {
    ask(ledger, &OfUnits { units }).await
}

/// Writes what the ledger has of a unit's profile: its name, and whether it publishes its total. The unit must be
/// registered.
pub async fn set(ledger: &dyn Ledger, unit: &str, profile: &Profile) -> Result<()> {
    ask(ledger, &Set { names: &[Row::of_unit(unit, Some(profile))] }).await.map(drop)
}

pub async fn remove(ledger: &dyn Ledger, unit: &str) -> Result<()> {
    ask(ledger, &Remove { kind: NameKind::Unit, id: unit }).await.map(drop)
}

/// Maximum number of list pages that are copied from the register: 10 pages (10,000 IDs) of units, and 10 pages of
/// teams.
const MAX_PAGES: usize = 10;

/// Copies the names of the registered units and teams. KV cost: 1 list per 1,000 of them, and 1 read per 100 units.
pub(crate) async fn copy(
    ledger: &dyn Ledger,
    store: &impl OperatorStore,
) -> Result<(), StoreError> {
    copy_kind(ledger, store, (NameKind::Unit, UnitKey::PREFIX)).await?;
    copy_kind(ledger, store, (NameKind::Team, TeamKey::PREFIX)).await
}

async fn copy_kind(
    ledger: &dyn Ledger,
    store: &impl OperatorStore,
    (kind, prefix): (NameKind, &str),
) -> Result<(), StoreError> {
    let (mut after, mut cursor) = (String::new(), None);
    for _ in 0..MAX_PAGES {
        let ListPage { records, cursor: next } = store.list(prefix, cursor.as_deref()).await?;
        let ids: Vec<_> = records.iter().filter_map(|it| it.name.strip_prefix(prefix)).collect();
        let until = next.as_ref().and(ids.last()).copied();
        if next.is_some() && until.is_none() {
            cursor = next; // where much was removed, KV returns pages without names
            continue;
        }
        let names = match kind {
            NameKind::Unit => with_profiles(store, &ids).await?,
            NameKind::Team => ids.iter().map(|id| Row::new(kind, id, "")).collect(),
        };
        replace(ledger, kind, (&after, until), names).await?;
        let Some(until) = until else { break };
        (after, cursor) = (until.to_owned(), next);
    }
    Ok(())
}

async fn with_profiles(store: &impl OperatorStore, ids: &[&str]) -> Result<Vec<Row>, StoreError> {
    let mut names = Vec::with_capacity(ids.len());
    for some in ids.chunks(MAX_READS) {
        let keys: Vec<_> = some.iter().map(|id| ProfileKey(id)).collect();
        let values = store.get_values(&keys).await?;
        names.extend(some.iter().zip(values).map(|(id, value)| {
            let record = value.and_then(present::<ProfileKey<'_>>);
            let profile = record.and_then(|record| serde_json::from_slice::<Profile>(&record).ok());
            Row::of_unit(id, profile.as_ref())
        }));
    }
    Ok(names)
}

/// Replaces the names of units, or of teams, whose IDs are after `after`, up to and including `until`. If `until` is
/// `None`, there is no upper limit. Rows that are already correct are not written.
async fn replace(
    ledger: &dyn Ledger,
    kind: NameKind,
    (after, until): (&str, Option<&str>),
    names: Vec<Row>,
) -> Result<()> {
    let ids = names.iter().map(|row| &*row.name.id).collect();
    let statements =
        [Gone { kind, after, until, ids }.statement()?, Set { names: &names }.statement()?];
    ledger.run(&statements).await.map(drop)
}

/// Returns the words of a text in a case-insensitive form, each preceded by a space. So a search for a space and some
/// letters finds the words that begin with these letters. Punctuation such as `-` also separates words, because IDs
/// have no spaces.
fn words(text: &str) -> String {
    let separated = text.chars().map(|character| match character {
        '-' | '_' | '.' | ':' | '/' => ' ',
        other => other,
    });
    let folded = folded(separated);
    folded.split_whitespace().flat_map(|word| [" ", word]).collect()
}

#[derive(Serialize)]
struct Row {
    #[serde(flatten)]
    name: Name,
    folded: String,
    has_total: bool,
}

impl Row {
    fn new(kind: NameKind, id: &str, name: &str) -> Self {
        let folded = [words(id), words(name)].concat();
        let name = Name { kind, id: id.to_owned(), name: name.to_owned() };
        Row { name, folded, has_total: false }
    }

    fn of_unit(unit: &str, profile: Option<&Profile>) -> Self {
        let name = profile.map(Profile::name).unwrap_or_default();
        let has_total = profile.is_some_and(|profile| profile.public_total);
        Row { has_total, ..Row::new(NameKind::Unit, unit, name) }
    }
}

#[derive(Serialize)]
struct Find {
    words: String,
    most: usize,
}

impl Query for Find {
    type Row = Name;
    const SQL: &'static str = "SELECT json_object('kind', kind, 'id', id, 'name', name) FROM names
WHERE instr(folded, ?1 ->> '$.words') > 0 ORDER BY id, kind LIMIT ?1 ->> '$.most'";
}

#[derive(Serialize)]
struct OfUnits<'a> {
    units: &'a [&'a str],
}

impl Query for OfUnits<'_> {
    type Row = Name;
    const SQL: &'static str = "SELECT json_object('kind', kind, 'id', id, 'name', name) FROM names
WHERE kind = 'unit' AND id IN (SELECT value FROM json_each(?1, '$.units')) AND name <> ''";
}

#[derive(Serialize)]
struct Set<'a> {
    names: &'a [Row],
}

impl Query for Set<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO names (kind, id, name, folded, has_total)
SELECT value ->> '$.kind', value ->> '$.id', value ->> '$.name', value ->> '$.folded', value ->> '$.has_total'
FROM json_each(?1, '$.names') WHERE true
ON CONFLICT DO UPDATE SET name = excluded.name, folded = excluded.folded, has_total = excluded.has_total
WHERE (excluded.name, excluded.folded, excluded.has_total) IS NOT (names.name, names.folded, names.has_total)";
}

#[derive(Serialize)]
struct Remove<'a> {
    kind: NameKind,
    id: &'a str,
}

impl Query for Remove<'_> {
    type Row = ();
    const SQL: &'static str =
        "DELETE FROM names WHERE kind = ?1 ->> '$.kind' AND id = ?1 ->> '$.id'";
}

#[derive(Serialize)]
struct Gone<'a> {
    kind: NameKind,
    after: &'a str,
    until: Option<&'a str>,
    ids: Vec<&'a str>,
}

impl Query for Gone<'_> {
    type Row = ();
    const SQL: &'static str = "DELETE FROM names
WHERE kind = ?1 ->> '$.kind' AND id > ?1 ->> '$.after' AND id <= ifnull(?1 ->> '$.until', char(1114111))
  AND id NOT IN (SELECT value FROM json_each(?1, '$.ids'))";
}
