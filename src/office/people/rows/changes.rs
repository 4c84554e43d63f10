//! Adds and removes people of a unit or a team. The transaction of each change also checks that the sender of the
//! form may still make it.

use super::people::{MAX_PEOPLE, PersonRole, place_text};
use crate::office::shared::rows::port::{Ledger, Query, Result, Statement, ask};
use crate::pledges::auth::KeyLevel;
use serde::Serialize;

/// A person to add.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct NewPerson<'a> {
    /// The [normal address](super::people::normal_address).
    pub address: &'a str,
    pub role: PersonRole,
    /// Who adds the person.
    pub by: &'a str,
    /// Whether somebody of a shop adds the person, and not an operator.
    pub by_shop: bool,
    /// When the person is added, in milliseconds since 1970.
    pub at: u64,
}

/// Returns the statements that add a person. They fail if the unit or team already has this person or [`MAX_PEOPLE`]
/// people, or if the sender is no longer a manager.
///
/// If a person of a shop sent the form, `sender` is this person's [normal address](super::people::normal_address).
pub(crate) fn adding(
    place: &KeyLevel,
    person: &NewPerson<'_>,
    sender: Option<&str>,
) -> Result<[Statement; 3]> {
    let place = &place_text(place);
    let has_room = HasRoom { place, most: MAX_PEOPLE }.statement()?;
    Ok([SenderMay { place, sender }.statement()?, has_room, Add { place, person }.statement()?])
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removable {
    All,
    /// A manager may be removed only if the unit or team has another manager.
    NotTheLast,
}

/// Returns the statements that remove the person with this [normal address](super::people::normal_address). They fail if
/// `which` protects the person, or if the sender is no longer a manager. `sender` is as for [`adding`].
pub(crate) fn removing(
    place: &KeyLevel,
    address: &str,
    sender: Option<&str>,
    which: Removable,
) -> Result<[Statement; 3]> {
    let (place, may_be_last) = (&place_text(place), which == Removable::All);
    let is_not_last = IsNotTheLast { place, address, may_be_last }.statement()?;
    let remove = Remove { place, address }.statement()?;
    Ok([SenderMay { place, sender }.statement()?, is_not_last, remove])
}

/// Returns the statement that fails if the sender of a form is no longer a manager of a unit. `sender` is as for [`adding`].
pub(crate) fn sender_may(unit: &str, sender: Option<&str>) -> Result<Statement> {
    SenderMay { place: &["unit:", unit].concat(), sender }.statement()
}

/// Returns whether the sender of a form may change the people of a unit or a team. One query.
pub async fn may_change(
    ledger: &dyn Ledger,
    place: &KeyLevel,
    sender: Option<&str>,
) -> Result<bool> {
    let may = MayChange(SenderMay { place: &place_text(place), sender });
    Ok(!ask(ledger, &may).await?.is_empty())
}

// ---- Queries -------------------------------------------------------------------------------------

/// An SQL condition: whether the sender of a form may change the people of a unit or a team. `$sender` is the address
/// of a person of a shop, who must be a manager of the place or of a team that has the unit; NULL for an operator.
macro_rules! sender_may {
    () => {
        "(?1 ->> '$.sender' IS NULL OR EXISTS (
  SELECT 1 FROM people s WHERE s.address = ?1 ->> '$.sender' AND s.role = 'manager' AND (
    s.place = ?1 ->> '$.place' OR (s.place LIKE 'team:%' AND ?1 ->> '$.place' LIKE 'unit:%' AND EXISTS (
      SELECT 1 FROM published m WHERE m.content IS NOT NULL
        AND m.name = 'member:' || substr(s.place, 6) || ':' || substr(?1 ->> '$.place', 6)
    ))
  )
))"
    };
}

#[derive(Serialize)]
struct SenderMay<'a> {
    place: &'a str,
    sender: Option<&'a str>,
}

impl Query for SenderMay<'_> {
    type Row = ();
    const SQL: &'static str = concat!("INSERT INTO preconditions (holds) SELECT ", sender_may!());
}

#[derive(Serialize)]
struct MayChange<'a>(SenderMay<'a>);

impl Query for MayChange<'_> {
    type Row = u8;
    const SQL: &'static str = concat!("SELECT '1' WHERE ", sender_may!());
}

#[derive(Serialize)]
struct HasRoom<'a> {
    place: &'a str,
    most: usize,
}

impl Query for HasRoom<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO preconditions (holds)
SELECT count(*) < ?1 ->> '$.most' FROM people WHERE place = ?1 ->> '$.place'";
}

#[derive(Serialize)]
struct Add<'a> {
    place: &'a str,
    person: &'a NewPerson<'a>,
}

impl Query for Add<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO people (place, address, role, at, author, by_shop)
VALUES (?1 ->> '$.place', ?1 ->> '$.person.address', ?1 ->> '$.person.role', ?1 ->> '$.person.at', ?1 ->> '$.person.by',
  ?1 ->> '$.person.by_shop')";
}

/// Fails if the person is the last manager and `may_be_last` is false. If two managers remove each other at the same time,
/// only one of them is removed: the transactions run one after the other.
#[derive(Serialize)]
struct IsNotTheLast<'a> {
    place: &'a str,
    address: &'a str,
    may_be_last: bool,
}

impl Query for IsNotTheLast<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO preconditions (holds) SELECT ?1 ->> '$.may_be_last' OR NOT EXISTS (
  SELECT 1 FROM people WHERE place = ?1 ->> '$.place' AND address = ?1 ->> '$.address' AND role = 'manager'
) OR EXISTS (
  SELECT 1 FROM people WHERE place = ?1 ->> '$.place' AND address <> ?1 ->> '$.address' AND role = 'manager'
)";
}

#[derive(Serialize)]
struct Remove<'a> {
    place: &'a str,
    address: &'a str,
}

impl Query for Remove<'_> {
    type Row = ();
    const SQL: &'static str =
        "DELETE FROM people WHERE place = ?1 ->> '$.place' AND address = ?1 ->> '$.address'";
}
