//! The memberships of a team as the ledger has them, and the errors of who changes them.

use super::team::{ExistingMember, Team};
use crate::office::audit::rule::Author;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rows::published as rows;
use crate::office::shared::rows::published::PublishedRow;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::ids::{check_level, check_unit};
use crate::office::shared::rule::published::{RecordVersion, Replacement};
use crate::office::shared::rule::refused::RefusalCode;
use crate::pledges::auth::KeyLevel;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{Key as _, MemberKey, Registered};
use crate::pledges::time::date_time;

/// The words for what a change would have done, in errors.
pub(super) const ADDED: &str = "added";
pub(super) const REMOVED: &str = "removed";

impl Team {
    pub(super) fn check(team: &str, units: &[String]) -> Result<Self> {
        check_level(&KeyLevel::Team(team.to_owned()))?;
        units.iter().try_for_each(|unit| check_unit(unit))?;
        Ok(Team { team: team.to_owned(), units: units.to_vec() })
    }

    pub(super) fn key<'k>(&'k self, unit: &'k str) -> MemberKey<'k> {
        MemberKey { team: &self.team, unit }
    }

    /// Returns the names of the memberships.
    pub(super) fn names(&self) -> Vec<String> {
        self.units.iter().map(|unit| self.key(unit).name()).collect()
    }

    /// Reads the last change of each unit's membership. Keeps the order of the units. Ledger cost: 1 query.
    pub(super) async fn members(&self, ledger: &dyn Ledger) -> Result<Vec<Member<'_>>> {
        let keys = self.units.iter().map(|unit| self.key(unit));
        let names = self.names();
        let found = rows::get_all(ledger, &names).await?;
        let last = |name: &String| found.iter().find(|row| row.name == *name).cloned();
        let member = |(key, name)| Member { key, last: last(name) };
        Ok(keys.zip(&names).map(member).collect())
    }

    pub(super) fn changed(&self) -> Vec<String> {
        std::iter::once(&self.team).chain(&self.units).cloned().collect()
    }

    /// Returns the error of a person who changes the membership of a unit that another person has changed since.
    pub(super) fn changed_by(&self, changed: &str, member: &Member<'_>) -> OperatorError {
        OperatorError::invalid(format!(
            "nothing was {changed}, because somebody changed the membership of `{}` in the team `{}`{}",
            member.key.unit,
            self.team,
            member.in_words()
        ))
    }

    pub(super) fn is_without(&self, member: &Member<'_>) -> OperatorError {
        let (unit, team) = (member.key.unit, &self.team);
        match member.last {
            Some(_) => OperatorError::invalid(format!(
                "nothing was removed, because `{unit}` is no longer in the team `{team}`{}",
                member.in_words()
            )),
            None => OperatorError::at(
                "unit",
                RefusalCode::NotFound,
                format!("nothing was removed: `{unit}` is not in the team `{team}`"),
            ),
        }
    }

    /// Returns the error of a removal whose copies could not be written. The team's keys can act for the units until then.
    pub(super) fn is_still_accepted(&self) -> OperatorError {
        OperatorError::invalid(format!(
            "`{}` was removed from the team `{}`, but Workers KV did not answer, so the team's keys are still accepted \
             for it. This ends within a few minutes; send the change again to end it now",
            self.units.join("`, `"),
            self.team
        ))
    }

    /// Refuses an outdated change: after the person had decided on it, somebody changed a membership to the opposite.
    pub(super) fn refuse_overtaken(
        &self,
        author: &Author<'_, impl Clock, impl Entropy>,
        changed: &str,
        members: &[Member<'_>],
    ) -> Result<()> {
        let Some(since_ms) = author.wanted_ms() else { return Ok(()) };
        let is_opposite = |member: &&Member<'_>| {
            let is_later = member.last.as_ref().is_some_and(|last| last.at > since_ms);
            is_later && member.is_in() != (changed == ADDED)
        };
        members.iter().find(is_opposite).map_or(Ok(()), |it| Err(self.changed_by(changed, it)))
    }

    /// Returns one list with the team and its units, to register them.
    pub(super) fn levels(&self) -> Vec<KeyLevel> {
        let units = self.units.iter().cloned().map(KeyLevel::Unit);
        std::iter::once(KeyLevel::Team(self.team.clone())).chain(units).collect()
    }
}

pub(super) struct Member<'t> {
    pub key: MemberKey<'t>,
    /// The last change of the membership; `None` if the unit never was in the team.
    pub last: Option<PublishedRow>,
}

impl Member<'_> {
    pub fn is_in(&self) -> bool {
        self.last.as_ref().is_some_and(|last| last.content.is_some())
    }

    /// Returns a change of the membership, which takes effect only if nobody else changes it first.
    pub fn changed_to(&self, record: Option<Vec<u8>>) -> Replacement {
        let seen = self.last.as_ref().map(RecordVersion::of).unwrap_or_default();
        Replacement { name: self.key.name(), seen, record }
    }

    pub fn already(&self) -> ExistingMember {
        let registered = self.last.as_ref().and_then(registered);
        ExistingMember { unit: self.key.unit.to_owned(), registered }
    }

    /// Describes the last change, after a colon; empty if there was none.
    pub fn in_words(&self) -> String {
        let Some(PublishedRow { author, at, content, .. }) = &self.last else {
            return String::new();
        };
        let who = if author.is_empty() { "somebody" } else { author };
        let done = if content.is_some() { "added" } else { "removed" };
        format!(": {who} {done} it at {}", date_time(*at))
    }
}

fn registered(PublishedRow { author, at, .. }: &PublishedRow) -> Option<Registered> {
    let (created, author) = (date_time(*at), author.clone());
    (!author.is_empty()).then_some(Registered { created, by: author, by_shop: false })
}
