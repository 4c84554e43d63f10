//! Data for local development. It must not be written to a deployed namespace.

use crate::buyer::recipient::Profile;
use crate::office::keys::rule::{KeyMetadata, NotedKey};
use crate::office::people::rows::changes;
use crate::office::people::rows::changes::NewPerson;
use crate::office::people::rows::people::PersonRole;
use crate::office::shared::rows::port::{Ledger, LedgerError};
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::records::encode;
use crate::pledges::auth::{ApiKey, KeyLevel, KeyRecord};
use crate::pledges::charge::PriceList;
use crate::pledges::scope::Mode;
use crate::pledges::secret::{NamespaceSecret, SecretRecord};
use crate::pledges::service::Clock;
use crate::pledges::store::{
    CredentialKey, Key, MemberKey, NoMetadata, OperatorStore, PriceListKey, ProfileKey, Registered,
    SecretKey, TeamKey, UnitKey,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

const DATA: &str = include_str!("development.json");

#[derive(Deserialize)]
struct Development {
    keys: Vec<(String, KeyRecord)>,
    teams: BTreeMap<String, Vec<String>>,
    catalogue: PriceList,
    secret: NamespaceSecret,
    profiles: BTreeMap<String, Profile>,
    people: Vec<DevelopmentPerson>,
}

#[derive(Deserialize)]
struct DevelopmentPerson {
    #[serde(flatten)]
    place: KeyLevel,
    address: String,
    role: PersonRole,
}

/// An API key for local development, which is public.
#[derive(Clone, Debug, Serialize)]
pub struct DevelopmentKey {
    /// The key itself.
    pub key: String,
    /// The key's record, without the secret.
    pub record: KeyRecord,
    pub units: Vec<String>,
}

/// Writes the records that are missing, and leaves existing records unchanged. Returns the keys.
pub async fn seed(store: &impl OperatorStore) -> Result<Vec<DevelopmentKey>> {
    let Development { keys, teams, catalogue, secret, profiles, .. } = serde_json::from_str(DATA)?;
    put_missing(store, &SecretKey, &SecretRecord { secret: secret.clone() }, &NoMetadata).await?;
    for mode in [Mode::Test, Mode::Live] {
        put_missing(store, &PriceListKey::of_mode(mode), &catalogue, &NoMetadata).await?;
    }
    for (key, record) in &keys {
        let record = KeyRecord { secret: Some(secret.clone()), ..record.clone() };
        let note = serde_json::to_value(KeyMetadata::new(&record, registered()))?;
        let credential = CredentialKey(ApiKey::new(key).hash());
        put_missing(store, &NotedKey(credential), &record, &note).await?;
    }
    for (unit, profile) in &profiles {
        put_missing(store, &ProfileKey(unit), profile, &NoMetadata).await?;
    }
    put_teams(store, &teams).await?;
    let units = |level: &KeyLevel| match level {
        KeyLevel::Unit(unit) => vec![unit.clone()],
        KeyLevel::Team(team) => teams.get(team).cloned().unwrap_or_default(),
    };
    let key = |(key, record): (String, KeyRecord)| {
        let units = units(&record.level);
        DevelopmentKey { key, record, units }
    };
    Ok(keys.into_iter().map(key).collect())
}

/// Registers the teams and their units, and records which unit belongs to which team.
async fn put_teams(
    store: &impl OperatorStore,
    teams: &BTreeMap<String, Vec<String>>,
) -> Result<()> {
    for (team, units) in teams {
        put_missing(store, &TeamKey(team), &registered(), &registered()).await?;
        for unit in units {
            put_missing(store, &MemberKey { team, unit }, &registered(), &NoMetadata).await?;
        }
    }
    for unit in teams.values().flatten().collect::<BTreeSet<_>>() {
        put_missing(store, &UnitKey(unit), &registered(), &registered()).await?;
    }
    Ok(())
}

/// Adds the people of shops to the ledger, except those who are there.
///
/// # Errors
/// If the ledger fails.
pub async fn seed_people(ledger: &dyn Ledger, clock: &impl Clock) -> Result<()> {
    let Development { people, .. } = serde_json::from_str(DATA)?;
    let Registered { by, by_shop, .. } = registered();
    for DevelopmentPerson { place, address, role } in &people {
        let (address, at) = (&**address, clock.now_ms());
        let person = NewPerson { address, role: *role, by: &by, by_shop, at };
        match ledger.run(&changes::adding(place, &person, None)?).await {
            Ok(_) | Err(LedgerError::Refused(_)) => {} // refused: the person is there
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn registered() -> Registered {
    let (created, by) = ("2026-01-01T00:00:00.000Z".to_owned(), "npm start".to_owned());
    Registered { created, by, by_shop: false }
}

async fn put_missing<K: Key>(
    store: &impl OperatorStore,
    key: &K,
    record: &impl Serialize,
    metadata: &K::Metadata,
) -> Result<()> {
    if store.get(key).await?.is_none() {
        store.put(key, encode(record)?, metadata).await?;
    }
    Ok(())
}
