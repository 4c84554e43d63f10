//! New keys. A key is derived from its operation, so that what is sent twice makes one.

use super::{CREATE, KeyNote, KeyRow, MadeKey, NotedKey, of_rotation, read, revokes, row};
use crate::auth::{ApiKey, KEY_BYTES, KeyRecord, new_key};
use crate::handle::{Clock, Entropy};
use crate::ledger::Ledger;
use crate::operator::audit::{self, Author, Earlier};
use crate::operator::once::{Done, once};
use crate::operator::{OperatorError, Result, encode, register, secret};
use crate::scope::Mode;
use crate::secret::NamespaceSecret;
use crate::store::{CredentialKey, Key as _, OperatorStore};
use crate::time::SKEW_MS;

/// Makes a key with this record, and the namespace's secret with the first key. The secret of the
/// record given is ignored. Its unit or team is added to the register if that lacks it.
///
/// # Errors
/// If the ID or the label is out of bounds, the key that the operation has made is revoked or replaced since, or store or
/// ledger fail.
pub async fn create(
    store: &impl OperatorStore,
    ledger: Option<&dyn Ledger>,
    author: &Author<'_, impl Clock, impl Entropy>,
    record: KeyRecord,
) -> Result<Done<MadeKey>> {
    let record = KeyRecord { secret: None, ..record };
    let asked = encode(&record)?;
    read(&asked).map_err(OperatorError::Invalid)?; // as the service will
    let work = async |author: &Author<'_, _, _>| make(store, author, &record, &asked).await;
    once(store, ledger, author, (CREATE, &record), work).await
}

async fn make(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    record: &KeyRecord,
    asked: &[u8],
) -> Result<MadeKey> {
    let (secret, is_new) = secret::find_or_draw(store, author.entropy).await?;
    let drawn = Drawn::new(author, &secret, record.mode, asked)?;
    if let Some(made) = drawn.made_before(store, author).await? {
        return Ok(made);
    }
    author.record(store, CREATE, [&drawn.id(), record.level.id()]).await?;
    if is_new {
        secret::keep(store, secret.clone()).await?;
    }
    register::ensure(store, author, std::slice::from_ref(&record.level)).await?;
    let record = KeyRecord { secret: Some(secret), ..record.clone() };
    drawn.put(store, encode(&record)?, KeyNote::new(&record, author.registered())).await
}

/// A key that is to be made.
pub(super) struct Drawn {
    key: String,
    credential: CredentialKey,
}

impl Drawn {
    /// The key that an operation makes. It says `what` to make.
    pub fn new(
        author: &Author<'_, impl Clock, impl Entropy>,
        secret: &NamespaceSecret,
        mode: Mode,
        what: &[u8],
    ) -> Result<Self> {
        let operation = author.operation.as_ref().ok_or_else(|| {
            OperatorError::Invalid("nothing was done: a key is made by an operation".to_owned())
        })?;
        let bytes: [u8; KEY_BYTES] = operation.bytes(secret, author.by, mode, what);
        let key = new_key(mode, bytes);
        let credential = CredentialKey(ApiKey::new(&key).hash());
        Ok(Drawn { key, credential })
    }

    pub fn id(&self) -> String {
        self.credential.0.id()
    }

    /// The key as an earlier attempt of the operation has made it. After one that failed it is written once more, as nobody
    /// can have seen its secret. KV cost: none at the first attempt; else 2 lists, and a read per 100 changes since.
    pub async fn made_before(
        &self,
        store: &impl OperatorStore,
        author: &Author<'_, impl Clock, impl Entropy>,
    ) -> Result<Option<MadeKey>> {
        let Some(Earlier { since_ms, has_failed }) = author.earlier else { return Ok(None) };
        let id = self.id();
        let changes = audit::since(store, since_ms.saturating_sub(SKEW_MS)).await?;
        if changes.iter().any(|it| revokes(it, &id) || of_rotation(it, 0) == Some(&id)) {
            return Err(self.gone());
        }
        if has_failed { Ok(None) } else { self.listed(store).await }
    }

    /// The key as a list shows it. A read of its record would have Workers KV remember that there is none.
    pub async fn listed(&self, store: &impl OperatorStore) -> Result<Option<MadeKey>> {
        let listed = store.list(&self.credential.name(), None).await?.records;
        Ok(listed.iter().find_map(|record| row(record, None)).map(|row| MadeKey { key: None, row }))
    }

    fn gone(&self) -> OperatorError {
        OperatorError::Invalid(format!(
            "nothing was done: the key `{}` that was made by this is revoked or replaced since. Begin again to make another",
            self.id()
        ))
    }

    pub async fn put(
        self,
        store: &impl OperatorStore,
        value: Vec<u8>,
        note: KeyNote,
    ) -> Result<MadeKey> {
        let metadata = note.fitted()?;
        store.put(&NotedKey(self.credential), value, &metadata).await?;
        Ok(MadeKey { key: Some(self.key), row: KeyRow::new(self.credential, &metadata, None) })
    }
}
