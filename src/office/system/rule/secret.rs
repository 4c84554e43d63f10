//! The namespace's secret: its record, and the copies in the records of API keys.

use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::records::{Pages, load, put_record};
use crate::pledges::auth::KeyRecord;
use crate::pledges::secret::{NamespaceSecret, SECRET_BYTES, SecretRecord};
use crate::pledges::service::Entropy;
use crate::pledges::store::{
    CredentialKey, Key as _, KeyInfo, MAX_READS, OperatorStore, SecretKey,
};

/// Returns the secret from its record. If KV does not show that record yet, returns the copy in an API key's record. KV
/// cost: 1 read; without the record, also 1 list per 1,000 keys and 1 read per 100 keys.
pub(crate) async fn find(store: &impl OperatorStore) -> Result<Option<NamespaceSecret>> {
    match recorded(store).await? {
        Some(secret) => Ok(Some(secret)),
        None => copied(store).await,
    }
}

/// Returns the secret from its record. KV cost: 1 read.
pub(crate) async fn recorded(store: &impl OperatorStore) -> Result<Option<NamespaceSecret>> {
    let record: Option<SecretRecord> = load(store, SecretKey).await?;
    Ok(record.map(|record| record.secret))
}

async fn copied(store: &impl OperatorStore) -> Result<Option<NamespaceSecret>> {
    let mut pages = Pages::new(store, CredentialKey::PREFIX);
    while let Some(page) = pages.next().await? {
        for keys in credential_keys(&page).chunks(MAX_READS) {
            let values = store.get_values(keys).await?;
            let secret = |value: Vec<u8>| serde_json::from_slice::<KeyRecord>(&value).ok()?.secret;
            if let Some(secret) = values.into_iter().flatten().find_map(secret) {
                return Ok(Some(secret));
            }
        }
    }
    Ok(None)
}

pub(crate) fn credential_keys(page: &[KeyInfo]) -> Vec<CredentialKey> {
    page.iter().filter_map(|record| CredentialKey::parse(&record.name)).collect()
}

/// Returns the namespace's secret. If there is none, generates one. The `bool` is `true` if the secret has
/// no record of its own yet. The caller must then [write](keep) that record.
pub(crate) async fn find_or_draw(
    store: &impl OperatorStore,
    entropy: &impl Entropy,
) -> Result<(NamespaceSecret, bool)> {
    if let Some(secret) = recorded(store).await? {
        return Ok((secret, false));
    }
    let secret = copied(store).await?.unwrap_or_else(|| {
        let mut random = [0; SECRET_BYTES];
        entropy.fill(&mut random);
        NamespaceSecret::new(random)
    });
    Ok((secret, true))
}

pub(crate) async fn keep(store: &impl OperatorStore, secret: NamespaceSecret) -> Result<()> {
    put_record(store, &SecretKey, &SecretRecord { secret }).await
}
