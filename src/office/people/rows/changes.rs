//! Adds and removes people of a unit or a team. The statement of each change also checks that the sender of the
//! form may still make it.

use super::people::{MAX_PEOPLE, OnePerson, Person, PersonRole, PersonRow, place_text};
use crate::office::shared::rows::port::{Ledger, LedgerError, Query, Result};
use crate::pledges::auth::KeyLevel;
use serde::Serialize;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Added {
    Person(Person),
    /// Nobody was added, because the unit or team has [`MAX_PEOPLE`] people.
    Full,
    /// Nobody was added, because the sender is no longer a manager.
    NoRight,
}

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

/// Adds a person, unless the unit or team already has this person. If two calls add the same person at the same
/// time, both return the row of the first one.
///
/// If a person of a shop sent the form, `sender` is this person's [normal address](super::people::normal_address).
/// The statement that adds the person also checks that the sender is a manager.
pub async fn add(
    ledger: &dyn Ledger,
    place: &KeyLevel,
    person: &NewPerson<'_>,
    sender: Option<&str>,
) -> Result<Added> {
    let place = place_text(place);
    let add = Add { place: &place, person, sender, most: MAX_PEOPLE }.statement()?;
    let get = OnePerson { place: &place, address: person.address }.statement()?;
    let may = SenderMay { place: &place, sender }.statement()?;
    let answers = ledger.run(&[add, get, may]).await?;
    let [_, found, may] = answers.as_slice() else { return Err(LedgerError::Damaged) };
    let found = OnePerson::rows(found)?.into_iter().next();
    let may = !SenderMay::rows(may)?.is_empty();
    let is_ours = |row: &PersonRow| row.at == person.at && row.author == person.by;
    Ok(match found {
        Some(row) if may || is_ours(&row) => Added::Person(row.read()),
        None if may => Added::Full,
        _ => Added::NoRight,
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removable {
    All,
    /// A manager may be removed only if the unit or team has another manager.
    NotTheLast,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removed {
    /// The person is removed after the call. The person may have been removed before.
    Gone,
    /// The person was not removed, because `which` protects the last manager.
    LastManager,
    /// The person was not removed, because the sender is no longer a manager.
    NoRight,
}

/// Removes the person with this [normal address](super::people::normal_address). `sender` is as for [`add`].
pub async fn remove(
    ledger: &dyn Ledger,
    place: &KeyLevel,
    address: &str,
    sender: Option<&str>,
    which: Removable,
) -> Result<Removed> {
    let (place, may_be_last) = (place_text(place), which == Removable::All);
    let remove = Remove { place: &place, address, may_be_last, sender }.statement()?;
    let get = OnePerson { place: &place, address }.statement()?;
    let may = SenderMay { place: &place, sender }.statement()?;
    let answers = ledger.run(&[remove, get, may]).await?;
    let [_, left, may] = answers.as_slice() else { return Err(LedgerError::Damaged) };
    Ok(match (OnePerson::rows(left)?.is_empty(), SenderMay::rows(may)?.is_empty()) {
        (true, _) => Removed::Gone,
        (false, true) => Removed::NoRight,
        (false, false) => Removed::LastManager,
    })
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
    type Row = u8;
    const SQL: &'static str = concat!("SELECT '1' WHERE ", sender_may!());
}

#[derive(Serialize)]
struct Add<'a> {
    place: &'a str,
    person: &'a NewPerson<'a>,
    sender: Option<&'a str>,
    most: usize,
}

impl Query for Add<'_> {
    type Row = ();
    const SQL: &'static str = concat!(
        "INSERT INTO people (place, address, role, at, author, by_shop)
SELECT ?1 ->> '$.place', ?1 ->> '$.person.address', ?1 ->> '$.person.role', ?1 ->> '$.person.at', ?1 ->> '$.person.by',
  ?1 ->> '$.person.by_shop'
WHERE (SELECT count(*) FROM people WHERE place = ?1 ->> '$.place') < ?1 ->> '$.most'
  AND ",
        sender_may!(),
        "
ON CONFLICT DO NOTHING"
    );
}

#[derive(Serialize)]
struct Remove<'a> {
    place: &'a str,
    address: &'a str,
    may_be_last: bool,
    sender: Option<&'a str>,
}

/// Removes a person. With `may_be_last` false, does not remove the last manager. If two managers then remove
/// each other at the same time, only one of them is removed: the statements run one after the other.
impl Query for Remove<'_> {
    type Row = ();
    const SQL: &'static str = concat!(
        "DELETE FROM people
WHERE place = ?1 ->> '$.place' AND address = ?1 ->> '$.address'
  AND (role <> 'manager' OR ?1 ->> '$.may_be_last' OR EXISTS (
    SELECT 1 FROM people other
    WHERE other.place = ?1 ->> '$.place' AND other.role = 'manager' AND other.address <> ?1 ->> '$.address'
  ))
  AND ",
        sender_may!()
    );
}
