//! New keys, drawn at random, or derived of a form that may be sent several times.

use super::{CREATE, KeyNote, KeyRow, MadeKey, NotedKey, of_rotation, read, revokes};
use crate::auth::{ApiKey, KEY_BYTES, KeyRecord, new_key};
use crate::handle::{Clock, Entropy};
use crate::operator::audit::{self, Author, Change};
use crate::operator::delays::SHOWN_SECONDS;
use crate::operator::form::FormId;
use crate::operator::{OperatorError, Result, encode, register, secret};
use crate::scope::Mode;
use crate::secret::NamespaceSecret;
use crate::store::{CredentialKey, OperatorStore, Registered};
use crate::time::{age_ms, parse_ms};

/// How long Workers KV may not show a write, in milliseconds.
const SEEN_AFTER_MS: u64 = SHOWN_SECONDS * 1_000;

/// Makes a key with this record, and the namespace's secret with the first key. The secret of the
/// record given is ignored. Its unit or team is added to the register if that lacks it.
///
/// # Errors
/// If the ID or the label is out of bounds, or the store fails.
pub async fn create(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    record: KeyRecord,
) -> Result<MadeKey> {
    create_by(store, author, record, None).await
}

/// As [`create`], for a form that may be sent several times: the same person gets the same key of it
/// for the same record, within an hour, and not again once that was revoked or replaced.
///
/// Workers KV may not show a change for a minute. So long, sent again elsewhere, a form may write the
/// key a second time, with a second entry in the record of changes, or bring back one that was revoked
/// within the same minute. And the first form of a namespace, which has no secret before, may make two keys.
///
/// # Errors
/// As [`create`]; if the form is too old, or what it made is not there any more.
pub async fn create_once(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    record: KeyRecord,
    form: &FormId,
) -> Result<MadeKey> {
    form.check(author.clock)?;
    create_by(store, author, record, Some(form)).await
}

async fn create_by(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    record: KeyRecord,
    form: Option<&FormId>,
) -> Result<MadeKey> {
    let record = KeyRecord { secret: None, ..record };
    let asked = encode(&record)?;
    read(&asked).map_err(OperatorError::Invalid)?; // as the service will
    let (secret, is_new) = secret::find_or_draw(store, author.entropy).await?;
    let drawn = match form {
        None => Drawn::random(author, record.mode),
        Some(form) => {
            let drawn = Drawn::of(form, author, &secret, record.mode, &asked);
            drawn.with_change(store, form, None).await?
        }
    };
    if let Some(made) = drawn.made_before(store, author.clock).await? {
        return Ok(made);
    }
    drawn.record(store, author, CREATE, [&drawn.id(), record.level.id()]).await?;
    if is_new {
        secret::keep(store, secret.clone()).await?;
    }
    register::ensure(store, author, std::slice::from_ref(&record.level)).await?;
    let record = KeyRecord { secret: Some(secret), ..record };
    let note = KeyNote::new(&record, drawn.registered(author));
    drawn.put(store, encode(&record)?, note).await
}

/// A key that is to be made.
pub(super) struct Drawn {
    key: String,
    credential: CredentialKey,
    /// The change that has made it, if a form is sent once more.
    pub change: Option<Change>,
}

impl Drawn {
    fn new(mode: Mode, bytes: [u8; KEY_BYTES]) -> Self {
        let key = new_key(mode, bytes);
        let credential = CredentialKey(ApiKey::new(&key).hash());
        Drawn { key, credential, change: None }
    }

    pub fn random(author: &Author<'_, impl Clock, impl Entropy>, mode: Mode) -> Self {
        let mut random = [0; KEY_BYTES];
        author.entropy.fill(&mut random);
        Drawn::new(mode, random)
    }

