//! Simulates Workers KV as its documentation describes it: eventually consistent. Adds random failures.
//!
//! - There are two storages. A write takes effect at one storage when it arrives, and at the other storage up
//!   to [`COPY_LAG_MS`] later. The last write to arrive wins. A read uses either storage.
//! - Each location has a cache that keeps answers for 30 to 60 s, including the answer that a key does not
//!   exist. A location's own writes may or may not update its cache. The fault "late expiry" keeps an entry
//!   longer.
//! - A key accepts one write per second. A second write may be refused, as KV does with the status 429.
//! - A write arrives even if its request has ended.

use crate::executor::Time;
use crate::random::Random;
use impact_pledge::pledges::store::StoreError;
use impact_pledge::pledges::types::ERASED_EMAIL;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::future::pending;
use std::rc::Rc;

pub const LOCATIONS: usize = 3;
/// The maximum time for which a cache keeps an entry, unless the entry expires late.
pub const CACHE_MS: u64 = 60_000;
const LEAST_CACHE_MS: u64 = 30_000;
/// The maximum time by which one storage lags behind the other.
pub const COPY_LAG_MS: u64 = 5_000;
/// The maximum age of the state that an operator's list shows.
pub const LIST_LAG_MS: u64 = 60_000;
/// How long the Worker's adapter waits for a read.
pub const READ_MS: u32 = 5_000;
/// How long the Worker's adapter waits until a write is confirmed.
pub const WRITE_MS: u64 = 15_000;
/// Of 1,000 names that an operator's list should have, the number that are missing.
const HIDDEN: u64 = 10;
/// A JSON member that a newer version of the service writes, and that this version does not know.
pub const NEWER: &str = "addedLater";

/// A fault of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// KV returns an error, and does not store a write.
    ErrorBefore,
    /// KV returns an error although it stores the write.
    ErrorAfter,
    /// KV does not answer, and a write is lost.
    Hang,
    /// KV does not answer a write, but the write arrives within two minutes.
    HangKept,
    /// The value is damaged, and cannot be read.
    DamagedValue,
    /// The metadata is damaged, and cannot be read.
    DamagedMetadata,
    /// The value breaks off while it is read.
    BrokenValue,
    /// The value never arrives.
    HangingValue,
    /// KV refuses the call, because it is the second write of a key within one second.
    RateLimited,
}

/// The number of kinds of faults.
pub const FAULT_KINDS: usize = 9;

pub const READ_FAULTS: &[Fault] = &[
    Fault::ErrorBefore,
    Fault::Hang,
    Fault::DamagedValue,
    Fault::DamagedMetadata,
    Fault::BrokenValue,
    Fault::HangingValue,
];
const WRITE_FAULTS: &[Fault] =
    &[Fault::ErrorBefore, Fault::ErrorAfter, Fault::Hang, Fault::HangKept];

/// A stored value.
#[derive(Debug)]
pub struct Record {
    pub value: Vec<u8>,
    pub metadata: Vec<u8>,
    /// The number of the request that wrote the record.
    pub writer: usize,
    json: OnceCell<serde_json::Value>,
}

impl Record {
    pub fn new(value: Vec<u8>, metadata: Vec<u8>, writer: usize) -> Rc<Self> {
        Rc::new(Record { value, metadata, writer, json: OnceCell::new() })
    }

    pub fn metadata_json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.metadata).unwrap()
    }

    /// Returns the value without the JSON members that a newer version of the service adds.
    pub fn json(&self) -> &serde_json::Value {
        self.json.get_or_init(|| {
            let mut json: serde_json::Value = serde_json::from_slice(&self.value).unwrap();
            json.as_object_mut().and_then(|members| members.remove(NEWER));
            json
        })
    }
}

/// Stands in for the writer's number in records that no request wrote.
pub const OPERATOR: usize = usize::MAX;

pub type Held = Option<Rc<Record>>;

/// A write that arrived.
pub struct Version {
    pub held: Held,
    pub arrived_ms: u64,
    /// When the write takes effect at each storage.
    in_force_ms: [u64; 2],
}

/// An entry of a location's cache.
struct Cached {
    held: Held,
    fetched_ms: u64,
    lifetime_ms: u64,
    late_ms: u64,
}

/// A write that has not arrived yet.
struct Write {
    name: String,
    held: Held,
    location: usize,
    is_refused: Rc<Cell<bool>>,
}

