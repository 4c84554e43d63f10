//! Bugs that are planted between the service and its store, so that the simulation can be seen to
//! find them.

use crate::kv::{Namespace, Value};
use futures_util::FutureExt as _;
use impact_pledge::store::{Key, Store, StoreError, Stored};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// A write is confirmed while it is on its way.
    AnswersBeforeThePut,
    /// A write that failed counts as kept.
    IgnoresWriteErrors,
    /// A read that failed counts as "not there".
    IgnoresReadErrors,
    /// The replay record is written before the transaction that it names.
    WritesReplayFirst,
    /// The replay record is not written.
    NeverWritesReplay,
    /// Mode, unit and idempotency key do not take part in a replay record's name.
    SharesReplayRecords,
    /// An isolate that has seen a key unknown refuses it from then on.
    KeepsUnknownKeys,
    /// An isolate that has seen a key takes it from then on.
    KeepsKnownKeys,
    /// An isolate reads the prices once.
    KeepsPrices,
    /// Keys are read with KV's own time in the cache, not the least.
    ReadsKeysOfAnyAge,
    /// A call may take for ever.
    HasNoDeadlines,
    /// Isolates draw the same random bytes.
    RepeatsRandomness,
    /// The metadata of a transaction says `live`, whatever its mode.
    ForgetsTheMode,
    /// A replay record that does not read counts as "not there".
    IgnoresDamage,
}

/// Each bug, and the first seed that finds it.
pub const BUGS: &[(Bug, u64)] = &[
    (Bug::AnswersBeforeThePut, 0),
    (Bug::IgnoresWriteErrors, 4),
    (Bug::IgnoresReadErrors, 5),
    (Bug::WritesReplayFirst, 3),
    (Bug::NeverWritesReplay, 0),
    (Bug::SharesReplayRecords, 0),
    (Bug::KeepsUnknownKeys, 2),
    (Bug::KeepsKnownKeys, 0),
    (Bug::KeepsPrices, 2),
    (Bug::ReadsKeysOfAnyAge, 25),
    (Bug::HasNoDeadlines, 5),
    (Bug::RepeatsRandomness, 0),
    (Bug::ForgetsTheMode, 0),
    (Bug::IgnoresDamage, 146),
];

/// The state that a bug keeps in an isolate.
#[derive(Default)]
pub struct Memory {
    unknown: RefCell<BTreeSet<String>>,
    known: RefCell<BTreeMap<String, Vec<u8>>>,
    postponed: RefCell<BTreeMap<usize, Postponed>>,
}

/// Name, value and metadata of a write that waits.
type Postponed = (String, Vec<u8>, serde_json::Value);

/// The store of one request, with a bug or none.
pub struct Planted<'m> {
    pub inner: Namespace,
    pub bug: Option<Bug>,
    pub memory: &'m Memory,
}

/// A key by its text alone.
struct Named(String);

impl Key for Named {
    type Metadata = serde_json::Value;
    const KIND: &'static str = "planted";
    const PREFIX: &'static str = "";
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.0)
    }
}

type Found<K> = Result<Option<Stored<Value, <K as Key>::Metadata>>, StoreError>;

