//! Checks whether a person may use a route, before the route's handler runs. The table of routes says how a
//! request names its unit or team, and which right a person of a shop needs.
//!
//! For a person with an operator role, only the route's permission counts. A person of a shop cannot find out
//! what other shops have. If something belongs to another shop, the response and the number of reads are the
//! same as if it did not exist.

use super::access::Access;
use super::context::PageContext;
use super::form::Form;
use super::refusal::{Refusal, Result};
use crate::office::connections::rule as connections;
use crate::office::connections::rule::Connection;
use crate::office::keys::rule as keys;
use crate::office::orders::rule as transactions;
use crate::office::orders::rule::Record;
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::once::was_done;
use crate::office::shared::rule::roles::MemberRight;
use crate::pledges::auth::KeyLevel;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{CredentialKey, Key as _, OperatorStore, StoreError};
use std::ops::Deref;

/// An ID, a record, or a set of units that has passed the access check. Only this module can create such a
/// value. So a handler that takes this type runs after the check.
#[derive(Clone, Debug)]
pub(crate) struct Scoped<T>(T);

impl<T> Deref for Scoped<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// The units that a list or a search may show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Units {
    /// All units, because the person has an operator role.
    All,
    /// The person's own units, sorted.
    Own(Vec<String>),
}

impl Units {
    /// Returns the person's unit if the person may see exactly one; otherwise `None`.
    pub fn single(&self) -> Option<&str> {
        single(self.own()?)
    }

    /// Returns the person's own units, or `None` if the person may see all units.
    pub fn own(&self) -> Option<&[String]> {
        match self {
            Units::All => None,
            Units::Own(units) => Some(units),
        }
    }
}

/// Returns the only unit; `None` if there are several or none.
pub(crate) fn single(units: &[String]) -> Option<&str> {
    match units {
        [unit] => Some(unit),
        _ => None,
    }
}

/// The parts of a request that are needed to check whether the person may make it.
#[derive(Clone, Copy)]
pub(crate) struct Target<'r> {
    /// The right that a person of a shop needs.
    pub right: MemberRight,
    /// The ID in the path; empty if the path has none.
    pub id: &'r str,
    /// The form that was sent; empty for a page.
    pub form: &'r Form,
}

/// Returns the refusal for a unit, a team or a key that does not exist. A person of a shop gets the same text
/// for a unit, team or key of another shop.
fn absent() -> Refusal {
    Refusal::Request(
        404,
        "This does not exist, or you have no access to it. Use the search or the menu.".to_owned(),
    )
}

impl Access {
    fn check(&self, right: MemberRight, place: &KeyLevel) -> Result<()> {
        match self.is_staff() || self.memberships.may(right, place) {
            true => Ok(()),
            false => Err(absent()),
        }
    }
}

