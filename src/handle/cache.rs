//! What outlives a request: verified keys, the catalogue and recent answers, for a bounded time and
//! count, and the count of bytes in flight.

use super::in_flight::{InFlight, Reservation};
use super::recent::RecentAnswers;
use crate::auth::{KeyHash, KeyRecord};
use crate::charge::Catalogue;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// How long an entry is used, in milliseconds. With the store's own cache, this bounds how long a
/// revoked key lives on.
pub const LIFETIME_MS: u64 = 10_000;
/// How many keys are held at most.
const MAX_KEYS: usize = 1_024;

/// What the requests of one isolate share.
#[derive(Debug, Default)]
pub struct Caches {
    keys: RefCell<BTreeMap<KeyHash, Entry<KeyRecord>>>,
    catalogue: RefCell<Option<Entry<Catalogue>>>,
    pub(super) recent_answers: RecentAnswers,
    in_flight: InFlight,
}

#[derive(Debug)]
struct Entry<T> {
    value: Rc<T>,
    expires_ms: u64,
}

impl<T> Entry<T> {
    fn new(value: T, now_ms: u64) -> Self {
        Entry { value: Rc::new(value), expires_ms: now_ms.saturating_add(LIFETIME_MS) }
    }

    fn fresh(&self, now_ms: u64) -> Option<Rc<T>> {
        (now_ms < self.expires_ms).then(|| Rc::clone(&self.value))
    }
}

impl Caches {
    /// A reservation of bytes in flight, of none yet.
    pub fn reservation(&self) -> Reservation<'_> {
        self.in_flight.reservation()
    }

    /// How many recent answers are kept.
    pub fn recent_count(&self) -> usize {
        self.recent_answers.count()
    }

    /// How many bytes the recent answers have together.
    pub fn recent_bytes(&self) -> usize {
        self.recent_answers.bytes()
    }

    pub(super) fn key(&self, hash: KeyHash, now_ms: u64) -> Option<Rc<KeyRecord>> {
        self.keys.borrow().get(&hash)?.fresh(now_ms)
    }

    pub(super) fn keep_key(&self, hash: KeyHash, record: KeyRecord, now_ms: u64) -> Rc<KeyRecord> {
        let mut keys = self.keys.borrow_mut();
        if keys.len() >= MAX_KEYS {
            keys.retain(|_, entry| entry.fresh(now_ms).is_some());
        }
        if keys.len() >= MAX_KEYS {
            keys.clear();
        }
        let entry = Entry::new(record, now_ms);
        let record = Rc::clone(&entry.value);
        keys.insert(hash, entry);
        record
    }

    pub(super) fn catalogue(&self, now_ms: u64) -> Option<Rc<Catalogue>> {
        self.catalogue.borrow().as_ref()?.fresh(now_ms)
    }

    pub(super) fn keep_catalogue(&self, catalogue: Catalogue, now_ms: u64) -> Rc<Catalogue> {
        let entry = Entry::new(catalogue, now_ms);
        let catalogue = Rc::clone(&entry.value);
        *self.catalogue.borrow_mut() = Some(entry);
        catalogue
    }
}
