//! Units: their entries in the register, and their profiles with the name, logo and style that a shop's timelines show.

use super::audit::{Author, MemberChange, Subject};
use super::once::{Done, Outcome, once, refuse_repeat};
use super::shared_record::{RecordVersion, SharedRecord};
use super::{OperatorError, Result, prices, read_value, register, without_position};
use crate::auth::{KeyLevel, check_id};
use crate::ledger::{Ledger, names};
use crate::recipient::{NewProfile, Profile};
use crate::service::{Clock, Entropy};
use crate::store::{
    ChangeNote, Key as _, MAX_READS, OperatorStore, ProfileKey, Registered, UnitKey,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;

const SET: &str = "units set";
const UNSET: &str = "units unset";
pub(super) const REMOVE: &str = "units remove";

/// A unit in a list.
#[derive(Clone, Debug, Default, Serialize)]
pub struct UnitRow {
    /// The unit's ID.
    pub unit: String,
    /// The unit's profile; `None` if the unit has none, or the record cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// Why the record of the profile cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Who registered the unit, and when; `None` if unknown.
    #[serde(flatten)]
    pub registered: Option<Registered>,
    /// The version of the profile that was read.
    #[serde(skip)]
    pub seen: RecordVersion,
}

impl UnitRow {
    fn new(unit: &str) -> Self {
        UnitRow { unit: unit.to_owned(), ..UnitRow::default() }
    }

    fn with_profile(mut self, record: &[u8]) -> Self {
        self.read_profile(record);
        self
    }

    fn read_profile(&mut self, record: &[u8]) {
        self.seen = RecordVersion::new(Some(record));
        match serde_json::from_slice(record) {
            Ok(profile) => self.profile = Some(profile),
            Err(error) => self.problem = Some(without_position(&error)),
        }
    }
}

/// Only the unit's ID is stored for replays, because a profile may name a person. A replay reads the profile again.
impl Outcome for UnitRow {
    type Stored = String;

    fn to_stored(&self) -> Option<String> {
        Some(self.unit.clone())
    }

    fn from_stored(unit: String) -> Self {
        UnitRow::new(&unit)
    }
}

impl Outcome for Option<UnitRow> {
    type Stored = Option<String>;

    fn to_stored(&self) -> Option<Option<String>> {
        Some(self.as_ref().map(|row| row.unit.clone()))
    }

    fn from_stored(unit: Option<String>) -> Self {
        unit.as_deref().map(UnitRow::new)
    }
}

/// The members of a profile to set. Members that are `None` stay as they are.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ProfileMembers {
    name: Option<String>,
    logo: Option<String>,
    accent: Option<String>,
    language: Option<String>,
    link: Option<String>,
    mail: Option<bool>,
    messaging_services: Option<Vec<String>>,
    reply_to: Option<String>,
    mail_text: Option<String>,
    time_zone: Option<String>,
    billing_name: Option<String>,
    billing_address: Option<String>,
    tax_text: Option<String>,
}

/// An optional member of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Member {
    /// The address of the logo.
    Logo,
    /// The colour of links and marks.
    Accent,
    /// The language of the unit's pages.
    Language,
    /// The address that the name and the logo link to.
    Link,
    /// The e-mail address that gets recipients' replies.
    ReplyTo,
    /// The shop's own text in e-mails.
    MailText,
    /// The time zone of dates.
    TimeZone,
    /// The name of the company on statements.
    BillingName,
    /// The company's address on statements.
    BillingAddress,
    /// The tax text of the company on statements.
    TaxText,
}

/// Sets members of a unit's profile, and registers the unit if it is not registered. A new profile needs a name.
///
/// # Errors
/// If the unit's ID or a member is not valid, a new profile has no name, somebody else changes the profile at the same
/// moment, or the store or the ledger fails.
pub async fn set(
    store: &impl OperatorStore,
    ledger: Option<&dyn Ledger>,
    author: &Author<'_, impl Clock, impl Entropy>,
    unit: &str,
    members: ProfileMembers,
) -> Result<Done<UnitRow>> {
    check_id(unit).map_err(OperatorError::Invalid)?;
    let work = async |author: &Author<'_, _, _>| {
        refuse_repeat(ledger, author)?;
        let (old, seen) = stored(store, unit).await?;
        let profile = checked(members.clone().over(unit, old.clone())?, author)?;
        keep(store, author, (SET, unit), (old, seen), profile).await
    };
    let done = once(store, ledger, author, (SET, &(unit, &members)), work).await?;
    copy_name(ledger, &done.outcome).await;
    as_now(store, unit, done).await
}

