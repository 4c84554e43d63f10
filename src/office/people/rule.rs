//! The people of shops: who may sign in to the dashboard for a unit, or for all units of a team, and with
//! which role.
//!
//! The ledger's rows decide who may sign in, so a removal takes effect at the person's next request.

use super::rows::changes;
use super::rows::changes::{NewPerson, Removable};
use super::rows::people as rows;
use super::rows::people::{MAX_PEOPLE, PeopleList, Person, PersonRole, place_text};
use crate::buyer::visible::{is_invisible, is_line};
use crate::office::audit::rule::{Author, Subject};
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::commit::{Commit, commit};
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::ids::check_level;
use crate::office::shared::rule::once::{Done, StoredAsIs};
use crate::office::shared::rule::refused::RefusalCode;
use crate::office::shops::rule::register;
use crate::office::system::rule::epoch;
use crate::pledges::auth::KeyLevel;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{OperatorStore, Registered};
use crate::pledges::time::parse_ms;
use crate::pledges::validate::format::is_email;
use serde::{Deserialize, Serialize};

const ADD: &str = "people add";
const REMOVE: &str = "people remove";
/// Longest e-mail address, in bytes.
const MAX_ADDRESS_BYTES: usize = 254;

pub use super::rows::people::normal_address;

/// Whether a text is an e-mail address. Letters of any script are allowed. Invisible characters are
/// not allowed, because the address would look like another one in a list.
pub fn is_address(text: &str) -> bool {
    if text.chars().any(|it| it != ' ' && is_invisible(it)) {
        return false;
    }
    let ascii: String = text.chars().map(|it| if it.is_ascii() { it } else { 'x' }).collect();
    is_email(ascii.as_bytes())
}

/// Checks the address of a person, and the ID of the person's unit or team.
///
/// # Errors
/// If one of them is not valid.
pub fn check(place: &KeyLevel, address: &str) -> Result<()> {
    PlacedPerson::check(place, address).map(drop)
}

/// A person, with the unit or team to which the person belongs. The e-mail address is in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PlacedPerson {
    place: KeyLevel,
    address: String,
}

impl PlacedPerson {
    fn check(place: &KeyLevel, address: &str) -> Result<Self> {
        check_level(place)?;
        let address = normal_address(address);
        if is_address(&address) && is_line(&address, MAX_ADDRESS_BYTES) {
            return Ok(PlacedPerson { place: place.clone(), address });
        }
        let problem = format!(
            "nothing was changed: this is not an e-mail address of at most {MAX_ADDRESS_BYTES} bytes"
        );
        Err(OperatorError::at("address", RefusalCode::Invalid, problem))
    }

    /// Returns the arguments that identify an operation. Only a hash of the arguments is stored, which hides
    /// the e-mail address.
    fn arguments<T>(&self, more: T) -> (String, &str, T) {
        (place_text(&self.place), &self.address, more)
    }

    /// Returns what the audit log records: the unit or team, the address, and for an added person the role.
    fn changed(&self, role: Option<PersonRole>) -> Subject {
        let role = role.map(PersonRole::name);
        Subject::of(self.place.clone(), std::iter::once(&*self.address).chain(role))
    }

    async fn row(&self, ledger: &dyn Ledger) -> Result<Option<Person>> {
        Ok(rows::person(ledger, &self.place, &self.address).await?)
    }

    /// Returns the error that says why the person was not added.
    async fn not_added(&self, ledger: &dyn Ledger, sender: Option<&str>) -> Result<OperatorError> {
        if !changes::may_change(ledger, &self.place, sender).await? {
            return Ok(OperatorError::lost_right());
        }
        Ok(match self.row(ledger).await? {
            Some(row) => self.has_another_role(row.role),
            None => OperatorError::invalid(format!(
                "nothing was changed: a unit or a team has at most {MAX_PEOPLE} people. Remove a person first"
            )),
        })
    }

    /// Returns the error for adding a person who already has a different role. `role` is the role that the
    /// person has.
    fn has_another_role(&self, role: PersonRole) -> OperatorError {
        let problem = format!(
            "nothing was changed: this person already has the role {}. To change the role, remove the \
             person first",
            role.name()
        );
        OperatorError::at("role", RefusalCode::NotAllowed, problem)
    }
}

/// The outcome of adding a person. It does not contain the address, because outcomes are stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddedPerson {
    #[serde(flatten)]
    pub place: KeyLevel,
    pub role: PersonRole,
    /// Whether the person had this role before, so that nothing was changed.
    pub already: bool,
}

impl StoredAsIs for AddedPerson {}

/// Adds a person to a unit or a team, and registers the unit or team if it is not registered. Ledger cost: 3 queries. KV
/// cost: at most 3 reads and 3 writes.
///
/// # Errors
/// - If the ID or the address is not valid.
/// - If the person already has another role in the unit or team.
/// - If the unit or team has [`MAX_PEOPLE`] people, or the author is no longer its manager.
/// - If the ledger or the store fails. The person may have been added then.
pub async fn add(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    (place, address): (&KeyLevel, &str),
    role: PersonRole,
) -> Result<Done<AddedPerson>> {
    let person = PlacedPerson::check(place, address)?;
    let work = async |at: &Commit<'_, _, _>| add_now(store, at, &person, role).await;
    let done = commit(ledger, author, (ADD, &person.arguments(role)), work).await?;
    register::ensure(store, author, std::slice::from_ref(place)).await?;
    Ok(done)
}