    /// The key that a form makes, which is sent by the author and says `what` to make.
    pub fn of(
        form: &FormId,
        author: &Author<'_, impl Clock, impl Entropy>,
        secret: &NamespaceSecret,
        mode: Mode,
        what: &[u8],
    ) -> Self {
        Drawn::new(mode, form.bytes(secret, author.by, mode, what))
    }

    pub fn id(&self) -> String {
        self.credential.0.id()
    }

    /// Looks whether the form has made it before. Its record is not read, which Workers KV would then
    /// not show for a while.
    /// The `old` key, which it is to replace, must not have been replaced by another one meanwhile.
    pub async fn with_change(
        self,
        store: &impl OperatorStore,
        form: &FormId,
        old: Option<&str>,
    ) -> Result<Self> {
        let id = self.id();
        let changes = audit::since(store, form.began_ms()).await?;
        if changes.iter().any(|change| revokes(change, &id) || of_rotation(change, 0) == Some(&id))
        {
            return Err(self.gone());
        }
        let is_overtaken = |change: &&Change| {
            let replaced = of_rotation(change, 0).map(String::as_str);
            let is_another = of_rotation(change, 1) != Some(&id);
            let is_later = parse_ms(&change.at) > Some(form.made_ms());
            replaced.is_some() && replaced == old && is_another && is_later
        };
        if let Some(Change { by, at, on, .. }) = changes.iter().find(is_overtaken) {
            return Err(OperatorError::Invalid(format!(
                "nothing was done: after this form was opened, {by} has replaced this key at {at} \
                 ({}); open its page again",
                on.join(" by ")
            )));
        }
        let makes = |change: &Change| {
            let created = (change.command == CREATE).then(|| change.on.first()).flatten();
            created.or(of_rotation(change, 1)) == Some(&id)
        };
        Ok(Drawn { change: changes.into_iter().find(makes), ..self })
    }

    /// The key that a form has made more than a minute ago. Before, it is written once more: the first
    /// write may be under way, or have failed.
    pub async fn made_before(
        &self,
        store: &impl OperatorStore,
        clock: &impl Clock,
    ) -> Result<Option<MadeKey>> {
        let Some(change) = &self.change else { return Ok(None) };
        if age_ms(&change.at, clock.now_ms()).is_none_or(|age_ms| age_ms < SEEN_AFTER_MS) {
            return Ok(None);
        }
        self.stored(store).await?.ok_or_else(|| self.gone()).map(Some)
    }

    pub async fn stored(&self, store: &impl OperatorStore) -> Result<Option<MadeKey>> {
        let stored = store.get(&NotedKey(self.credential)).await?;
        let row = |metadata| KeyRow::new(self.credential, &metadata, None);
        Ok(stored.map(|stored| MadeKey { key: self.key.clone(), row: row(stored.metadata) }))
    }

    fn gone(&self) -> OperatorError {
        OperatorError::Invalid(format!(
            "nothing was done: the key {} that this form made is not there any more; open its page \
             again to make another",
            self.id()
        ))
    }

    /// Writes the record of the change, unless it is there.
    pub async fn record(
        &self,
        store: &impl OperatorStore,
        author: &Author<'_, impl Clock, impl Entropy>,
        command: &str,
        on: [&str; 2],
    ) -> Result<()> {
        match self.change {
            Some(_) => Ok(()),
            None => author.record(store, command, on).await,
        }
    }

    /// Who made it, and when.
    pub fn registered(&self, author: &Author<'_, impl Clock, impl Entropy>) -> Registered {
        let before = self.change.clone();
        before.map_or_else(
            || author.registered(),
            |Change { at, by, .. }| Registered { created: at, by },
        )
    }

    pub async fn put(
        self,
        store: &impl OperatorStore,
        value: Vec<u8>,
        note: KeyNote,
    ) -> Result<MadeKey> {
        let metadata = note.fitted()?;
        store.put(&NotedKey(self.credential), value, &metadata).await?;
        Ok(MadeKey { key: self.key, row: KeyRow::new(self.credential, &metadata, None) })
    }
}