impl ProfileMembers {
    /// Returns the old profile with these members set.
    fn over(self, unit: &str, old: Option<NewProfile>) -> Result<NewProfile> {
        if old.is_none() && self.name.is_none() {
            return Err(OperatorError::Invalid(format!(
                "the unit `{unit}` has no profile yet: give it a name with `--name`"
            )));
        }
        let old = old.unwrap_or_default();
        Ok(NewProfile {
            name: self.name.unwrap_or(old.name),
            logo: self.logo.or(old.logo),
            accent: self.accent.or(old.accent),
            language: self.language.or(old.language),
            link: self.link.or(old.link),
            mail: self.mail.unwrap_or(old.mail),
            messaging_services: self.messaging_services.unwrap_or(old.messaging_services),
            reply_to: self.reply_to.or(old.reply_to),
            mail_text: self.mail_text.or(old.mail_text),
            time_zone: self.time_zone.or(old.time_zone),
            billing_name: self.billing_name.or(old.billing_name),
            billing_address: self.billing_address.or(old.billing_address),
            tax_text: self.tax_text.or(old.tax_text),
        })
    }
}

/// Replaces the whole profile of a unit: members that are not given are removed. Registers the unit if it is not
/// registered. `seen` is the version that the new profile replaces.
///
/// # Errors
/// If the unit's ID or a member is not valid, the profile is not the one that was seen, somebody else changes it at
/// the same moment, or the store or the ledger fails.
pub async fn replace(
    store: &impl OperatorStore,
    ledger: Option<&dyn Ledger>,
    author: &Author<'_, impl Clock, impl Entropy>,
    unit: &str,
    profile: NewProfile,
    seen: RecordVersion,
) -> Result<Done<UnitRow>> {
    check_id(unit).map_err(OperatorError::Invalid)?;
    let work = async |author: &Author<'_, _, _>| {
        refuse_repeat(ledger, author)?;
        let profile = checked(profile.clone(), author)?;
        let (old, _) = stored(store, unit).await?;
        keep(store, author, (SET, unit), (old, seen), profile).await
    };
    let done = once(store, ledger, author, (SET, &(unit, &profile)), work).await?;
    copy_name(ledger, &done.outcome).await;
    as_now(store, unit, done).await
}

/// Removes members from a unit's profile; `None` if the unit has no profile.
///
/// # Errors
/// If the unit's ID is not valid, the remaining profile is not valid, somebody else changes the profile at the same
/// moment, or the store or the ledger fails.
pub async fn unset(
    store: &impl OperatorStore,
    ledger: Option<&dyn Ledger>,
    author: &Author<'_, impl Clock, impl Entropy>,
    unit: &str,
    members: &[Member],
) -> Result<Done<Option<UnitRow>>> {
    check_id(unit).map_err(OperatorError::Invalid)?;
    let work = async |author: &Author<'_, _, _>| {
        refuse_repeat(ledger, author)?;
        let (Some(old), seen) = stored(store, unit).await? else { return Ok(None) };
        let mut profile = old.clone();
        members.iter().for_each(|member| *member.of(&mut profile) = None);
        let profile = checked(profile, author)?;
        keep(store, author, (UNSET, unit), (Some(old), seen), profile).await.map(Some)
    };
    let done = once(store, ledger, author, (UNSET, &(unit, members)), work).await?;
    match &done.before {
        None => Ok(done),
        Some(_) => Ok(Done { outcome: get(store, unit).await?, ..done }),
    }
}

/// Copies the name of a profile that was set into the ledger, by which the unit is found. If this fails, the next
/// reconciliation pass does it. The outcome of a replay has no profile: the name was copied before.
async fn copy_name(ledger: Option<&dyn Ledger>, row: &UnitRow) {
    if let (Some(ledger), Some(profile)) = (ledger, &row.profile) {
        let _ = names::set(ledger, &row.unit, profile.name()).await;
    }
}