/// The settings of one simulation.
#[derive(Clone, Copy, Default)]
pub struct Conditions {
    /// Of 1,000 calls, the number that fail.
    pub faults: u64,
    /// The maximum number of calls that fail.
    pub most_faults: usize,
    /// Whether a second write to a key within one second is always refused.
    pub is_strict: bool,
    /// Of 1,000 calls, the number that take long to arrive or to answer.
    pub slow: u64,
    /// Of 1,000 cache entries, the number that expire late.
    pub late: u64,
    /// Of 1,000 writes of payments and memberships, the number that KV does not answer, and that arrive late.
    pub late_copies: u64,
    /// Whether the simulation is a race of create requests. In a race, each call ends as soon as it takes
    /// effect, and a read returns any version written so far, or nothing. This is a wider choice than real
    /// caches have.
    pub is_race: bool,
}

pub struct Kv {
    pub time: Rc<Time>,
    pub random: Rc<Random>,
    pub conditions: Cell<Conditions>,
    pub versions: RefCell<BTreeMap<String, Vec<Version>>>,
    caches: RefCell<[BTreeMap<String, Cached>; LOCATIONS]>,
    on_the_way: RefCell<BTreeMap<(u64, u64), Write>>,
    write_count: Cell<u64>,
    late_until_ms: RefCell<BTreeMap<String, u64>>,
    hidden_ms: RefCell<BTreeMap<String, u64>>,
}

impl Kv {
    pub fn new(time: &Rc<Time>, random: &Rc<Random>, conditions: Conditions) -> Self {
        Kv {
            time: Rc::clone(time),
            random: Rc::clone(random),
            conditions: Cell::new(conditions),
            versions: RefCell::default(),
            caches: RefCell::default(),
            on_the_way: RefCell::default(),
            write_count: Cell::default(),
            late_until_ms: RefCell::default(),
            hidden_ms: RefCell::default(),
        }
    }

    /// Returns when a list last omitted this name by mistake, or a read found its record damaged: the ledger may lack its row
    /// since then. `None` if that never happened.
    pub fn hidden_ms(&self, name: &str) -> Option<u64> {
        self.hidden_ms.borrow().get(name).copied()
    }

    /// Returns the time until which a cache kept an entry of this name too long; 0 if no cache did so.
    pub fn late_until_ms(&self, name: &str) -> u64 {
        self.late_until_ms.borrow().get(name).copied().unwrap_or_default()
    }

    /// Writes or removes a record as the operator. The write arrives at once.
    pub fn set(&self, name: &str, value: Option<Vec<u8>>) {
        let record = value.map(|value| Record::new(value, b"null".to_vec(), OPERATOR));
        self.keep(self.time.now_ms(), name, record);
    }

    /// Erases a transaction as the operator does: replaces its record by one without the recipients. The new
    /// record counts as written by the request that wrote the old one.
    pub fn erase(&self, name: &str) {
        let Some(record) = self.last(name) else { return };
        let mut json = record.json().clone();
        for pledge in json["pledges"].as_array_mut().into_iter().flatten() {
            pledge["recipient"] = serde_json::json!({ "email": ERASED_EMAIL });
        }
        let (value, metadata) = (json.to_string().into_bytes(), record.metadata.clone());
        self.keep(self.time.now_ms(), name, Some(Record::new(value, metadata, record.writer)));
    }

    // ---- What is stored --------------------------------------------------------------------------

    /// Returns the record that arrived last under a name.
    pub fn last(&self, name: &str) -> Held {
        self.versions.borrow().get(name)?.last()?.held.clone()
    }

    /// Returns, for each name with this prefix, the record that arrived last.
    pub fn last_of(&self, prefix: &str) -> Vec<(String, Rc<Record>)> {
        let versions = self.versions.borrow();
        let named = versions.range(prefix.to_owned()..);
        let named = named.take_while(|(name, _)| name.starts_with(prefix));
        named.filter_map(|(name, all)| Some((name.clone(), all.last()?.held.clone()?))).collect()
    }

    // ---- Reads -----------------------------------------------------------------------------------

    pub async fn get(
        &self,
        location: usize,
        name: &str,
        cache_ms: u64,
        fault: Option<Fault>,
    ) -> Result<Held, StoreError> {
        if self.is_read_at_once(name) {
            return Ok(self.version(name, |_| 0));
        }
        self.travel().await;
        match fault {
            Some(Fault::ErrorBefore) => return Err(StoreError::Unavailable),
            Some(Fault::Hang) => pending().await,
            _ => {}
        }
        self.arrive();
        if self.conditions.get().is_race {
            return Ok(self.version(name, |count| self.random.index(count + 1)));
        }
        let held = self.read_at(location, name, cache_ms);
        self.travel().await;
        Ok(held)
    }

