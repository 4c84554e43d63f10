//! Teams: which units a team's keys may act for. Each membership is a record of its own, so that two
//! people can add units to one team at the same time, and no key is written again.

use super::audit::Author;
use super::{OperatorError, Pages, Result, encode, read_value, register};
use crate::auth::{KeyLevel, check_id};
use crate::handle::{Clock, Entropy};
use crate::store::{Key as _, MemberKey, NoMetadata, OperatorStore, Registered, TeamKey};
use serde::Serialize;
use std::collections::BTreeMap;

/// A team in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TeamRow {
    /// The team's ID.
    pub team: String,
    /// How many units it has.
    pub units: usize,
    /// Who added it to the register, and when; `None` if it is not in it.
    #[serde(flatten)]
    pub registered: Option<Registered>,
}

/// The units of a team.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Team {
    /// The team's ID.
    pub team: String,
    /// The IDs of its units.
    pub units: Vec<String>,
}

impl Team {
    fn check(team: &str, units: &[String]) -> Result<Self> {
        KeyLevel::Team(team.to_owned()).check().map_err(OperatorError::Invalid)?;
        units.iter().try_for_each(|unit| check_id(unit)).map_err(OperatorError::Invalid)?;
        Ok(Team { team: team.to_owned(), units: units.to_vec() })
    }
}

/// Adds units to a team, and to the register what it lacks of them.
///
/// # Errors
/// If an ID is out of bounds, or the store fails: then some of the units may have been added.
pub async fn add(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    team: &str,
    units: &[String],
) -> Result<Team> {
    let added = Team::check(team, units)?;
    record(store, author, "teams add", &added).await?;
    let levels = std::iter::once(KeyLevel::Team(team.to_owned()))
        .chain(units.iter().cloned().map(KeyLevel::Unit));
    register::ensure(store, author, &levels.collect::<Vec<_>>()).await?;
    let value = encode(&author.registered())?;
    for unit in units {
        store.put(&MemberKey { team, unit }, value.clone(), &NoMetadata).await?;
    }
    Ok(added)
}

/// Removes units from a team. Their own keys and transactions stay.
///
/// # Errors
/// If one is not in it, and then none is removed; or if the store fails.
pub async fn remove(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    team: &str,
    units: &[String],
) -> Result<Team> {
    let removed = Team::check(team, units)?;
    for unit in units {
        if read_value(store, MemberKey { team, unit }).await?.is_none() {
            return Err(OperatorError::Invalid(format!(
                "nothing was removed: `{unit}` is not in the team `{team}` here"
            )));
        }
    }
    record(store, author, "teams remove", &removed).await?;
    for unit in units {
        store.remove(&MemberKey { team, unit }).await?;
    }
    Ok(removed)
}

async fn record(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    command: &str,
    Team { team, units }: &Team,
) -> Result<()> {
    author.record(store, command, std::iter::once(team).chain(units)).await
}

/// The units of a team, sorted; those of the last minute may be missing.
///
/// # Errors
/// If the team's ID is out of bounds, or the store fails.
pub async fn get(store: &impl OperatorStore, team: &str) -> Result<Team> {
    let mut found = Team::check(team, &[])?;
    let mut pages = Pages::new(store, MemberKey::team_prefix(team));
    while let Some(page) = pages.next().await? {
        let members = page.iter().filter_map(|record| MemberKey::parse(&record.name));
        found.units.extend(members.map(|member| member.unit.to_owned()));
    }
    Ok(found)
}

/// All teams, sorted by ID: those of the register, and those that only have units.
///
/// # Errors
/// If the store fails.
pub async fn list(store: &impl OperatorStore) -> Result<Vec<TeamRow>> {
    let mut teams: BTreeMap<_, _> = register::all(store, TeamKey::PREFIX)
        .await?
        .into_iter()
        .map(|(team, registered)| (team.clone(), TeamRow { team, units: 0, registered }))
        .collect();
    let mut pages = Pages::new(store, MemberKey::PREFIX);
    while let Some(page) = pages.next().await? {
        for MemberKey { team, .. } in
            page.iter().filter_map(|record| MemberKey::parse(&record.name))
        {
            let none = || TeamRow { team: team.to_owned(), units: 0, registered: None };
            teams.entry(team.to_owned()).or_insert_with(none).units += 1;
        }
    }
    Ok(teams.into_values().collect())
}

/// The IDs of the teams that have a unit, sorted.
///
/// # Errors
/// If the store fails.
pub async fn of_unit(store: &impl OperatorStore, unit: &str) -> Result<Vec<String>> {
    let mut teams = Vec::new();
    let mut pages = Pages::new(store, MemberKey::PREFIX);
    while let Some(page) = pages.next().await? {
        let members = page.iter().filter_map(|record| MemberKey::parse(&record.name));
        let own = members.filter(|member| member.unit == unit);
        teams.extend(own.map(|member| member.team.to_owned()));
    }
    Ok(teams)
}
