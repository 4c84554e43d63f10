//! The data of local development. It must not be written to a deployed namespace.

use super::{Result, put_record};
use crate::auth::{ApiKey, KeyRecord};
use crate::charge::Catalogue;
use crate::scope::Mode;
use crate::secret::{NamespaceSecret, SecretRecord};
use crate::store::{
    CatalogueKey, CredentialKey, Key, NoMetadata, OperatorStore, ProfileKey, SecretKey,
};
use crate::timeline::Profile;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Development {
    keys: Vec<(String, KeyRecord)>,
    catalogue: Catalogue,
    secret: NamespaceSecret,
    profiles: BTreeMap<String, Profile>,
}

/// A key of local development, which is public.
#[derive(Clone, Debug, Serialize)]
pub struct DevelopmentKey {
    /// The key itself.
    pub key: String,
    /// Its record, without the secret.
    pub record: KeyRecord,
}

/// Writes the records that are missing, and leaves the others as the developer has them. Returns the
/// keys.
///
/// # Errors
/// If the store fails.
pub async fn seed(store: &impl OperatorStore) -> Result<Vec<DevelopmentKey>> {
    let Development { keys, catalogue, secret, profiles } =
        serde_json::from_str(include_str!("development.json"))?;
    put_missing(store, &SecretKey, &SecretRecord { secret }).await?;
    for mode in [Mode::Test, Mode::Live] {
        put_missing(store, &CatalogueKey(mode), &catalogue).await?;
    }
    for (key, record) in &keys {
        let record = KeyRecord { secret: Some(secret), ..record.clone() };
        put_missing(store, &CredentialKey(ApiKey::new(key).hash()), &record).await?;
    }
    for (unit, profile) in &profiles {
        put_missing(store, &ProfileKey(unit), profile).await?;
    }
    Ok(keys.into_iter().map(|(key, record)| DevelopmentKey { key, record }).collect())
}

async fn put_missing<K: Key<Metadata = NoMetadata>>(
    store: &impl OperatorStore,
    key: &K,
    record: &impl Serialize,
) -> Result<()> {
    if store.get(key).await?.is_none() {
        put_record(store, key, record).await?;
    }
    Ok(())
}
