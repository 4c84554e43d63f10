//! Teams. A team's API keys may act for all units of the team.
//!
//! Each membership of a unit is a record of its own. So two people can add units to one team at the same
//! time, and no API key has to be rewritten. If two people add or remove the same unit, only one of them gets
//! the ledger's claim, which locks the membership (module `claimed_change`). The other person is shown who
//! was first.

use super::register;
use crate::office::audit::rule::Author;
use crate::office::shared::rows::claims::{
    Claim, ClaimOutcome, Fact, Kind, ObservedFact, State, TargetState,
};
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::claimed_change;
use crate::office::shared::rule::claimed_change::ClaimedChange;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::ids::{check_level, check_unit};
use crate::office::shared::rule::once::{Done, StoredAsIs, once};
use crate::office::shared::rule::records::{MAX_PAGES, Pages, put_record, read_values};
use crate::office::shared::rule::refused::RefusalCode;
use crate::pledges::auth::KeyLevel;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{Key as _, MemberKey, OperatorStore, Registered, TeamKey, decode};
use crate::pledges::time::date_time;
use serde::{Deserialize, Serialize};

const ADD: &str = "teams add";
const REMOVE: &str = "teams remove";

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TeamRow {
    pub team: String,
    pub units: usize,
    /// Who registered the team, and when; `None` if it is not registered.
    #[serde(flatten)]
    pub registered: Option<Registered>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Team {
    pub team: String,
    /// The IDs of the team's units.
    pub units: Vec<String>,
}

impl StoredAsIs for Team {}
impl StoredAsIs for AddedUnits {}

impl Team {
    fn check(team: &str, units: &[String]) -> Result<Self> {
        check_level(&KeyLevel::Team(team.to_owned()))?;
        units.iter().try_for_each(|unit| check_unit(unit))?;
        Ok(Team { team: team.to_owned(), units: units.to_vec() })
    }

    fn key<'k>(&'k self, unit: &'k str) -> MemberKey<'k> {
        MemberKey { team: &self.team, unit }
    }

    /// Returns the units' memberships in the team, as the facts that the ledger can lock.
    fn facts(&self) -> Vec<Fact> {
        let name = |unit: &String| self.key(unit).suffix().into_owned();
        self.units.iter().map(|unit| Fact { kind: Kind::Member, name: name(unit) }).collect()
    }

    /// Reads the membership of each unit: its record, and the ledger's recent claim (lock) on it. Keeps the
    /// order of the units.
    async fn members(
        &self,
        store: &impl OperatorStore,
        ledger: &dyn Ledger,
        clock: &impl Clock,
    ) -> Result<Vec<Member>> {
        let facts = self.facts();
        let keys: Vec<_> = self.units.iter().map(|unit| self.key(unit)).collect();
        let records = read_values(store, &keys).await?;
        let claims = claimed_change::recent(ledger, &facts, clock).await?;
        let claim = |fact: &Fact| claims.iter().find(|claim| claim.fact == *fact).cloned();
        let member = |(fact, record)| Member { claim: claim(&fact), fact, record };
        Ok(facts.into_iter().zip(records).map(member).collect())
    }

    fn changed(&self) -> Vec<String> {
        std::iter::once(&self.team).chain(&self.units).cloned().collect()
    }

    fn changed_by(&self, changed: &str, claim: &Claim) -> OperatorError {
        let (unit, team) = (unit_of(&claim.fact), &self.team);
        let words = claimed_change::in_words(claim, "added it", "removed it");
        OperatorError::invalid(format!(
            "nothing was {changed}, because somebody changed the membership of `{unit}` in the team \
             `{team}`: {words}"
        ))
    }

    fn is_without(&self, fact: &Fact, claim: Option<&Claim>) -> OperatorError {
        let (unit, team) = (unit_of(fact), &self.team);
        match claim {
            Some(claim) if claim.state == State::Gone => {
                let words = claimed_change::in_words(claim, "added it", "removed it");
                OperatorError::invalid(format!(
                    "nothing was removed, because `{unit}` is no longer in the team `{team}`: {words}"
                ))
            }
            Some(claim) => self.changed_by("removed", claim),
            None => OperatorError::at(
                "unit",
                RefusalCode::NotFound,
                format!("nothing was removed: `{unit}` is not in the team `{team}`"),
            ),
        }
    }

    /// Returns one list with the team and its units, to register them.
    fn levels(&self) -> Vec<KeyLevel> {
        let units = self.units.iter().cloned().map(KeyLevel::Unit);
        std::iter::once(KeyLevel::Team(self.team.clone())).chain(units).collect()
    }
}

/// Returns the unit's ID from the name of a membership, `{team}:{unit}`.
fn unit_of(fact: &Fact) -> &str {
    fact.name.split_once(':').map_or("", |(_, unit)| unit)
}

struct Member {
    fact: Fact,
    record: Option<Vec<u8>>,
    /// The ledger's recent claim (lock) on the membership, if any. It takes precedence over the record, which
    /// KV may show late.
    claim: Option<Claim>,
}

impl Member {
    fn is_in(&self) -> bool {
        self.claim.as_ref().map_or(self.record.is_some(), |claim| claim.state == State::Kept)
    }

    fn is_gone(&self) -> bool {
        self.claim.as_ref().map_or(self.record.is_none(), |claim| claim.state == State::Gone)
    }

    fn seen(&self) -> ObservedFact {
        ObservedFact { fact: self.fact.clone(), is_there: self.record.is_some(), change: None }
    }

    fn already(&self) -> ExistingMember {
        let record = self.record.as_deref();
        let by_record = || record.and_then(|record| decode(MemberKey::KIND, record).ok());
        let registered = self.claim.as_ref().map_or_else(by_record, registered);
        ExistingMember { unit: unit_of(&self.fact).to_owned(), registered }
    }
}

fn registered(Claim { by, .. }: &Claim) -> Option<Registered> {
    let (created, author) = (date_time(by.at), by.author.clone());
    (!author.is_empty()).then_some(Registered { created, by: author, by_shop: false })
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddedUnits {
    /// The team, and all units of the request.
    #[serde(flatten)]
    pub team: Team,
    /// The units that were in the team before the request.
    pub already: Vec<ExistingMember>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExistingMember {
    /// The unit's ID.
    pub unit: String,
    /// Who added the unit, and when; `None` if unknown.
    #[serde(flatten)]
    pub registered: Option<Registered>,
}

/// Adds units to a team, and registers the team and the units if they are not registered. Units that are
/// already in the team do not change.
///
/// # Errors
/// - If an ID is not valid.
/// - If somebody else changes the membership of a unit at the same moment.
/// - If the ledger or the store fails. Some of the units may have been added then.
pub async fn add(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    team: &str,
    units: &[String],
) -> Result<Done<AddedUnits>> {
    let team = Team::check(team, units)?;
    let work = async |author: &Author<'_, _, _>| add_now(store, ledger, author, team.clone()).await;
    once(ledger, author, (ADD, &team), work).await
}

async fn add_now(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    team: Team,
) -> Result<AddedUnits> {
    let of = (TargetState::Added, &*team.facts());
    let refused = |claim: &Claim| team.changed_by("added", claim);
    claimed_change::refuse_overtaken(ledger, author, of, refused).await?;
    let members = team.members(store, ledger, author.clock).await?;
    if members.iter().all(Member::is_in) {
        return Ok(AddedUnits { team, already: members.iter().map(Member::already).collect() });
    }
    let changing = ClaimedChange::begin(store, ledger, author, ADD, |_| team.changed()).await?;
    if let Err(error) = register::ensure(store, author, &team.levels()).await {
        return Err(changing.give_up(&[], error).await);
    }
    let seen: Vec<_> = members.iter().map(Member::seen).collect();
    let turns = changing.claim(TargetState::Added, &seen).await?;
    let (mut ours, mut already, mut pending) = (Vec::new(), Vec::new(), None);
    for (member, turn) in members.into_iter().zip(turns) {
        match turn {
            ClaimOutcome::Ours => ours.push(member.fact),
            ClaimOutcome::Theirs(claim) if claim.state == State::Kept => {
                already.push(Member { claim: Some(claim), ..member }.already());
            }
            ClaimOutcome::Theirs(claim) => pending = Some(claim),
            ClaimOutcome::None => already.push(member.already()),
        }
    }
    if let Some(claim) = pending {
        let error = team.changed_by("added", &claim);
        return Err(changing.give_up(&ours, error).await);
    }
    if ours.is_empty() {
        changing.withdraw().await;
    }
    let registered = author.registered();
    let write = async |fact: &Fact| put_record(store, &team.key(unit_of(fact)), &registered).await;
    let unsure = |fact: &Fact| format!("that `{}` is in the team `{}`", unit_of(fact), team.team);
    changing.write(&ours, write, unsure).await?;
    Ok(AddedUnits { team, already })
}

/// Removes units from a team. The units keep their own keys and transactions.
///
/// # Errors
/// - If a unit is not in the team, or somebody else changes its membership at the same moment. Then no unit
///   is removed.
/// - If the ledger or the store fails. Some of the units may have been removed then.
pub async fn remove(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    team: &str,
    units: &[String],
) -> Result<Done<Team>> {
    let team = Team::check(team, units)?;
    let work =
        async |author: &Author<'_, _, _>| remove_now(store, ledger, author, team.clone()).await;
    once(ledger, author, (REMOVE, &team), work).await
}

async fn remove_now(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    team: Team,
) -> Result<Team> {
    let of = (TargetState::Removed, &*team.facts());
    let refused = |claim: &Claim| team.changed_by("removed", claim);
    claimed_change::refuse_overtaken(ledger, author, of, refused).await?;
    let members = team.members(store, ledger, author.clock).await?;
    if author.earlier.is_some() && members.iter().all(Member::is_gone) {
        return Ok(team); // an earlier attempt has removed them
    }
    if let Some(member) = members.iter().find(|member| !member.is_in()) {
        return Err(team.is_without(&member.fact, member.claim.as_ref()));
    }
    let changing = ClaimedChange::begin(store, ledger, author, REMOVE, |_| team.changed()).await?;
    let seen: Vec<_> = members.iter().map(Member::seen).collect();
    changing
        .claim_all(TargetState::Removed, &seen, |fact, claim| team.is_without(fact, claim))
        .await?;
    let facts = team.facts();
    let remove = async |fact: &Fact| Ok(store.remove(&team.key(unit_of(fact))).await?);
    let unsure =
        |fact: &Fact| format!("that `{}` was removed from the team `{}`", unit_of(fact), team.team);
    changing.write(&facts, remove, unsure).await?;
    Ok(team)
}

/// Returns the units of a team, sorted by ID. Units that were added in the last minute may be missing. KV cost: 1 list per
/// 1,000 units.
///
/// # Errors
/// If the team's ID is not valid, or the store fails.
pub async fn get(store: &impl OperatorStore, team: &str) -> Result<Team> {
    let mut found = Team::check(team, &[])?;
    let mut pages = Pages::new(store, MemberKey::team_prefix(team));
    while let Some(page) = pages.next().await? {
        let members = page.iter().filter_map(|record| MemberKey::parse(&record.name));
        found.units.extend(members.map(|member| member.unit.to_owned()));
    }
    Ok(found)
}

/// Returns the teams of a unit, sorted by ID. Searches only the first 10,000 memberships of all teams. The
/// `bool` is true if there are more. KV cost: 1 list per 1,000 memberships.
///
/// # Errors
/// If the unit's ID is not valid, or the store fails.
pub async fn of_unit(store: &impl OperatorStore, unit: &str) -> Result<(Vec<String>, bool)> {
    check_unit(unit)?;
    let mut teams = Vec::new();
    let mut pages = Pages::new(store, MemberKey::PREFIX);
    for _ in 0..MAX_PAGES {
        let Some(page) = pages.next().await? else { break };
        let members = page.iter().filter_map(|record| MemberKey::parse(&record.name));
        teams.extend(members.filter(|member| member.unit == unit).map(|it| it.team.to_owned()));
    }
    teams.sort_unstable();
    Ok((teams, !pages.is_last))
}

/// Returns the first `most` teams by ID; the `bool` is true if there are more teams or memberships. A team is
/// listed if it is registered or has a unit. Reads at most `pages_of_units` pages of 1,000 memberships to
/// count the units.
pub async fn list(
    store: &impl OperatorStore,
    most: usize,
    pages_of_units: usize,
) -> Result<(Vec<TeamRow>, bool)> {
    let row = |(team, registered)| TeamRow { team, units: 0, registered };
    let registered = register::first(store, TeamKey::PREFIX, most).await?;
    let mut rows: Vec<_> = registered.into_iter().map(row).collect();
    let mut pages = Pages::new(store, MemberKey::PREFIX);
    for _ in 0..pages_of_units {
        let Some(page) = pages.next().await? else { break };
        for MemberKey { team, .. } in
            page.iter().filter_map(|record| MemberKey::parse(&record.name))
        {
            let place = match rows.binary_search_by(|row| (*row.team).cmp(team)) {
                Ok(place) => place,
                Err(place) => {
                    rows.insert(place, row((team.to_owned(), None)));
                    place
                }
            };
            rows.iter_mut().skip(place).take(1).for_each(|row| row.units += 1);
        }
    }
    let has_more = !pages.is_last || rows.len() > most;
    rows.truncate(most);
    Ok((rows, has_more))
}