/// The access checks that the table of routes names. Each check gets the [`Target`] of a request. It refuses
/// the request, or returns what the handler may use.
impl<S: OperatorStore, C: Clock, E: Entropy> PageContext<'_, S, C, E> {
    /// Checks a request that names no unit or team. Returns the units that the person may see.
    pub async fn global(&self, target: Target<'_>) -> Result<Scoped<Units>> {
        if self.access.is_staff() {
            return Ok(Scoped(Units::All));
        }
        match self.access.memberships.has(target.right) {
            true => Ok(Scoped(Units::Own(self.access.memberships.units(target.right)))),
            false => Err(absent()),
        }
    }

    /// Checks a request whose path contains a unit's ID. Returns the ID.
    pub async fn unit<'r>(&self, target: Target<'r>) -> Result<Scoped<&'r str>> {
        self.access.check(target.right, &KeyLevel::Unit(target.id.to_owned()))?;
        Ok(Scoped(target.id))
    }

    /// Checks a request whose path contains a team's ID. Returns the ID.
    pub async fn team<'r>(&self, target: Target<'r>) -> Result<Scoped<&'r str>> {
        self.access.check(target.right, &KeyLevel::Team(target.id.to_owned()))?;
        Ok(Scoped(target.id))
    }

    /// Checks a form that names a unit or a team, in the field `unit` or `team`. Returns this unit or team.
    ///
    /// A form must name either a unit or a team. Otherwise the form is refused for people of shops, and the
    /// result is `None` for operators.
    pub async fn owner(&self, target: Target<'_>) -> Result<Scoped<Option<KeyLevel>>> {
        let place = named_place(target.form);
        match &place {
            Some(place) => self.access.check(target.right, place)?,
            None if self.access.is_staff() => {}
            None => return Err(absent()),
        }
        Ok(Scoped(place))
    }

    /// Checks a form that names an API key, in the field `key`. The key's record says which unit or team owns
    /// the key. KV cost for people of shops: 1 read.
    pub async fn key(&self, target: Target<'_>) -> Result<Scoped<()>> {
        if self.access.is_staff() {
            return Ok(Scoped(()));
        }
        self.owner(target).await?;
        let key = CredentialKey::parse(target.form.text("key")).ok_or_else(absent)?;
        let row = keys::get(self.store, &key.name()).await?;
        let owner = row.and_then(|row| row.note).map(|note| note.level);
        match owner {
            Some(place) if self.access.memberships.may(target.right, &place) => Ok(Scoped(())),
            _ => Err(self.gone().await?),
        }
    }

    /// Returns the refusal of a form about an API key that does not exist. If the form was sent twice, and
    /// the first request has already made the change, the refusal says so.
    async fn gone(&self) -> Result<Refusal> {
        Ok(match was_done(self.ledger, &self.author).await? {
            None => absent(),
            Some(at) => OperatorError::Repeated(format!(
                "this was already done at {at}. The form was sent twice, and nothing more was changed"
            ))
            .into(),
        })
    }

    /// Checks a request whose path contains a connection's ID. The connection's record says which unit it belongs to. Returns
    /// the connection. Ledger cost: 1 query.
    pub async fn connection(&self, target: Target<'_>) -> Result<Scoped<Connection>> {
        let found = match connections::get(self.ledger, target.id).await {
            Ok(found) => found,
            Err(OperatorError::Invalid(_)) => return Err(self.gone().await?),
            Err(error) => return Err(error.into()),
        };
        let unit = KeyLevel::Unit(found.record.scope.unit.clone());
        match self.access.check(target.right, &unit) {
            Ok(()) => Ok(Scoped(found)),
            Err(_) => Err(self.gone().await?),
        }
    }

    /// Checks a request whose path contains a transaction's ID. The transaction's record says which unit it belongs to.
    /// Returns the record. KV cost: 1 read.
    pub async fn record(&self, target: Target<'_>) -> Result<Scoped<Record>> {
        let found = match transactions::get(self.store, target.id).await {
            Ok(record) => Ok(record),
            Err(OperatorError::Invalid(why)) => Err(why.text),
            Err(OperatorError::Store(StoreError::Damaged(problem))) if self.is_of_shop() => {
                Err(problem)
            }
            Err(error) => return Err(error.into()),
        };
        if self.access.is_staff() {
            return found.map(Scoped).map_err(Refusal::NoTransaction);
        }
        let own = |record: &Record| {
            let unit = record.unit().ok().map(KeyLevel::Unit);
            unit.is_some_and(|unit| self.access.memberships.may(target.right, &unit))
        };
        let own = found.ok().filter(own).map(Scoped);
        own.ok_or_else(|| Refusal::NoTransaction(NO_TRANSACTION.to_owned()))
    }
}

const NO_TRANSACTION: &str = "no transaction of your units has this ID";

/// Returns the unit or team that a form names; `None` if the form names neither or both.
pub(crate) fn named_place(form: &Form) -> Option<KeyLevel> {
    match (form.given("unit"), form.given("team")) {
        (Some(unit), None) => Some(KeyLevel::Unit(unit.to_owned())),
        (None, Some(team)) => Some(KeyLevel::Team(team.to_owned())),
        _ => None,
    }
}
