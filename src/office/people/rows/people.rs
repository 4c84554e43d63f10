//! The people who may sign in to the dashboard for a unit or a team. A change takes effect at the person's next request.

use crate::office::shared::rows::port::{Ledger, LedgerError, Query, Result, ask};
use crate::pledges::auth::KeyLevel;
use crate::pledges::time::date_time;
use serde::{Deserialize, Serialize};
use strum::{EnumIter, IntoStaticStr};

/// Maximum number of a team's units that a person gets access to.
pub const MAX_UNITS: usize = 10_000;
/// Maximum number of people of one unit or team.
pub const MAX_PEOPLE: usize = 200;

/// What a person may do in a unit or a team.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    EnumIter,
    IntoStaticStr,
    Serialize,
    Deserialize,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum PersonRole {
    /// May see usage, and transactions with masked personal data.
    Viewer,
    /// May also find transactions, see them unmasked, resend e-mails and erase personal data. May change the
    /// API keys, the profile, and the people who may sign in.
    Manager,
}

impl PersonRole {
    /// Returns the name, such as `manager`.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

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
    let rows = ask(ledger, &OnePerson { place: &place_text(place), address }).await?;
    Ok(rows.into_iter().next().map(PersonRow::read))
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

/// Selects a person's memberships, with the units of each team.
///
/// The names of a team's units are between `member:{team}:` and `member:{team};`, because `;` is the character after `:`.
impl Query for Memberships<'_> {
    type Row = MembershipRow;
    const SQL: &'static str = "SELECT json_object('place', p.place, 'role', p.role, 'units', json((
  SELECT json_group_array(unit) FROM (
    SELECT substr(m.name, length(p.place) + 4) AS unit FROM published m
    WHERE p.place LIKE 'team:%' AND m.content IS NOT NULL
      AND m.name > 'member:' || substr(p.place, 6) || ':' AND m.name < 'member:' || substr(p.place, 6) || ';'
    ORDER BY m.name LIMIT ?1 ->> '$.most'
  )
)))
FROM people p WHERE p.address = ?1 ->> '$.address' ORDER BY p.place";
}

#[derive(Deserialize)]
pub(crate) struct PersonRow {
    address: String,
    role: PersonRole,
    pub at: u64,
    pub author: String,
    by_shop: u8,
}

impl PersonRow {
    pub fn read(self) -> Person {
        let PersonRow { address, role, at, author, by_shop } = self;
        Person { address, role, created: date_time(at), by: author, by_shop: by_shop != 0 }
    }
}

macro_rules! columns {
    () => {
        "SELECT json_object('address', address, 'role', role, 'at', at, 'author', author,
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
        "WHERE place = ?1 ->> '$.place' ORDER BY address
LIMIT ?1 ->> '$.most' OFFSET ?1 ->> '$.skipped'"
    );
}

#[derive(Serialize)]
pub(crate) struct OnePerson<'a> {
    pub place: &'a str,
    pub address: &'a str,
}

impl Query for OnePerson<'_> {
    type Row = PersonRow;
    const SQL: &'static str =
        concat!(columns!(), "WHERE address = ?1 ->> '$.address' AND place = ?1 ->> '$.place'");
}