impl Planted<'_> {
    async fn get_named<K: Key>(&self, name: &str) -> Found<K> {
        let Some(found) = self.inner.get(&Named(name.to_owned())).await? else { return Ok(None) };
        let metadata = serde_json::from_value(found.metadata)
            .map_err(|error| StoreError::damaged("metadata", &error))?;
        Ok(Some(Stored { value: found.value, metadata }))
    }

    /// Reads from the isolate's memory what was read before.
    async fn get_once<K: Key>(&self, key: &K) -> Found<K> {
        let name = key.name();
        if let Some(value) = self.memory.known.borrow().get(&name) {
            let metadata = serde_json::from_str("null").map_err(|_| StoreError::Unavailable)?;
            return Ok(Some(Stored { value: self.inner.value_of(value.clone()), metadata }));
        }
        let found = self.inner.get(key).await?;
        if let Some(found) = &found {
            self.memory.known.borrow_mut().insert(name, found.value.text());
        }
        Ok(found)
    }

    async fn get_unless_unknown<K: Key>(&self, key: &K) -> Found<K> {
        let name = key.name();
        if self.memory.unknown.borrow().contains(&name) {
            return Ok(None);
        }
        let found = self.inner.get(key).await?;
        if found.is_none() {
            self.memory.unknown.borrow_mut().insert(name);
        }
        Ok(found)
    }

    async fn put_named(
        &self,
        name: String,
        value: Vec<u8>,
        metadata: &serde_json::Value,
    ) -> Result<(), StoreError> {
        self.inner.put(&Named(name), value, metadata).await
    }
}

const SHARED: &str = "idempotency:shared";

impl Store for Planted<'_> {
    type Value = Value;

    async fn get<K: Key>(&self, key: &K) -> Found<K> {
        let bug = self.bug.filter(|bug| match bug {
            Bug::SharesReplayRecords | Bug::IgnoresDamage => K::KIND == "replay",
            Bug::KeepsUnknownKeys | Bug::KeepsKnownKeys | Bug::ReadsKeysOfAnyAge => {
                K::KIND == "key"
            }
            Bug::KeepsPrices => K::KIND == "catalogue",
            _ => true,
        });
        match bug {
            Some(Bug::IgnoresReadErrors) => Ok(self.inner.get(key).await.unwrap_or_default()),
            Some(Bug::IgnoresDamage) => {
                let found = self.inner.get(key).await?;
                Ok(found.filter(|found| !found.value.is_damaged()))
            }
            Some(Bug::SharesReplayRecords) => self.get_named::<K>(SHARED).await,
            Some(Bug::ReadsKeysOfAnyAge) => self.get_named::<K>(&key.name()).await,
            Some(Bug::KeepsUnknownKeys) => self.get_unless_unknown(key).await,
            Some(Bug::KeepsKnownKeys | Bug::KeepsPrices) => self.get_once(key).await,
            _ => self.inner.get(key).await,
        }
    }

    async fn put<K: Key>(
        &self,
        key: &K,
        value: Vec<u8>,
        metadata: &K::Metadata,
    ) -> Result<(), StoreError> {
        let (name, request) = (key.name(), self.inner.calls.exchange);
        let mut json = serde_json::to_value(metadata).map_err(|_| StoreError::Unavailable)?;
        let (is_transaction, is_replay) = (K::KIND == "transaction", K::KIND == "replay");
        match self.bug {
            Some(Bug::AnswersBeforeThePut) => {
                let _ = self.inner.put(key, value, metadata).now_or_never(); // it is sent by then
                Ok(())
            }
            Some(Bug::IgnoresWriteErrors) => {
                let _ = self.inner.put(key, value, metadata).await;
                Ok(())
            }
            Some(Bug::NeverWritesReplay) if is_replay => Ok(()),
            Some(Bug::SharesReplayRecords) if is_replay => {
                self.put_named(SHARED.to_owned(), value, &json).await
            }
            Some(Bug::ForgetsTheMode) if is_transaction => {
                json["mode"] = "live".into();
                self.put_named(name, value, &json).await
            }
            Some(Bug::WritesReplayFirst) if is_transaction && self.inner.reads_replay() => {
                self.memory.postponed.borrow_mut().insert(request, (name, value, json));
                Ok(())
            }
            Some(Bug::WritesReplayFirst) if is_replay => {
                self.inner.put(key, value, metadata).await?;
                let postponed = self.memory.postponed.borrow_mut().remove(&request);
                let Some((name, value, json)) = postponed else { return Ok(()) };
                self.put_named(name, value, &json).await
            }
            _ => self.inner.put(key, value, metadata).await,
        }
    }
}
