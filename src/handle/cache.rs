//! What outlives a request: verified keys, the catalogues, profiles, recent answers and networks that
//! guess keys, for a bounded time and
//! count, and the count of bytes in flight.

use super::in_flight::InFlight;
use super::limited::LimitedNetworks;
use super::recent::RecentAnswers;
use crate::auth::{KeyHash, KeyRecord, Mode};
use crate::charge::Catalogue;
use crate::timeline::Profile;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// How long an entry is used, in milliseconds: with the store's cache the life of a revoked key.
pub const LIFETIME_MS: u64 = 10_000;
/// How many entries a cache holds at most.
const MAX_ENTRIES: usize = 1_024;

/// What the requests of one isolate share.
#[derive(Debug, Default)]
pub struct Caches {
    /// The answers to the last repeatable creates.
    pub recent_answers: RecentAnswers,
    /// The bytes that requests hold while they wait.
    pub in_flight: InFlight,
    pub(super) keys: Cache<KeyHash, KeyRecord>,
    pub(super) test_catalogue: Remembered<Option<Catalogue>>,
    pub(super) live_catalogue: Remembered<Option<Catalogue>>,
    pub(super) limited: LimitedNetworks,
    pub(super) profiles: Profiles,
}

impl Caches {
    /// The prices of a mode, or that it has none.
    pub(super) fn catalogue(&self, mode: Mode) -> &Remembered<Option<Catalogue>> {
        match mode {
            Mode::Test => &self.test_catalogue,
            Mode::Live => &self.live_catalogue,
        }
    }
}

/// One value and when it expires.
#[derive(Debug)]
pub struct Remembered<V>(RefCell<Option<(Rc<V>, u64)>>);

impl<V> Default for Remembered<V> {
    fn default() -> Self {
        Remembered(RefCell::default())
    }
}

impl<V> Remembered<V> {
    pub fn get(&self, now_ms: u64) -> Option<Rc<V>> {
        let (value, _) = self.0.borrow().clone().filter(|(_, expires_ms)| now_ms < *expires_ms)?;
        Some(value)
    }

    pub fn keep(&self, value: V, now_ms: u64) -> Rc<V> {
        let value = Rc::new(value);
        *self.0.borrow_mut() = Some((Rc::clone(&value), now_ms.saturating_add(LIFETIME_MS)));
        value
    }
}

/// Values and when they expire.
#[derive(Debug)]
pub struct Cache<K, V>(RefCell<BTreeMap<K, (Rc<V>, u64)>>);

impl<K, V> Default for Cache<K, V> {
    fn default() -> Self {
        Cache(RefCell::default())
    }
}

impl<K: Ord, V> Cache<K, V> {
    pub fn get(&self, key: &K, now_ms: u64) -> Option<Rc<V>> {
        let entries = self.0.borrow();
        let (value, expires_ms) = entries.get(key)?;
        (now_ms < *expires_ms).then(|| Rc::clone(value))
    }

    pub fn keep(&self, key: K, value: V, now_ms: u64) -> Rc<V> {
        let mut entries = self.0.borrow_mut();
        if entries.len() >= MAX_ENTRIES {
            entries.retain(|_, (_, expires_ms)| now_ms < *expires_ms);
        }
        if entries.len() >= MAX_ENTRIES {
            entries.clear(); // all are fresh: to find the oldest is not worth it
        }
        let value = Rc::new(value);
        entries.insert(key, (Rc::clone(&value), now_ms.saturating_add(LIFETIME_MS)));
        value
    }
}

/// How many units' profiles are held at most: each is looked for among all.
const MAX_PROFILES: usize = 128;

/// The profiles of units, also that one has none, and when each expires. They are few, so that a
/// list is enough; another map would be more code.
#[derive(Debug, Default)]
pub struct Profiles(RefCell<Vec<KnownProfile>>);

/// The unit, what it has, and until when that is used.
type KnownProfile = (String, Rc<Option<Profile>>, u64);

impl Profiles {
    pub fn get(&self, unit: &str, now_ms: u64) -> Option<Rc<Option<Profile>>> {
        let entries = self.0.borrow();
        let fresh = |entry: &&KnownProfile| entry.0 == unit && now_ms < entry.2;
        entries.iter().find(fresh).map(|(_, profile, _)| Rc::clone(profile))
    }

    pub fn keep(&self, unit: &str, profile: Option<Profile>, now_ms: u64) -> Rc<Option<Profile>> {
        let mut entries = self.0.borrow_mut();
        entries.retain(|(other, _, expires_ms)| now_ms < *expires_ms && other != unit);
        if entries.len() >= MAX_PROFILES {
            entries.clear();
        }
        let profile = Rc::new(profile);
        let expires_ms = now_ms.saturating_add(LIFETIME_MS);
        entries.push((unit.to_owned(), Rc::clone(&profile), expires_ms));
        profile
    }
}