impl Member {
    fn of(self, profile: &mut NewProfile) -> &mut Option<String> {
        match self {
            Member::Logo => &mut profile.logo,
            Member::Accent => &mut profile.accent,
            Member::Language => &mut profile.language,
            Member::Link => &mut profile.link,
            Member::ReplyTo => &mut profile.reply_to,
            Member::MailText => &mut profile.mail_text,
            Member::TimeZone => &mut profile.time_zone,
            Member::BillingName => &mut profile.billing_name,
            Member::BillingAddress => &mut profile.billing_address,
            Member::TaxText => &mut profile.tax_text,
        }
    }
}

/// Replaces the outcome of a replay with the current profile.
async fn as_now(
    store: &impl OperatorStore,
    unit: &str,
    done: Done<UnitRow>,
) -> Result<Done<UnitRow>> {
    match &done.before {
        None => Ok(done),
        Some(_) => {
            let row = get(store, unit).await?.unwrap_or_else(|| UnitRow::new(unit));
            Ok(Done { outcome: row, ..done })
        }
    }
}

/// Reads the stored profile, unchecked. Returns an empty one if the record cannot be read.
async fn stored(
    store: &impl OperatorStore,
    unit: &str,
) -> Result<(Option<NewProfile>, RecordVersion)> {
    let record = read_value(store, ProfileKey(unit)).await?;
    let seen = RecordVersion::new(record.as_deref());
    Ok((record.map(|record| serde_json::from_slice(&record).unwrap_or_default()), seen))
}

fn checked(profile: NewProfile, author: &Author<'_, impl Clock, impl Entropy>) -> Result<Profile> {
    let profile = Profile::checked(profile, author.clock);
    profile.map_err(|problem| OperatorError::Invalid(problem.to_owned()))
}

// ---- Conflicting changes -------------------------------------------------------------------------

fn is_of(unit: &str) -> impl Fn(&ChangeNote) -> bool {
    move |note| note.on == unit && [SET, UNSET, REMOVE].contains(&&*note.command)
}

fn shared_record<'c>(
    unit: &'c str,
    is_changed_by: &'c dyn Fn(&ChangeNote) -> bool,
) -> SharedRecord<'c, ProfileKey<'c>> {
    let words = format!("the profile of the unit `{unit}`");
    SharedRecord { key: ProfileKey(unit), words, is_changed_by, removed_by: &[REMOVE] }
}

async fn keep(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    (command, unit): (&str, &str),
    (old, seen): (Option<NewProfile>, RecordVersion),
    profile: Profile,
) -> Result<UnitRow> {
    let is_of = is_of(unit);
    let shared_record = shared_record(unit, &is_of);
    let changed = replaced(old.as_ref(), &profile);
    let subject = |_: &str| Subject { changed, ..Subject::from(vec![unit.to_owned()]) };
    let turn = shared_record.begin(store, author, seen, command, subject).await?;
    let named = if command == SET { vec![KeyLevel::Unit(unit.to_owned())] } else { vec![] };
    turn.write(&profile, async || register::ensure(store, author, &named).await).await?;
    Ok(UnitRow { profile: Some(profile), ..UnitRow::new(unit) })
}

/// The members whose values the audit log records. It records of any other member only that it was changed: the address
/// for replies may be a person's.
const RECORDED: [&str; 9] = [
    "name",
    "logo",
    "accent",
    "language",
    "link",
    "mail",
    "messagingServices",
    "mailText",
    "timeZone",
];

/// Returns the members that differ between two versions of a profile.
fn replaced(old: Option<&NewProfile>, new: &Profile) -> Vec<MemberChange> {
    let members = |profile| match profile {
        Ok(Value::Object(members)) => members,
        _ => serde_json::Map::new(), // a profile is an object
    };
    let old = members(old.map_or(Ok(Value::Null), serde_json::to_value));
    let new = members(serde_json::to_value(new));
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let value = |of: &serde_json::Map<String, Value>, name: &str| match of.get(name) {
        None | Some(Value::Null | Value::Bool(false)) => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Array(items)) if items.is_empty() => None,
        Some(Value::Array(items)) => {
            Some(items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "))
        }
        Some(other) => Some(other.to_string()),
    };
    let change = |name: &String| {
        let (before, after) = (value(&old, name), value(&new, name));
        let is_recorded = RECORDED.contains(&&**name);
        (before != after).then(|| MemberChange {
            member: name.clone(),
            before: before.filter(|_| is_recorded),
            after: after.filter(|_| is_recorded),
        })
    };
    names.into_iter().filter_map(change).collect()
}

