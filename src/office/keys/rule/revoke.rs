use super::{KeyName, REVOKE, find};
use crate::office::audit::rule::{Author, Subject};
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::once::{Done, once};
use crate::office::shared::rule::records::read_value;
use crate::pledges::auth::KeyRecord;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;

/// Revokes a key by one of the names that [`find`] accepts. Works even if the ledger does not answer, because a leaked key
/// must be revocable at any time.
///
/// # Errors
/// - As [`find`].
/// - If the key does not exist.
pub async fn revoke(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    key: &str,
) -> Result<Done<KeyName>> {
    let work = async |author: &Author<'_, _, _>| remove(store, author, key).await;
    match once(ledger, author, (REVOKE, &key), work).await {
        Err(OperatorError::Ledger(_)) => Ok(Done { outcome: work(author).await?, before: None }),
        revoked => revoked,
    }
}

async fn remove(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    key: &str,
) -> Result<KeyName> {
    let key = find(store, key).await?;
    let Some(value) = read_value(store, key).await? else {
        if author.earlier.is_some() {
            return Ok(KeyName::new(key)); // an earlier attempt has removed it
        }
        return Err(OperatorError::invalid(
            "nothing was revoked: there is no such key in this environment".to_owned(),
        ));
    };
    let of = serde_json::from_slice(&value).ok().map(|record: KeyRecord| record.level);
    let subject = Subject { of, ..Subject::from(vec![key.0.id()]) };
    author.record_subject(store, REVOKE, subject).await?;
    store.remove(&key).await?;
    Ok(KeyName::new(key))
}
