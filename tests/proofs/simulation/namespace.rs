//! KV as one caller sees it: the service, or an operator. An operator's lists have short and sometimes empty
//! pages, and may show an earlier state.

use crate::kv::{
    CACHE_MS, Calls, Fault, Held, Kv, LIST_LAG_MS, NEWER, READ_FAULTS, READ_MS, Record, WRITE_MS,
};
use crate::times::SLEEP_MS;
use impact_pledge::pledges::store::{
    Key, KeyInfo, ListPage, ListingStore, NoMetadata, OperatorStore, Store, StoreError, Stored,
    StoredValue,
};
use std::borrow::Cow;
use std::future::pending;
use std::rc::Rc;

/// Of 1,000 list pages of an operator, the number that are empty although further pages follow. `LAPSING` is
/// the number of cursors in 1,000 that expire.
const EMPTY_PAGES: u64 = 100;
const LAPSING: u64 = 10;
/// Of 1,000 lists of an operator, the number that show an earlier state.
const LATE_LISTS: u64 = 300;
/// Of 1,000 list calls, the number after which the operator's computer sleeps for a while.
const SLEEPS: u64 = 4;
const LAPSED: &str = "lapsed ";

/// KV as seen by one request at one location, with the deadlines of the Worker's adapter.
#[derive(Clone)]
pub struct Namespace {
    pub kv: Rc<Kv>,
    pub location: usize,
    pub calls: Rc<Calls>,
    /// Whether this caller writes records as a newer version of the service would: with a member that the
    /// current version does not know.
    pub is_newer: bool,
    /// The maximum number of names on a list page.
    pub page_length: usize,
}

impl Namespace {
    /// Writes or removes a record.
    async fn write(
        &self,
        operation: &'static str,
        name: &str,
        held: Held,
    ) -> Result<(), StoreError> {
        let Namespace { kv, location, calls, .. } = self;
        let fault = kv.write_fault(name);
        let call = calls.begin(operation, name, fault, held.clone());
        let put = async { Ok(kv.put(*location, name, held, fault).await) };
        let ended = kv.time.within(WRITE_MS, put).await;
        calls.end(call, |call| call.fault = ended.clone().map_or(fault, Result::err));
        ended?.map_err(|_| StoreError::Unavailable)
    }

    /// Returns a page of a list. For operators, some pages are empty although others follow, and some cursors expire.
    fn page(&self, prefix: &str, cursor: Option<&str>) -> Result<ListPage, StoreError> {
        let kv = &self.kv;
        let is_short = self.page_length < usize::MAX;
        let odd =
            |per_mille| is_short && kv.conditions.get().faults > 0 && kv.random.chance(per_mille);
        let after = cursor.unwrap_or_default();
        if after.starts_with(LAPSED) {
            return Err(StoreError::Unavailable);
        }
        let is_late = is_short && kv.random.chance(LATE_LISTS);
        let lag_ms = if is_late { kv.random.below(LIST_LAG_MS) } else { 0 };
        let mut records = kv.in_force(prefix, lag_ms);
        records.retain(|(name, _)| **name > *after && !(is_short && kv.hides(name)));
        let length = if odd(EMPTY_PAGES) { 0 } else { self.page_length };
        let is_last = records.len() <= length;
        records.truncate(length);
        let last = records.last().map_or_else(|| after.to_owned(), |(name, _)| name.clone());
        let lapses = if odd(LAPSING) { LAPSED } else { "" };
        let listed = |(name, record): (String, Rc<Record>)| KeyInfo {
            name,
            metadata: record.metadata_json(),
            expiration: None,
        };
        let cursor = (!is_last).then(|| [lapses, &last].concat());
        Ok(ListPage { records: records.into_iter().map(listed).collect(), cursor })
    }

    fn written_by_version(&self, json: Vec<u8>) -> Vec<u8> {
        match json.strip_prefix(b"{") {
            Some(rest) if self.is_newer => {
                let comma = if rest == b"}" { "" } else { "," };
                [format!("{{\"{NEWER}\":[1]{comma}").as_bytes(), rest].concat()
            }
            _ => json,
        }
    }
}

impl Store for Namespace {
    type Value = Value;

