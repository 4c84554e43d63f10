//! The people who may sign in to the dashboard for a unit or a team.
//!
//! The rows decide who may sign in, so a change takes effect at once. Workers KV has a copy of each row.
//!
//! The row of a removed person is kept for a day, without the address. So a copy that is still in KV does not
//! bring the person back. A row without a copy gives access only until the next reconciliation pass deletes
//! it.

use crate::office::shared::rows::claims::recent;
use crate::office::shared::rows::port::{Ledger, LedgerError, Query, Result, ask};
use crate::pledges::auth::KeyLevel;
use crate::pledges::store::{PersonNote, PersonRole};
use crate::pledges::time::{DAY_MS, date_time};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Maximum number of a team's units that a person gets access to.
pub const MAX_UNITS: usize = 10_000;
/// Maximum number of people of one unit or team.
pub const MAX_PEOPLE: usize = 200;

/// What a person may do in a unit, or in all units of a team.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Membership {
    #[serde(flatten)]
    pub place: KeyLevel,
    pub role: PersonRole,
    /// The units: the unit itself, or the team's first [`MAX_UNITS`] units.
    pub units: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Person {
    /// The name of the person's record in KV, without its prefix.
    #[serde(skip)]
    pub name: String,
    /// The e-mail address, in lower case.
    pub address: String,
    pub role: PersonRole,
    /// When the person was added, an RFC 3339 date-time.
    pub created: String,
    pub by: String,
    /// Whether the person was added by somebody of a shop, and not by an operator.
    #[serde(rename = "byShop", skip_serializing_if = "std::ops::Not::not")]
    pub by_shop: bool,
}

/// Returns `unit:{id}` or `team:{id}`. Rows, and the names of records, contain a unit or a team in this form.
pub fn place_text(place: &KeyLevel) -> String {
    let kind = if matches!(place, KeyLevel::Unit(_)) { "unit:" } else { "team:" };
    [kind, place.id()].concat()
}

/// Parses the text of [`place_text`]. Returns `None` for any other text.
pub fn parse_place(text: &str) -> Option<KeyLevel> {
    let (kind, id) = text.split_once(':')?;
    let place = match kind {
        "unit" => KeyLevel::Unit(id.to_owned()),
        "team" => KeyLevel::Team(id.to_owned()),
        _ => return None,
    };
    place.check().is_ok().then_some(place)
}

/// Returns an address in the form in which addresses are compared: without white space around it, and with ASCII
/// letters in lower case. Other letters keep their case, because it distinguishes addresses.
pub fn normal_address(address: &str) -> String {
    address.trim_ascii().to_ascii_lowercase()
}

/// Returns the memberships of a [normal address](normal_address). One query.
pub async fn memberships(ledger: &dyn Ledger, address: &str) -> Result<Vec<Membership>> {
    let rows = ask(ledger, &Memberships { address, most: MAX_UNITS }).await?;
    rows.into_iter().map(MembershipRow::read).collect()
}

/// Some of the people of a unit or a team, sorted by address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeopleList {
    /// At most [`MAX_PEOPLE`] people.
    pub people: Vec<Person>,
    /// Whether more people follow. A restore can add people beyond [`MAX_PEOPLE`].
    pub has_more: bool,
}

/// Returns the people of a unit or a team, after the first `skipped` people. One query.
pub async fn people(ledger: &dyn Ledger, place: &KeyLevel, skipped: usize) -> Result<PeopleList> {
    let query = People { place: place_text(place), most: MAX_PEOPLE + 1, skipped };
    let rows = ask(ledger, &query).await?;
    let has_more = rows.len() > MAX_PEOPLE;
    let people = rows.into_iter().take(MAX_PEOPLE).map(PersonRow::read).collect();
    Ok(PeopleList { people, has_more })
}

/// Finds the person with this e-mail address among the people of a unit or a team. Returns `None` if nobody
/// has the address. One query.
pub async fn person(
    ledger: &dyn Ledger,
    place: &KeyLevel,
    address: &str,
) -> Result<Option<Person>> {
    let rows = ask(ledger, &OnePerson { place: place_text(place), address }).await?;
    Ok(rows.into_iter().next().map(PersonRow::read))
}

// ---- Import --------------------------------------------------------------------------------------

/// A person's record in KV.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct FoundPerson<'a> {
    /// The record's name, without its prefix.
    pub name: &'a str,
    /// The unit or team, as [`place_text`] writes it.
    pub place: &'a str,
    /// The record's metadata.
    #[serde(flatten)]
    pub note: PersonNote,
    /// When the person was added, in milliseconds since 1970.
    pub at: u64,
}

#[derive(Serialize)]
pub(crate) struct PeoplePage<'a> {
    after: &'a str,
    until: Option<&'a str>,
    names: &'a [&'a str],
    found: &'a [FoundPerson<'a>],
    since: u64,
    ahead: u64,
    day_ago: u64,
}

impl<'a> PeoplePage<'a> {
    /// Describes a page of the list: all `names` after the name `after`, up to and including `until`. If
    /// `until` is `None`, the page reaches the end of the list.
    ///
    /// `found` are the records of the page that can be read. `times` begins when the page was requested, and
    /// ends now.
    pub fn new(
        (after, until): (&'a str, Option<&'a str>),
        names: &'a [&'a str],
        found: &'a [FoundPerson<'a>],
        times: RangeInclusive<u64>,
    ) -> Self {
        let (asked, now) = times.into_inner();
        let (since, ahead) = (*recent(asked).start(), *recent(now).end());
        PeoplePage {
            after,
            until,
            names,
            found,
            since,
            ahead,
            day_ago: asked.saturating_sub(DAY_MS),
        }
    }
}

