//! Adds units to teams, and removes them.

use super::member::{ADDED, Member, REMOVED};
use super::team::{AddedUnits, Team};
use crate::office::audit::rule::{Author, Entry, Written};
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rows::published::changing;
use crate::office::shared::rule::commit::{Commit, commit};
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::once::{Done, Outcome};
use crate::office::shared::rule::published;
use crate::office::shared::rule::published::Replacement;
use crate::office::shared::rule::records::encode;
use crate::office::shops::rule::register;
use crate::office::system::rule::epoch;
use crate::office::system::rule::publish::publish_all;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{Key as _, OperatorStore};

const ADD: &str = "teams add";
const REMOVE: &str = "teams remove";

/// Adds units to a team, and registers the team and the units if they are not registered. Units that are
/// already in the team do not change.
///
/// # Errors
/// - If an ID is not valid.
/// - If somebody else changes the membership of a unit at the same moment.
/// - If the ledger or the store fails.
pub async fn add(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    team: &str,
    units: &[String],
) -> Result<Done<AddedUnits>> {
    let team = Team::check(team, units)?;
    let work = async |at: &Commit<'_, _, _>| add_now(store, at, team.clone()).await;
    let done = commit(ledger, author, (ADD, &team), work).await?;
    register::ensure(store, author, &team.levels()).await?;
    let _or_by_the_cron = publish_all(store, ledger, author.clock, &team.names()).await;
    Ok(done)
}

/// Checks the IDs of a team and of units.
///
/// # Errors
/// If an ID is not valid.
pub fn check(team: &str, units: &[String]) -> Result<()> {
    Team::check(team, units).map(drop)
}

async fn add_now(
    store: &impl OperatorStore,
    commit: &Commit<'_, impl Clock, impl Entropy>,
    team: Team,
) -> Result<AddedUnits> {
    let Commit { author, ledger, .. } = commit;
    let members = team.members(*ledger).await?;
    team.refuse_overtaken(author, ADDED, &members)?;
    let (present, new): (Vec<_>, Vec<_>) = members.into_iter().partition(Member::is_in);
    let already = present.iter().map(Member::already).collect();
    let added = AddedUnits { team: team.clone(), already };
    if new.is_empty() {
        return Ok(added);
    }
    epoch::begin(store, *ledger, author.entropy).await?;
    let entry = author.entry(ADD, |_| team.changed()).await?;
    let record = encode(&Written::new(&author.registered(), &entry))?;
    let changes = new.iter().map(|member| member.changed_to(Some(record.clone()))).collect();
    change(commit, &entry, &added, (&team, ADDED), changes).await?;
    Ok(added)
}

/// Changes memberships together, unless somebody else changes one of them first.
async fn change(
    commit: &Commit<'_, impl Clock, impl Entropy>,
    entry: &Entry,
    outcome: &impl Outcome,
    (team, changed): (&Team, &str),
    changes: Vec<Replacement>,
) -> Result<()> {
    let versions = published::versions(&commit.author, entry, changes)?;
    if commit.make(entry, outcome, changing(&versions)?).await? {
        return Ok(());
    }
    let members = team.members(commit.ledger).await?;
    let is_other = |member: &&Member<'_>| {
        let own = versions.iter().find(|own| own.row.name == member.key.name());
        let last = member.last.as_ref().map(|last| &last.change);
        own.is_some_and(|own| own.seen.as_ref() != last)
    };
    Err(match members.iter().find(is_other) {
        Some(member) => team.changed_by(changed, member),
        None => OperatorError::invalid(format!("nothing was {changed}: try again")),
    })
}

/// Removes units from a team. The units keep their own keys and transactions.
///
/// # Errors
/// - If a unit is not in the team, or somebody else changes its membership at the same moment. Then no unit
///   is removed.
/// - If the units were removed, but the team's keys are still accepted for one of them, because Workers KV did not answer.
/// - If the ledger or the store fails.
pub async fn remove(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    team: &str,
    units: &[String],
) -> Result<Done<Team>> {
    let team = Team::check(team, units)?;
    let work = async |at: &Commit<'_, _, _>| remove_now(at, team.clone()).await;
    let done = commit(ledger, author, (REMOVE, &team), work).await?;
    // Also after a repeated request, in case that the first one failed here.
    let published = publish_all(store, ledger, author.clock, &team.names()).await;
    published.map_err(|_| team.is_still_accepted())?;
    Ok(done)
}

async fn remove_now(commit: &Commit<'_, impl Clock, impl Entropy>, team: Team) -> Result<Team> {
    let Commit { author, ledger, .. } = commit;
    let members = team.members(*ledger).await?;
    team.refuse_overtaken(author, REMOVED, &members)?;
    if let Some(member) = members.iter().find(|member| !member.is_in()) {
        return Err(team.is_without(member));
    }
    let entry = author.entry(REMOVE, |_| team.changed()).await?;
    let changes = members.iter().map(|member| member.changed_to(None)).collect();
    change(commit, &entry, &team, (&team, REMOVED), changes).await?;
    Ok(team)
}