/// Returns a unit's profile; `None` if the unit has none. Its timelines then show the name Impact Pledge. KV cost: 1
/// read.
///
/// # Errors
/// If the unit's ID is not valid, or the store fails.
pub async fn get(store: &impl OperatorStore, unit: &str) -> Result<Option<UnitRow>> {
    check_id(unit).map_err(OperatorError::Invalid)?;
    let record = read_value(store, ProfileKey(unit)).await?;
    Ok(record.map(|record| UnitRow::new(unit).with_profile(&record)))
}

/// Returns the first `most` units by ID, and whether there are more. A unit is listed if it is registered or has a profile.
/// KV cost: for both registered units and profiles 1 list per 1,000, and 1 read per 100 profiles.
///
/// # Errors
/// If the store fails.
pub async fn list(store: &impl OperatorStore, most: usize) -> Result<(Vec<UnitRow>, bool)> {
    let registered = register::first(store, UnitKey::PREFIX, most).await?;
    let mut profiles = register::first(store, ProfileKey::PREFIX, most).await?;
    let is_cut = profiles.len() > most;
    profiles.truncate(most);
    let row = |(unit, registered)| UnitRow { unit, registered, ..UnitRow::default() };
    let mut rows: Vec<_> = registered.into_iter().map(row).collect();
    let mut others = Vec::new();
    for profiles in profiles.chunks(MAX_READS) {
        let keys: Vec<_> = profiles.iter().map(|(unit, _)| ProfileKey(unit)).collect();
        for (ProfileKey(unit), record) in keys.iter().zip(store.get_values(&keys).await?) {
            let Some(record) = record else { continue }; // it was removed meanwhile
            let place = rows.binary_search_by(|row| (*row.unit).cmp(unit)).ok();
            match place.and_then(|place| rows.get_mut(place)) {
                Some(row) => row.read_profile(&record),
                None => others.push(UnitRow::new(unit).with_profile(&record)),
            }
        }
    }
    rows.append(&mut others);
    rows.sort_unstable_by(|one, other| one.unit.cmp(&other.unit));
    let has_more = is_cut || rows.len() > most;
    rows.truncate(most);
    Ok((rows, has_more))
}

/// Removes a unit's profile, its price lists and its entry in the register. Its keys, teams and transactions stay. Returns
/// whether there was any of them.
///
/// # Errors
/// If somebody else changes the profile at the same moment, or the store or the ledger fails.
pub async fn remove(
    store: &impl OperatorStore,
    ledger: Option<&dyn Ledger>,
    author: &Author<'_, impl Clock, impl Entropy>,
    unit: &str,
) -> Result<Done<bool>> {
    check_id(unit).map_err(OperatorError::Invalid)?;
    let work = async |author: &Author<'_, _, _>| {
        refuse_repeat(ledger, author)?;
        remove_now(store, author, unit).await
    };
    let done = once(store, ledger, author, (REMOVE, &unit), work).await?;
    if let Some(ledger) = ledger.filter(|_| done.before.is_none()) {
        let _ = names::remove(ledger, unit).await; // else the next reconciliation pass removes it
    }
    Ok(done)
}

async fn remove_now(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    unit: &str,
) -> Result<bool> {
    let (profile, entry) =
        (read_value(store, ProfileKey(unit)).await?, read_value(store, UnitKey(unit)).await?);
    let price_lists = prices::lists_of(store, unit).await?;
    if profile.is_none() && entry.is_none() && price_lists.is_empty() {
        return Ok(author.earlier.is_some()); // an earlier attempt may have removed them
    }
    let is_of = is_of(unit);
    let shared_record = shared_record(unit, &is_of);
    let seen = RecordVersion::new(profile.as_deref());
    let turn = shared_record.begin(store, author, seen, REMOVE, |_| vec![unit.to_owned()]).await?;
    let time = turn.at().to_owned();
    let others = async || {
        prices::remove_lists(store, author, &price_lists, &time).await?;
        Ok(store.remove(&UnitKey(unit)).await?)
    };
    turn.remove(others).await?;
    Ok(true)
}
