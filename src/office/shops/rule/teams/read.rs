//! Lists teams and their units, as Workers KV shows them.

use super::team::{Team, TeamRow};
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::ids::check_unit;
use crate::office::shared::rule::records::{MAX_PAGES, Pages};
use crate::office::shops::rule::register;
use crate::pledges::store::{Key as _, MemberKey, OperatorStore, TeamKey};

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
