//! Adds units to teams, and removes them.

use super::member::{ADDED, Member, REMOVED};
use super::team::{AddedUnits, Team};
use crate::office::audit::rule::{Author, Entry, Written};
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rows::published::{NewVersion, PublishedRow};
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::once::{Done, once};
use crate::office::shared::rule::published;
use crate::office::shared::rule::published::Replacement;
use crate::office::shared::rule::records::encode;
use crate::office::shops::rule::register;
use crate::office::system::rule::epoch;
use crate::office::system::rule::publish::{publish, publish_or_leave};
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
    let work = async |author: &Author<'_, _, _>| add_now(store, ledger, author, team.clone()).await;
    once(ledger, author, (ADD, &team), work).await
}

async fn add_now(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    team: Team,
) -> Result<AddedUnits> {
    let (read_ms, members) = (author.clock.now_ms(), team.members(ledger).await?);
    team.refuse_overtaken(author, ADDED, &members)?;
    let (present, new): (Vec<_>, Vec<_>) = members.into_iter().partition(Member::is_in);
    let mut already = Vec::new();
    for member in present {
        match author.earlier.is_some() && member.is_made_by(store, author).await? {
            true => {
                if let Some(row) = &member.last {
                    let _or_by_the_cron = publish(store, author.clock, (row, read_ms)).await;
                }
            }
            false => already.push(member.already()),
        }
    }
    if !new.is_empty() {
        epoch::begin(store, ledger, author.entropy).await?;
        let entry = author.begin_entry(store, ADD, |_| team.changed()).await?;
        if let Err(error) = register::ensure(store, author, &team.levels()).await {
            author.withdraw(store, &entry).await;
            return Err(error);
        }
        let record = encode(&Written::new(&author.registered(), &entry))?;
        let changes = new.iter().map(|member| member.changed_to(Some(record.clone()))).collect();
        let rows = change((store, ledger), author, &entry, (&team, ADDED), changes).await?;
        publish_or_leave(store, author.clock, &rows).await;
    }
    Ok(AddedUnits { team, already })
}

/// Changes memberships together, unless somebody else changes one of them first.
async fn change(
    at: (&impl OperatorStore, &dyn Ledger),
    author: &Author<'_, impl Clock, impl Entropy>,
    entry: &Entry,
    (team, changed): (&Team, &str),
    changes: Vec<Replacement>,
) -> Result<Vec<PublishedRow>> {
    let lost = async |ledger: &dyn Ledger, versions: &[NewVersion]| {
        let members = team.members(ledger).await?;
        let is_other = |member: &&Member<'_>| {
            let own = versions.iter().find(|own| own.row.name == member.key.name());
            let last = member.last.as_ref().map(|last| &last.change);
            own.is_some_and(|own| own.seen.as_ref() != last)
        };
        Ok(match members.iter().find(is_other) {
            Some(member) => team.changed_by(changed, member),
            None => OperatorError::invalid(format!("nothing was {changed}: try again")),
        })
    };
    published::replace_with(at, author, entry, (changes, &[]), lost).await
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
    let (read_ms, members) = (author.clock.now_ms(), team.members(ledger).await?);
    team.refuse_overtaken(author, REMOVED, &members)?;
    if author.earlier.is_some() && members.iter().all(Member::is_gone) {
        // An earlier attempt has removed them. Their copies may still be there.
        for row in members.iter().filter_map(|member| member.last.as_ref()) {
            end(store, author.clock, &team, (row, read_ms)).await?;
        }
        return Ok(team);
    }
    if let Some(member) = members.iter().find(|member| !member.is_in()) {
        return Err(team.is_without(member));
    }
    let entry = author.begin_entry(store, REMOVE, |_| team.changed()).await?;
    let changes = members.iter().map(|member| member.changed_to(None)).collect();
    let rows = change((store, ledger), author, &entry, (&team, REMOVED), changes).await?;
    for row in rows {
        end(store, author.clock, &team, (&row, row.at)).await?;
    }
    Ok(team)
}

/// Removes the copy of a membership, so that the team's keys are refused for the unit.
async fn end(
    store: &impl OperatorStore,
    clock: &impl Clock,
    team: &Team,
    (row, read_ms): (&PublishedRow, u64),
) -> Result<()> {
    match publish(store, clock, (row, read_ms)).await {
        Ok(true) => Ok(()),
        Ok(false) | Err(_) => Err(team.is_still_accepted(row)),
    }
}