    /// Whether a read always finds the newest record of this name. In a race, this holds for all records
    /// except those that create requests write.
    fn is_read_at_once(&self, name: &str) -> bool {
        let is_written = name.starts_with("transaction:") || name.starts_with("idempotency:");
        self.conditions.get().is_race && !is_written
    }

    /// Returns a version of a record. The function `age` gets the number of versions, and returns how many of
    /// them are newer than the version to return.
    fn version(&self, name: &str, age: impl Fn(usize) -> usize) -> Held {
        let versions = self.versions.borrow();
        let versions = versions.get(name).map_or(&[][..], Vec::as_slice);
        versions.iter().rev().nth(age(versions.len()))?.held.clone()
    }

    /// Returns the record that a location's cache has for this name, or otherwise the record of one of the
    /// storages.
    fn read_at(&self, location: usize, name: &str, cache_ms: u64) -> Held {
        let now_ms = self.time.now_ms();
        if let Some(cached) = self.caches.borrow()[location].get(name) {
            let lifetime_ms = cached.lifetime_ms.min(cache_ms) + cached.late_ms;
            let is_evicted = self.random.chance(20);
            if now_ms < cached.fetched_ms + lifetime_ms && !is_evicted {
                return cached.held.clone();
            }
        }
        let storage = self.random.index(2);
        let versions = self.versions.borrow();
        let mut newest_first = versions.get(name).into_iter().flatten().rev();
        let version = newest_first.find(|version| version.in_force_ms[storage] <= now_ms);
        let held = version.and_then(|version| version.held.clone());
        self.cache(location, name, held.clone());
        held
    }

    /// Returns the records under a prefix as one of the storages shows them. The previous version of a record
    /// may appear if the record was written within the last `lag_ms`.
    pub fn in_force(&self, prefix: &str, lag_ms: u64) -> Vec<(String, Rc<Record>)> {
        let (now_ms, storage) = (self.time.now_ms(), self.random.index(2));
        let versions = self.versions.borrow();
        let named = versions.range(prefix.to_owned()..);
        let named = named.take_while(|(name, _)| name.starts_with(prefix));
        let shown = named.filter_map(|(name, versions)| {
            let since_ms = |version: &Version| now_ms.checked_sub(version.in_force_ms[storage]);
            let mut newest_first = versions.iter().rev().filter_map(|it| Some((it, since_ms(it)?)));
            let (newest, since_ms) = newest_first.next()?;
            let is_late = since_ms < lag_ms && self.random.chance(500);
            let version = if is_late { newest_first.next()?.0 } else { newest };
            Some((name.clone(), version.held.clone()?))
        });
        shown.collect()
    }

    /// Decides at random whether a list wrongly omits this name, as a fault.
    pub fn hides(&self, name: &str) -> bool {
        let is_hidden = name.starts_with("transaction:")
            && self.conditions.get().faults > 0
            && self.random.chance(HIDDEN);
        if is_hidden {
            self.hide(name);
        }
        is_hidden
    }

    /// Remembers that a record was not shown, or was damaged.
    pub fn hide(&self, name: &str) {
        self.hidden_ms.borrow_mut().insert(name.to_owned(), self.time.now_ms());
    }

    fn cache(&self, location: usize, name: &str, held: Held) {
        let fetched_ms = self.time.now_ms();
        let lifetime_ms = LEAST_CACHE_MS + self.random.below(CACHE_MS - LEAST_CACHE_MS + 1);
        let is_late = self.random.chance(self.conditions.get().late);
        let late_ms = if is_late { self.random.below(CACHE_MS) } else { 0 };
        if is_late {
            let until_ms = fetched_ms + CACHE_MS + late_ms;
            let mut late = self.late_until_ms.borrow_mut();
            let longest = late.entry(name.to_owned()).or_default();
            *longest = until_ms.max(*longest);
        }
        let cached = Cached { held, fetched_ms, lifetime_ms, late_ms };
        self.caches.borrow_mut()[location].insert(name.to_owned(), cached);
    }

    // ---- Writes ----------------------------------------------------------------------------------

    /// Writes a record. Fails with the call's fault, or if the same name was written less than one second
    /// before.
    pub async fn put(
        &self,
        location: usize,
        name: &str,
        held: Held,
        fault: Option<Fault>,
    ) -> Result<(), Fault> {
        let is_refused = Rc::new(Cell::new(false));
        let travel_ms = match fault {
            Some(Fault::HangKept) if self.conditions.get().is_race => 60_000 * self.random.below(2),
            Some(Fault::HangKept) => self.random.below(120_000),
            _ => self.travel_ms(),
        };
        if !matches!(fault, Some(Fault::ErrorBefore | Fault::Hang)) {
            let (name, is_refused) = (name.to_owned(), Rc::clone(&is_refused));
            self.write_count.set(self.write_count.get() + 1);
            let arrival = (self.time.now_ms() + travel_ms, self.write_count.get());
            let write = Write { name, held, location, is_refused };
            self.on_the_way.borrow_mut().insert(arrival, write);
        }
        self.time.sleep(travel_ms).await;
        self.arrive();
        if !self.conditions.get().is_race {
            self.travel().await;
        }
        match fault {
            Some(Fault::Hang | Fault::HangKept) => pending().await,
            Some(fault) => Err(fault),
            None if is_refused.get() => Err(Fault::RateLimited),
            None => Ok(()),
        }
    }