/// Updates the rows from the records in KV: adds people whom only KV has, and deletes people whom KV does not
/// have. Leaves out rows that changed recently. A record from before a person's removal does not add the
/// person again.
///
/// Also removes a person whose record is older than the person's row. In this case the record that belongs to
/// the row was never written, and the older record may have another role.
pub(crate) async fn import(ledger: &dyn Ledger, page: &PeoplePage<'_>) -> Result<()> {
    let statements =
        [Lost(page).statement()?, Outdated(page).statement()?, Found(page).statement()?];
    ledger.run(&statements).await.map(drop)
}

// ---- Queries -------------------------------------------------------------------------------------

#[derive(Serialize)]
struct Memberships<'a> {
    address: &'a str,
    most: usize,
}

#[derive(Deserialize)]
struct MembershipRow {
    place: String,
    role: PersonRole,
    units: Option<Vec<String>>,
}

impl MembershipRow {
    fn read(self) -> Result<Membership> {
        let place = parse_place(&self.place).ok_or(LedgerError::Damaged)?;
        let units = match &place {
            KeyLevel::Unit(unit) => vec![unit.clone()],
            KeyLevel::Team(_) => self.units.unwrap_or_default(),
        };
        Ok(Membership { place, role: self.role, units })
    }
}

/// Selects a person's memberships, with the units of each team. Only claims in the state `kept` count. So
/// units that are being added to a team or removed from it are left out.
///
/// The names of a team's claims are between `{team}:` and `{team};`, because `;` is the character after `:`.
impl Query for Memberships<'_> {
    type Row = MembershipRow;
    const SQL: &'static str = "SELECT json_object('place', p.place, 'role', p.role, 'units', json((
  SELECT json_group_array(unit) FROM (
    SELECT substr(c.name, length(p.place) - 3) AS unit FROM claims c
    WHERE p.place LIKE 'team:%' AND c.kind = 'member' AND c.state = 'kept'
      AND c.name > substr(p.place, 6) || ':' AND c.name < substr(p.place, 6) || ';'
    ORDER BY c.name LIMIT ?1 ->> '$.most'
  )
)))
FROM people p WHERE p.address = ?1 ->> '$.address' ORDER BY p.place";
}

#[derive(Deserialize)]
pub(crate) struct PersonRow {
    name: String,
    address: String,
    role: PersonRole,
    pub at: u64,
    pub author: String,
    by_shop: u8,
}

impl PersonRow {
    pub fn read(self) -> Person {
        let PersonRow { name, address, role, at, author, by_shop } = self;
        Person { name, address, role, created: date_time(at), by: author, by_shop: by_shop != 0 }
    }
}

macro_rules! columns {
    () => {
        "SELECT json_object('name', name, 'address', address, 'role', role, 'at', at, 'author', author,
  'by_shop', by_shop) FROM people "
    };
}

#[derive(Serialize)]
struct People {
    place: String,
    most: usize,
    skipped: usize,
}

impl Query for People {
    type Row = PersonRow;
    const SQL: &'static str = concat!(
        columns!(),
        "WHERE place = ?1 ->> '$.place' AND address IS NOT NULL ORDER BY address, name
LIMIT ?1 ->> '$.most' OFFSET ?1 ->> '$.skipped'"
    );
}

#[derive(Serialize)]
pub(crate) struct OnePerson<'a> {
    pub place: String,
    pub address: &'a str,
}

impl Query for OnePerson<'_> {
    type Row = PersonRow;
    const SQL: &'static str =
        concat!(columns!(), "WHERE address = ?1 ->> '$.address' AND place = ?1 ->> '$.place'");
}

#[derive(Serialize)]
struct Lost<'a>(&'a PeoplePage<'a>);

/// Deletes the rows of people whom the page of KV's list does not contain. Keeps the row of a removed person
/// for a day.
impl Query for Lost<'_> {
    type Row = ();
    const SQL: &'static str = "DELETE FROM people
WHERE name > ?1 ->> '$.after' AND name <= ifnull(?1 ->> '$.until', char(1114111))
  AND at NOT BETWEEN ?1 ->> '$.since' AND ?1 ->> '$.ahead' AND (address IS NOT NULL OR at < ?1 ->> '$.day_ago')
  AND name NOT IN (SELECT value FROM json_each(?1, '$.names'))";
}

#[derive(Serialize)]
struct Outdated<'a>(&'a PeoplePage<'a>);

/// Removes people whose records are older than their rows.
impl Query for Outdated<'_> {
    type Row = ();
    const SQL: &'static str = "UPDATE people SET address = NULL, role = NULL
WHERE address IS NOT NULL AND at NOT BETWEEN ?1 ->> '$.since' AND ?1 ->> '$.ahead' AND name IN (
  SELECT value ->> '$.name' FROM json_each(?1, '$.found')
  WHERE value ->> '$.at' < (SELECT at FROM people own WHERE own.name = value ->> '$.name')
)";
}

#[derive(Serialize)]
struct Found<'a>(&'a PeoplePage<'a>);

impl Query for Found<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO people (name, place, address, role, at, author, by_shop)
SELECT value ->> '$.name', value ->> '$.place', value ->> '$.address', value ->> '$.role', value ->> '$.at', value ->> '$.by',
  ifnull(value ->> '$.byShop', 0)
FROM json_each(?1, '$.found') WHERE true
ON CONFLICT DO UPDATE SET address = excluded.address, role = excluded.role, at = excluded.at, author = excluded.author,
  by_shop = excluded.by_shop
WHERE excluded.at > people.at AND people.at NOT BETWEEN ?1 ->> '$.since' AND ?1 ->> '$.ahead'";
}
