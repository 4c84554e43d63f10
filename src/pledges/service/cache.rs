//! The caches of an isolate, and the count of bytes in flight.
//!
//! The caches hold verified keys, units of teams, price lists, settlements, recent replay records, and networks
//! with too many refused keys. Their entries expire. The number or the size of the
//! entries is limited.

use super::network::Network;
use super::recent::RecentReplays;
use crate::pledges::api::Problem;
use crate::pledges::auth::{KeyHash, KeyRecord};
use crate::pledges::charge::PriceList;
use crate::pledges::http::InFlight;
use crate::pledges::scope::Mode;
use crate::pledges::settlement::PaidAt;
use std::borrow::Borrow;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

/// Cache TTL, in milliseconds. A revoked key may work for this time plus the store's cache TTL.
pub const LIFETIME_MS: u64 = 10_000;
/// How long an accepted key is exempt from the limit on refused keys, in milliseconds.
const EXEMPT_MS: u64 = 15 * 60_000;
const MAX_ENTRIES: usize = 1_024;
/// Maximum total size of a cache's entries in memory, in bytes. Applies to caches whose entries vary widely
/// in size.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// The caches that the requests of one isolate share.
#[derive(Debug, Default)]
pub struct Caches {
    pub recent_replays: RecentReplays,
    pub in_flight: InFlight,
    pub(super) keys: Cache<KeyHash, KeyRecord>,
    /// The known memberships of units in teams. Each key is the name of a membership record.
    pub(super) members: Cache<String, ()>,
    /// The price list of each mode; `None` for a mode without one.
    pub(super) price_lists: Cache<Mode, Option<PriceList>>,
    /// The units' own price lists, by the names of their records; `None` for a unit without one. The total
    /// size in bytes is limited too.
    pub(super) unit_price_lists: Cache<String, Option<PriceList>>,
    /// The settlements (the months that shops have paid), by the names of their records. An entry is added
    /// when its read begins, so that other requests can wait for the same read.
    pub(super) settlements: Cache<String, Lookup>,
    /// The keys that were accepted recently. Their records are not cached here.
    pub(super) accepted: AcceptedKeys,
    pub(super) limited: Cache<Network, ()>,
}

/// One read of a settlement, shared by all requests of the isolate that need it. The first of these requests makes the
/// read.
pub type Lookup = OnceCell<Result<Option<PaidAt>, Problem>>;

/// Values with their expiry, sorted by key. A `BTreeMap` for each type would add 7.5 KB to the Worker after brotli.
#[derive(Debug)]
pub struct Cache<K, V>(RefCell<Vec<CacheEntry<K, V>>>);

#[derive(Debug)]
struct CacheEntry<K, V> {
    key: K,
    value: Rc<V>,
    expires_ms: u64,
    /// Size of the value in memory, in bytes; 0 in a cache that limits only the number of entries.
    bytes: usize,
}

impl<K, V> Default for Cache<K, V> {
    fn default() -> Self {
        Cache(RefCell::default())
    }
}

impl<K: Ord, V> Cache<K, V> {
    /// Returns a value that has not expired.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q, now_ms: u64) -> Option<Rc<V>>
    where
        K: Borrow<Q>,
    {
        let entries = self.0.borrow();
        let index = entries.binary_search_by(|entry| entry.key.borrow().cmp(key)).ok()?;
        let entry = entries.get(index)?;
        (now_ms < entry.expires_ms).then(|| Rc::clone(&entry.value))
    }

    /// Keeps a value for [`LIFETIME_MS`].
    pub fn keep(&self, key: K, value: V, now_ms: u64) -> Rc<V> {
        self.keep_sized(key, value, 0, now_ms)
    }

    /// Keeps a value that has this many bytes in memory.
    pub fn keep_sized(&self, key: K, value: V, bytes: usize, now_ms: u64) -> Rc<V> {
        let expires_ms = now_ms.saturating_add(LIFETIME_MS);
        self.keep_entry(CacheEntry { key, value: Rc::new(value), expires_ms, bytes }, now_ms)
    }

    fn keep_entry(&self, entry: CacheEntry<K, V>, now_ms: u64) -> Rc<V> {
        let mut entries = self.0.borrow_mut();
        entries.retain(|other| now_ms < other.expires_ms && other.key != entry.key);
        let bytes = entries.iter().map(|entry| entry.bytes).sum::<usize>();
        if entries.len() >= MAX_ENTRIES || bytes.saturating_add(entry.bytes) > MAX_BYTES {
            entries.clear(); // all are fresh, and finding the oldest would add code
        }
        let value = Rc::clone(&entry.value);
        let index = entries.partition_point(|other| other.key < entry.key);
        entries.insert(index, entry);
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
        let expires_ms = now_ms.saturating_add(EXEMPT_MS);
        self.0
            .keep_entry(CacheEntry { key: hash, value: Rc::new(()), expires_ms, bytes: 0 }, now_ms);
    }

    /// Removes a key after it was refused.
    pub fn forget(&self, hash: &KeyHash) {
        self.0.forget(hash);
    }
}