    /// Applies the writes that are due, in the order of their arrival.
    pub fn arrive(&self) {
        loop {
            let mut on_the_way = self.on_the_way.borrow_mut();
            let Some(first) = on_the_way.first_entry() else { return };
            if first.key().0 > self.time.now_ms() {
                return;
            }
            let ((arrived_ms, _), write) = first.remove_entry();
            drop(on_the_way);
            self.receive(arrived_ms, write);
        }
    }

    fn receive(&self, arrived_ms: u64, Write { name, held, location, is_refused }: Write) {
        let Conditions { is_strict, is_race, .. } = self.conditions.get();
        let last = self.versions.borrow().get(&name).and_then(|all| Some(all.last()?.arrived_ms));
        let is_second = last.is_some_and(|last_ms| arrived_ms < last_ms + 1_000);
        if is_second && !is_race && (is_strict || self.random.chance(500)) {
            is_refused.set(true);
            return;
        }
        self.keep(arrived_ms, &name, held.clone());
        if !is_race && self.random.chance(500) {
            self.cache(location, &name, held);
        }
    }

    fn keep(&self, arrived_ms: u64, name: &str, held: Held) {
        let mut in_force_ms = [arrived_ms; 2];
        if !self.conditions.get().is_race {
            in_force_ms[self.random.index(2)] += self.random.below(COPY_LAG_MS + 1);
        }
        let version = Version { held, arrived_ms, in_force_ms };
        self.versions.borrow_mut().entry(name.to_owned()).or_default().push(version);
    }

    // ---- Delays and faults -----------------------------------------------------------------------

    pub async fn travel(&self) {
        self.time.sleep(self.travel_ms()).await;
    }

    fn travel_ms(&self) -> u64 {
        let Conditions { slow, is_race, .. } = self.conditions.get();
        match is_race {
            true => 0,
            false => self.random.below(if self.random.chance(slow) { 2_500 } else { 40 }),
        }
    }

    /// Returns the fault of a write.
    pub fn write_fault(&self, name: &str) -> Option<Fault> {
        let is_copy = name.starts_with("settlement:") || name.starts_with("member:");
        match is_copy && self.random.chance(self.conditions.get().late_copies) {
            true => Some(Fault::HangKept),
            false => self.fault(name, WRITE_FAULTS),
        }
    }

    pub fn fault(&self, name: &str, faults: &[Fault]) -> Option<Fault> {
        let mut conditions = self.conditions.get();
        let is_spared = conditions.most_faults == 0 || self.is_read_at_once(name);
        if is_spared || !self.random.chance(conditions.faults) {
            return None;
        }
        conditions.most_faults -= 1;
        self.conditions.set(conditions);
        Some(self.random.pick(faults))
    }
}

// ---- What an exchange did --------------------------------------------------------------------------

/// One KV call of a request, for the invariants and the trace.
#[derive(Clone, Debug)]
pub struct Call {
    pub operation: &'static str,
    pub name: String,
    pub began_ms: u64,
    pub ended_ms: Option<u64>,
    pub fault: Option<Fault>,
    /// The record that a read found.
    pub found: Held,
    /// The record that a write was to store.
    pub written: Held,
}

/// The calls of one request.
pub struct Calls {
    pub exchange: usize,
    pub time: Rc<Time>,
    pub list: RefCell<Vec<Call>>,
}

impl Calls {
    /// Begins a call. Returns its number.
    pub fn begin(
        &self,
        operation: &'static str,
        name: &str,
        fault: Option<Fault>,
        written: Held,
    ) -> usize {
        let (name, began_ms) = (name.to_owned(), self.time.now_ms());
        let mut list = self.list.borrow_mut();
        list.push(Call { operation, name, began_ms, ended_ms: None, fault, found: None, written });
        list.len() - 1
    }

    pub fn end(&self, call: usize, change: impl FnOnce(&mut Call)) {
        let call = &mut self.list.borrow_mut()[call];
        call.ended_ms = Some(self.time.now_ms());
        change(call);
    }
}
