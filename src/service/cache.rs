//! The caches of an isolate: verified keys, units of teams, price lists, profiles, settlements, recent replay records,
//! and networks with too many refused keys. The entries of each cache expire, and their number or size is limited. The
//! count of bytes in flight is also here.

use super::network::Network;
use super::recent::RecentReplays;
use crate::api::Problem;
use crate::auth::{KeyHash, KeyRecord};
use crate::charge::PriceList;
use crate::http::InFlight;
use crate::recipient::Profile;
use crate::scope::Mode;
use crate::settlement::PaidAt;
use std::borrow::Borrow;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

/// Cache TTL, in milliseconds. A revoked key may work for this time plus the store's cache TTL.
pub const LIFETIME_MS: u64 = 10_000;
/// How long an accepted key is exempt from the limit on refused keys, in milliseconds.
const EXEMPT_MS: u64 = 15 * 60_000;
/// Maximum number of entries of a cache.
const MAX_ENTRIES: usize = 1_024;

/// The caches that the requests of one isolate share.
#[derive(Debug, Default)]
pub struct Caches {
    /// The replay records of the last create requests that had an idempotency key.
    pub recent_replays: RecentReplays,
    /// The bytes that requests hold while they wait.
    pub in_flight: InFlight,
    pub(super) keys: Cache<KeyHash, KeyRecord>,
    /// Members of teams, by the names of their records.
    pub(super) members: Cache<String, ()>,
    /// The price list of a mode; `None` if it has none.
    pub(super) price_lists: Cache<Mode, Option<PriceList>>,
    pub(super) profiles: Cache<String, KnownProfile>,
    /// The settlements of shops and months, by the names of their records. An entry is added when its read begins, so
    /// that other requests can wait for the same read.
    pub(super) settlements: Cache<String, Lookup>,
    /// The keys that were accepted recently. Their records are not cached here.
    pub(super) accepted: AcceptedKeys,
    /// The networks with too many refused API keys.
    pub(super) limited: Cache<Network, ()>,
}

/// The profile of a unit; `None` if it has none.
pub type KnownProfile = Result<Option<Profile>, Damaged>;

/// One read of a settlement, shared by all requests of the isolate that need it. The first of these requests makes the
/// read.
pub type Lookup = OnceCell<Result<Option<PaidAt>, Problem>>;

/// A record that could not be read. The failure was logged.
#[derive(Debug)]
pub struct Damaged;

/// Values with their expiry, sorted by key. A `BTreeMap` for each type would add 7.5 KB to the Worker after brotli.
#[derive(Debug)]
pub struct Cache<K, V>(RefCell<Vec<Entry<K, V>>>);

#[derive(Debug)]
struct Entry<K, V> {
    key: K,
    value: Rc<V>,
    expires_ms: u64,
}

impl<K, V> Default for Cache<K, V> {
    fn default() -> Self {
        Cache(RefCell::default())
    }
}

impl<K: Ord, V> Cache<K, V> {
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q, now_ms: u64) -> Option<Rc<V>>
    where
        K: Borrow<Q>,
    {
        let entries = self.0.borrow();
        let index = entries.binary_search_by(|entry| entry.key.borrow().cmp(key)).ok()?;
        let entry = entries.get(index)?;
        (now_ms < entry.expires_ms).then(|| Rc::clone(&entry.value))
    }

    pub fn keep(&self, key: K, value: V, now_ms: u64) -> Rc<V> {
        self.keep_until(key, value, now_ms, now_ms.saturating_add(LIFETIME_MS))
    }

    fn keep_until(&self, key: K, value: V, now_ms: u64, expires_ms: u64) -> Rc<V> {
        let mut entries = self.0.borrow_mut();
        entries.retain(|entry| now_ms < entry.expires_ms && entry.key != key);
        if entries.len() >= MAX_ENTRIES {
            entries.clear(); // all are fresh, and finding the oldest would add code
        }
        let value = Rc::new(value);
        let index = entries.partition_point(|entry| entry.key < key);
        entries.insert(index, Entry { key, value: Rc::clone(&value), expires_ms });
        value
    }

    pub fn forget(&self, key: &K) {
        self.0.borrow_mut().retain(|entry| entry.key != *key);
    }
}

/// Keys that were accepted within the last 15 minutes.
#[derive(Debug, Default)]
pub struct AcceptedKeys(Cache<KeyHash, ()>);

impl AcceptedKeys {
    pub fn contains(&self, hash: &KeyHash, now_ms: u64) -> bool {
        self.0.get(hash, now_ms).is_some()
    }

    pub fn keep(&self, hash: KeyHash, now_ms: u64) {
        self.0.keep_until(hash, (), now_ms, now_ms.saturating_add(EXEMPT_MS));
    }

    /// Removes a key that is refused.
    pub fn forget(&self, hash: &KeyHash) {
        self.0.forget(hash);
    }
}
