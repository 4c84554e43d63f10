//! Sets, replaces and removes members of a unit's profile.

use super::difference::replaced;
use super::members::{Member, ProfileMembers};
use super::names::{SET, UNSET, words};
use super::read::newest;
use super::row::UnitRow;
use crate::buyer::recipient::{NewProfile, Profile};
use crate::office::audit::rule::{Author, Subject, Written};
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::commit::{Commit, commit};
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::ids::check_unit;
use crate::office::shared::rule::once::Done;
use crate::office::shared::rule::published;
use crate::office::shared::rule::published::{RecordVersion, Replacement, latest};
use crate::office::shared::rule::records::encode;
use crate::office::shared::rule::refused::Refused;
use crate::office::shops::rows::names;
use crate::office::shops::rule::register;
use crate::office::system::rule::publish::publish_all;
use crate::pledges::auth::KeyLevel;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{Key as _, OperatorStore, ProfileKey};
use crate::pledges::time::TimeZones;

/// Sets members of a unit's profile, and registers the unit if it is not registered. A new profile needs a name.
///
/// # Errors
/// - If the unit's ID or a member is not valid, or a new profile has no name.
/// - If somebody else changes the profile at the same moment.
/// - If the store or the ledger fails.
pub async fn set(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    unit: &str,
    members: ProfileMembers,
) -> Result<Done<UnitRow>> {
    check_unit(unit)?;
    let work = async |at: &Commit<'_, _, _>| {
        let (old, seen) = stored(store, ledger, unit).await?;
        let profile = checked(members.clone().over(unit, old.clone())?, &at.author)?;
        keep(at, (SET, unit), (old, seen), profile).await
    };
    let done = commit(ledger, author, (SET, &(unit, &members)), work).await?;
    register::ensure(store, author, &[KeyLevel::Unit(unit.to_owned())]).await?;
    publish(store, ledger, author.clock, unit).await;
    copy_name(ledger, &done.outcome).await;
    as_now(store, ledger, unit, done).await
}

/// Returns a unit's profile as a change would make it. Changes nothing.
///
/// # Errors
/// If a member is not valid, a new profile has no name, or the store fails.
pub async fn tried(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    zones: &dyn TimeZones,
    unit: &str,
    members: ProfileMembers,
) -> Result<Profile> {
    let (old, _) = stored(store, ledger, unit).await?;
    Ok(Profile::checked(members.over(unit, old)?, zones).map_err(Refused::from)?)
}

/// Removes members from a unit's profile. Returns `None` if the unit has no profile.
///
/// # Errors
/// - If the unit's ID or the remaining profile is not valid.
/// - If somebody else changes the profile at the same moment.
/// - If the store or the ledger fails.
pub async fn unset(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    unit: &str,
    members: &[Member],
) -> Result<Done<Option<UnitRow>>> {
    check_unit(unit)?;
    let work = async |at: &Commit<'_, _, _>| {
        let (Some(old), seen) = stored(store, ledger, unit).await? else { return Ok(None) };
        let mut profile = old.clone();
        members.iter().for_each(|member| *member.of(&mut profile) = None);
        let profile = checked(profile, &at.author)?;
        keep(at, (UNSET, unit), (Some(old), seen), profile).await.map(Some)
    };
    let done = commit(ledger, author, (UNSET, &(unit, members)), work).await?;
    publish(store, ledger, author.clock, unit).await;
    match &done.before {
        None => Ok(done),
        Some(_) => Ok(Done { outcome: newest(store, ledger, unit).await?, ..done }),
    }
}

async fn keep(
    commit: &Commit<'_, impl Clock, impl Entropy>,
    (command, unit): (&str, &str),
    (old, seen): (Option<NewProfile>, RecordVersion),
    profile: Profile,
) -> Result<UnitRow> {
    let author = &commit.author;
    let changed = replaced(old.as_ref(), &profile);
    let subject = |_: &str| Subject { changed, ..Subject::from(vec![unit.to_owned()]) };
    let entry = author.entry(command, subject).await?;
    let record = encode(&Written::new(&profile, &entry))?;
    let replacement = Replacement { name: ProfileKey(unit).name(), seen, record: Some(record) };
    let row = UnitRow { profile: Some(profile), ..UnitRow::new(unit) };
    published::replace(commit, &entry, &row, &words(unit), vec![replacement]).await?;
    Ok(row)
}

/// Writes the copy of the profile that the API reads. If this fails, the cron writes it.
async fn publish(store: &impl OperatorStore, ledger: &dyn Ledger, clock: &impl Clock, unit: &str) {
    let _or_by_the_cron = publish_all(store, ledger, clock, &[ProfileKey(unit).name()]).await;
}

/// Copies the unit's name from a new profile to the ledger, where searches find it, and whether it publishes its total. If this fails, the next
/// reconciliation pass copies it. Does nothing for a repeated request, because the first request has copied
/// the name.
async fn copy_name(ledger: &dyn Ledger, row: &UnitRow) {
    if let Some(profile) = &row.profile {
        let _ = names::set(ledger, &row.unit, profile).await;
    }
}

/// Adds the current profile to the outcome of a repeated request, because the stored outcomes do not
/// contain it.
async fn as_now(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    unit: &str,
    done: Done<UnitRow>,
) -> Result<Done<UnitRow>> {
    match &done.before {
        None => Ok(done),
        Some(_) => {
            let row = newest(store, ledger, unit).await?.unwrap_or_else(|| UnitRow::new(unit));
            Ok(Done { outcome: row, ..done })
        }
    }
}

/// Returns the stored profile and its version. Does not check the values of the profile. If the record
/// cannot be read, returns an empty profile.
async fn stored(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    unit: &str,
) -> Result<(Option<NewProfile>, RecordVersion)> {
    let (record, seen) = latest(store, ledger, ProfileKey(unit)).await?;
    Ok((record.map(|record| serde_json::from_slice(&record).unwrap_or_default()), seen))
}

fn checked(profile: NewProfile, author: &Author<'_, impl Clock, impl Entropy>) -> Result<Profile> {
    Ok(Profile::checked(profile, author.clock).map_err(Refused::from)?)
}