async fn add_now(
    store: &impl OperatorStore,
    commit: &Commit<'_, impl Clock, impl Entropy>,
    person: &PlacedPerson,
    role: PersonRole,
) -> Result<AddedPerson> {
    let Commit { author, ledger, .. } = commit;
    let added = |already| AddedPerson { place: person.place.clone(), role, already };
    match person.row(*ledger).await? {
        Some(row) if row.role != role => return Err(person.has_another_role(row.role)),
        Some(_) => return Ok(added(true)),
        None => {}
    }
    epoch::begin(store, *ledger, author.entropy).await?;
    let entry = author.entry(ADD, |_| person.changed(Some(role))).await?;
    let Registered { by, by_shop, .. } = author.registered();
    let (address, at) = (&*person.address, entry.key.time_ms());
    let (new, sender) = (NewPerson { address, role, by: &by, by_shop, at }, author.sender());
    let add = changes::adding(&person.place, &new, sender.as_deref())?;
    if commit.make(&entry, &added(false), add).await? {
        return Ok(added(false));
    }
    match person.row(*ledger).await? {
        Some(row) if row.role == role => Ok(added(true)), // somebody else added the person at the same moment
        _ => Err(person.not_added(*ledger, sender.as_deref()).await?),
    }
}

/// Removes a person from a unit or a team. From then on, all requests of the person for that unit or team are
/// refused. Ledger cost: 2 queries. KV cost: 1 write.
///
/// # Errors
/// - If no person of the unit or team has the address.
/// - If the person is the last manager, and `which` protects the last manager.
/// - If the author is a person of a shop, and no longer its manager.
/// - If the ledger or the store fails. The person may have been removed then.
pub async fn remove(
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    whom: (&KeyLevel, &str),
    which: Removable,
) -> Result<Done<()>> {
    remove_once(ledger, author, whom, (which, author.sender())).await
}

/// Removes the author from a unit or a team, whatever the author's role. Otherwise like [`remove`].
///
/// # Errors
/// As [`remove`]. The last manager cannot leave.
pub async fn leave(
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    place: &KeyLevel,
) -> Result<Done<()>> {
    let whom = (place, author.by());
    remove_once(ledger, author, whom, (Removable::NotTheLast, None)).await
}

async fn remove_once(
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    (place, address): (&KeyLevel, &str),
    rule: (Removable, Option<String>),
) -> Result<Done<()>> {
    let person = PlacedPerson::check(place, address)?;
    let work = async |at: &Commit<'_, _, _>| remove_now(at, &person, &rule).await;
    commit(ledger, author, (REMOVE, &person.arguments(())), work).await
}

async fn remove_now(
    commit: &Commit<'_, impl Clock, impl Entropy>,
    person: &PlacedPerson,
    (which, sender): &(Removable, Option<String>),
) -> Result<()> {
    let Commit { author, ledger, .. } = commit;
    match person.row(*ledger).await? {
        Some(row) if is_newer(&row, author) => return Err(added_since(&row, author)),
        Some(_) => {}
        None => {
            let problem = "nothing was removed: this unit or team has no person with this address";
            return Err(OperatorError::at("address", RefusalCode::NotFound, problem));
        }
    }
    let entry = author.entry(REMOVE, |_| person.changed(None)).await?;
    let PlacedPerson { place, address } = person;
    let remove = changes::removing(place, address, sender.as_deref(), *which)?;
    if commit.make(&entry, &(), remove).await? {
        return Ok(());
    }
    match changes::may_change(*ledger, place, sender.as_deref()).await? {
        false => Err(OperatorError::lost_right()),
        true => Err(OperatorError::invalid(
            "nothing was removed: this is the last manager. Add another manager first, or ask an operator",
        )),
    }
}

/// Returns whether the person was added again in the meantime: since the form for the removal was opened, or
/// since the first attempt to remove the person.
fn is_newer(row: &Person, author: &Author<'_, impl Clock, impl Entropy>) -> bool {
    parse_ms(&row.created) > author.wanted_ms().or(Some(u64::MAX))
}

fn added_since(row: &Person, author: &Author<'_, impl Clock, impl Entropy>) -> OperatorError {
    OperatorError::invalid(format!(
        "nothing was removed: {} added this person again at {}. Reload the page to remove the person",
        author.name_of(&row.by, row.by_shop),
        row.created
    ))
}

/// Returns a page of the people of a unit or a team, sorted by address. The first page is 1. Ledger cost: 1 query.
///
/// # Errors
/// If the ID is not valid, or the ledger fails.
pub async fn list(ledger: &dyn Ledger, place: &KeyLevel, page: usize) -> Result<PeopleList> {
    check_level(place)?;
    let skipped = page.saturating_sub(1).saturating_mul(MAX_PEOPLE);
    Ok(rows::people(ledger, place, skipped).await?)
}

/// Returns all people of a unit or a team, sorted by address. Ledger cost: 1 query per 200 people.
///
/// # Errors
/// As [`list`].
pub async fn list_all(ledger: &dyn Ledger, place: &KeyLevel) -> Result<Vec<Person>> {
    let mut all = Vec::new();
    for page in 1.. {
        let PeopleList { people, has_more } = list(ledger, place, page).await?;
        all.extend(people);
        if !has_more {
            break;
        }
    }
    Ok(all)
}

/// Returns the units and teams in which a person has a role. Finds the person by the e-mail address used to
/// sign in. Ledger cost: 1 query.
///
/// # Errors
/// If the ledger fails.
pub async fn of_person(ledger: &dyn Ledger, address: &str) -> Result<Vec<rows::Membership>> {
    Ok(rows::memberships(ledger, &normal_address(address)).await?)
}