    async fn get<K: Key>(&self, key: &K) -> Result<Option<Stored<Value, K::Metadata>>, StoreError> {
        let Namespace { kv, location, calls, .. } = self;
        let name = key.name();
        let fault = kv.fault(&name, READ_FAULTS);
        let cache_ms = K::CACHE_SECONDS.map_or(CACHE_MS, |seconds| u64::from(seconds) * 1_000);
        let call = calls.begin("get", &name, fault, None);
        let get = kv.get(*location, &name, cache_ms, fault);
        let found = kv.time.within(K::READ_MS.into(), get).await;
        calls.end(call, |call| call.found = found.clone().unwrap_or_default());
        let Some(record) = found? else { return Ok(None) };
        let is_damaged = fault == Some(Fault::DamagedMetadata);
        if is_damaged || fault == Some(Fault::DamagedValue) {
            kv.hide(&name);
        }
        let json: &[u8] = if is_damaged { b"[0]" } else { &record.metadata };
        let metadata = serde_json::from_slice(json)
            .map_err(|error| StoreError::damaged("metadata", &error))?;
        let (kv, calls) = (Rc::clone(kv), Rc::clone(calls));
        Ok(Some(Stored { value: Value { kv, calls, record, name, fault }, metadata }))
    }

    async fn put<K: Key>(
        &self,
        key: &K,
        value: Vec<u8>,
        metadata: &K::Metadata,
    ) -> Result<(), StoreError> {
        let metadata = serde_json::to_vec(metadata).map_err(|_| StoreError::Unavailable)?;
        let [value, metadata] = [value, metadata].map(|json| self.written_by_version(json));
        let record = Record::new(value, metadata, self.calls.exchange);
        self.write("put", &key.name(), Some(record)).await
    }
}

impl ListingStore for Namespace {
    /// Returns a page of a list, as one of KV's storage locations shows it. The page may show an earlier
    /// state.
    async fn list(&self, prefix: &str, cursor: Option<&str>) -> Result<ListPage, StoreError> {
        let Namespace { kv, calls, .. } = self;
        let fault = kv.fault(prefix, &[Fault::ErrorBefore, Fault::Hang]);
        let call = calls.begin("list", prefix, fault, None);
        let list = async {
            kv.travel().await;
            match fault {
                Some(Fault::ErrorBefore) => return Err(StoreError::Unavailable),
                Some(_) => pending().await,
                None => {}
            }
            kv.arrive();
            self.page(prefix, cursor)
        };
        let listed = kv.time.within(READ_MS.into(), list).await;
        calls.end(call, |_| {});
        let may_sleep = self.page_length < usize::MAX && kv.conditions.get().faults > 0;
        if may_sleep && kv.random.chance(SLEEPS) {
            kv.time.sleep(kv.random.below(SLEEP_MS)).await;
        }
        listed
    }
}

impl OperatorStore for Namespace {
    async fn get_values<K: Key>(&self, keys: &[K]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        let mut values = Vec::with_capacity(keys.len());
        for key in keys {
            let stored = self.get(&Whole(key)).await?;
            values.push(match stored {
                Some(stored) => Some(stored.value.read(K::READ_MS).await?),
                None => None,
            });
        }
        Ok(values)
    }

    async fn put_for<K: Key>(
        &self,
        key: &K,
        value: Vec<u8>,
        metadata: &K::Metadata,
        _: u32,
    ) -> Result<(), StoreError> {
        self.put(key, value, metadata).await
    }

    async fn remove<K: Key>(&self, key: &K) -> Result<(), StoreError> {
        self.write("remove", &key.name(), None).await
    }

    async fn pause(&self, milliseconds: u32) {
        self.kv.time.sleep(milliseconds.into()).await;
    }
}

/// Wraps a key for reads that ignore the record's metadata.
struct Whole<'k, K>(&'k K);

impl<K: Key> Key for Whole<'_, K> {
    type Metadata = NoMetadata;
    const KIND: &'static str = K::KIND;
    const PREFIX: &'static str = K::PREFIX;
    fn suffix(&self) -> Cow<'_, str> {
        self.0.suffix()
    }
}

/// A stored value, not yet read.
pub struct Value {
    kv: Rc<Kv>,
    calls: Rc<Calls>,
    record: Rc<Record>,
    name: String,
    fault: Option<Fault>,
}

impl Value {
    async fn bytes(&self) -> Result<Vec<u8>, StoreError> {
        self.kv.travel().await;
        match self.fault {
            Some(Fault::BrokenValue) => Err(StoreError::Unavailable),
            Some(Fault::HangingValue) => pending().await,
            Some(Fault::DamagedValue) => Ok(self.damaged()),
            _ => Ok(self.record.value.clone()),
        }
    }

    fn damaged(&self) -> Vec<u8> {
        let half = self.record.value.len() / 2;
        match self.kv.random.below(4) {
            0 => self.record.value[..half].to_vec(),
            1 => vec![],
            2 => b"[]".to_vec(),
            _ => self.record.value.iter().map(|byte| byte ^ 0x80).collect(),
        }
    }
}

impl StoredValue for Value {
    async fn read(self, milliseconds: u32) -> Result<Vec<u8>, StoreError> {
        let call = self.calls.begin("read", &self.name, None, None);
        let bytes = self.kv.time.within(milliseconds.into(), self.bytes()).await;
        self.calls.end(call, |_| {});
        bytes
    }
}
