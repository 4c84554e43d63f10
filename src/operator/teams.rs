//! Teams: which units a team's keys may act for. Each membership is a record of its own, so that two
//! people can add units to one team at the same time, and no key is written again.

use super::audit::{self, Author, Change};
use super::form::FormId;
use super::{MAX_PAGES, OperatorError, Pages, Result, encode, read_value, register};
use crate::auth::{KeyLevel, check_id};
use crate::handle::{Clock, Entropy};
use crate::store::{Key as _, MemberKey, NoMetadata, OperatorStore, Registered, TeamKey};
use crate::time::parse_ms;
use serde::Serialize;

const ADD: &str = "teams add";
const REMOVE: &str = "teams remove";

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
    record(store, author, ADD, &added).await?;
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
    record(store, author, REMOVE, &removed).await?;
    for unit in units {
        store.remove(&MemberKey { team, unit }).await?;
    }
    Ok(removed)
}

/// As [`add`] of one unit, for a form that may be sent again later: a unit that was removed since the form
/// was made is not added again. Looks through the changes since then.
///
/// # Errors
/// As [`add`]; if the form is more than an hour old, or the unit was removed meanwhile.
pub async fn add_once(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    team: &str,
    unit: &str,
    form: &FormId,
) -> Result<Team> {
    check_is_latest(store, author, form, REMOVE, [team, unit]).await?;
    add(store, author, team, &[unit.to_owned()]).await
}

/// As [`remove`] of one unit, for a form as [`add_once`] has it.
///
/// # Errors
/// As [`remove`]; if the form is more than an hour old, or the unit was added meanwhile.
pub async fn remove_once(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    team: &str,
    unit: &str,
    form: &FormId,
) -> Result<Team> {
    check_is_latest(store, author, form, ADD, [team, unit]).await?;
    remove(store, author, team, &[unit.to_owned()]).await
}

/// Refuses a form if the command has changed the membership after the form was made.
async fn check_is_latest(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    form: &FormId,
    command: &str,
    [team, unit]: [&str; 2],
) -> Result<()> {
    form.check(author.clock)?;
    let later = |change: &Change| {
        let is_of_both = change.on.first().is_some_and(|on| on == team)
            && change.on.iter().skip(1).any(|on| on == unit);
        change.command == command && is_of_both && parse_ms(&change.at) > Some(form.made_ms())
    };
    match audit::since(store, form.made_ms()).await?.into_iter().find(later) {
        None => Ok(()),
        Some(Change { by, at, .. }) => Err(OperatorError::Invalid(format!(
            "nothing was changed: after this form was opened, {by} has changed whether `{unit}` is in \
             the team, at {at}"
        ))),
    }
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

/// The teams that a unit is in, sorted by ID, among the first 10,000 units of all teams; and whether there
/// are more than these.
///
/// # Errors
/// If the unit's ID is out of bounds, or the store fails.
pub async fn of_unit(store: &impl OperatorStore, unit: &str) -> Result<(Vec<String>, bool)> {
    check_id(unit).map_err(OperatorError::Invalid)?;
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

/// All teams, sorted by ID: those of the register, and those that only have units.
///
/// # Errors
/// If the store fails.
pub async fn list(store: &impl OperatorStore) -> Result<Vec<TeamRow>> {
    Ok(among(store, usize::MAX, usize::MAX).await?.0)
}

/// The first teams of [`list`], at most so many, with those of their units that are among the first 10,000
/// of all teams; and whether there are more teams or units.
///
/// # Errors
/// If the store fails.
pub async fn first(store: &impl OperatorStore, most: usize) -> Result<(Vec<TeamRow>, bool)> {
    among(store, most, MAX_PAGES).await
}

async fn among(
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
