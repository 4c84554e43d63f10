//! All schedules, not only random ones: three creates under one idempotency key, two of them with one
//! payload, by one API key or by two, in isolates at up to three locations, with each single fault
//! at each call of the store.
//!
//! An isolate's behaviour is a function of the outcomes of its calls and of their sequence. So each
//! such history is executed once; a schedule is a path through the states that they span together
//! with the records in KV. A read finds any version that has arrived, or nothing: more than caches allow.
//! Reads of the API key and of the prices, which are not written here, end at once: their sequence
//! makes no difference.

use crate::isolate::{Answer, EPOCH_MS, SimulatedRequest};
use crate::payload::{Payload, draw_prices, retrieved};
use crate::random::Random;
use crate::simulation::{KEYS, PATH};
use futures_util::FutureExt as _;
use futures_util::future::{LocalBoxFuture, poll_fn};
use impact_pledge::handle::{Caches, Clock, Journal, Service, Settings};
use impact_pledge::store::{Key, Store, StoreError, Stored, StoredValue};
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

const CREATES: usize = 3;
/// The create that comes afterwards, with a payload of its own.
const LATER: usize = CREATES;

/// A create's payload and API key: two creates of one payload are one transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Creation {
    key: usize,
    payload: usize,
}

pub type Creations = [Creation; CREATES + 1];

const fn creations(keys: [usize; CREATES]) -> Creations {
    let [one, two, three] = keys;
    [
        Creation { key: one, payload: 0 },
        Creation { key: two, payload: 0 },
        Creation { key: three, payload: 1 },
        Creation { key: one, payload: 2 },
    ]
}

/// All creates by one API key.
pub const ONE_KEY: Creations = creations([0, 0, 0]);
/// The creates of one payload by two API keys of one unit.
pub const TWO_KEYS: Creations = creations([0, 1, 0]);
/// Which creates share an isolate, and how many of the 27 placements at three locations that is.
const PLACEMENTS: &[(&[&[usize]], u128)] = &[
    (&[&[0], &[1], &[2]], 6),
    (&[&[0, 1], &[2]], 6),
    (&[&[0, 2], &[1]], 6),
    (&[&[1, 2], &[0]], 6),
    (&[&[0, 1, 2]], 3),
];

// ---- Calls and what they come to -------------------------------------------------------------------

/// The records that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Slot {
    Replay,
    /// That of a payload.
    Transaction(usize),
    /// The API key or the prices.
    Operators,
}

/// Who wrote a version: a create, or the operator.
type Writer = Option<usize>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Outcome {
    FindsNothing,
    Finds(Writer),
    FindsDamagedValue(Writer),
    FindsDamagedMetadata(Writer),
    FindsBrokenValue(Writer),
    Confirmed,
    Fails,
    /// The request is cut while it waits.
    Cut,
}

impl Outcome {
    fn is_fault(self) -> bool {
        !matches!(self, Outcome::FindsNothing | Outcome::Finds(_) | Outcome::Confirmed)
    }
}

/// When a write takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arrival {
    Never,
    Now,
    Later,
}

/// How far a create is.
#[derive(Clone)]
enum Progress {
    Reads(Slot),
    Writes(Slot),
    Answered(Rc<Ended>),
    Cut,
}

/// An answer, and the create whose record has its content.
struct Ended {
    answer: Answer,
    shows: Writer,
}

/// The outcome of a call that a create made.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Event {
    create: usize,
    slot: Slot,
    outcome: Outcome,
}

impl Event {
    /// Whether other creates of the isolate can know of it, by the caches that they share.
    fn is_shared(self) -> bool {
        match self.slot {
            Slot::Operators => true,
            Slot::Replay => self.outcome == Outcome::Confirmed,
            Slot::Transaction(_) => false,
        }
    }
}

/// The outcomes of the calls of an isolate, in sequence.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
struct Past(Vec<Event>);

impl Past {
    /// Adds an event. Two of different creates that other creates cannot know of are sorted by their
    /// creates, so that what is the same looks the same.
    fn push(&mut self, event: Event) {
        self.0.push(event);
        let mut index = self.0.len() - 1;
        while index > 0 && !event.is_shared() {
            let before = self.0[index - 1];
            if before.is_shared() || before.create <= event.create {
                break;
            }
            self.0.swap(index - 1, index);
            index -= 1;
        }
    }
}

// ---- Executing an isolate --------------------------------------------------------------------------

struct FixedClock(u64);

impl Clock for FixedClock {
    fn now_ms(&self) -> u64 {
        self.0
    }
}

/// Value and metadata.
type Record = (Vec<u8>, Vec<u8>);

/// All records that were ever written: a create writes each of its records with one content.
struct Records {
    creations: Creations,
    payloads: Vec<Payload>,
    contents: RefCell<BTreeMap<(Slot, Writer), Record>>,
    operators: BTreeMap<String, Record>,
    slots: RefCell<BTreeMap<String, Slot>>,
}

impl Records {
    fn new(creations: Creations) -> Self {
        let random = Random::new(0);
        let null = || b"null".to_vec();
        let prices = crate::payload::catalogue(&draw_prices(&random));
        let keys = KEYS.iter().map(|key| (key.record_name(), (key.record(), null())));
        let operators = keys.chain([("catalogue:test".to_owned(), (prices, null()))]).collect();
        let payloads = (0..=CREATES).map(|number| Payload::draw(&random, number)).collect();
        Records {
            creations,
            payloads,
            operators,
            contents: RefCell::default(),
            slots: RefCell::default(),
        }
    }

    /// Which record a create means: by an unused name, its own.
    fn slot(&self, name: String, create: usize) -> Slot {
        if self.operators.contains_key(&name) {
            return Slot::Operators;
        }
        let own = match name.starts_with("idempotency:") {
            true => Slot::Replay,
            false => Slot::Transaction(self.creations[create].payload),
        };
        *self.slots.borrow_mut().entry(name).or_insert(own)
    }

    fn request(&self, Creation { key, payload }: Creation) -> SimulatedRequest {
        SimulatedRequest::new("POST", format!("https://pledge.example{PATH}"), KEYS[key].text)
            .with_header("idempotency-key", "order")
            .with_body(self.payloads[payload].body(0))
    }

    /// Puts down what a create writes, for those who find it.
    fn write(&self, name: String, create: usize, record: Record) -> Slot {
        let slot = self.slot(name, create);
        assert!(
            [Slot::Replay, Slot::Transaction(self.creations[create].payload)].contains(&slot),
            "not its own"
        );
        let mut contents = self.contents.borrow_mut();
        let first = contents.entry((slot, Some(create))).or_insert_with(|| record.clone());
        assert!(*first == record, "create {create} writes another {slot:?}");
        slot
    }
}

/// The store of one create, which waits at each call for its outcome.
struct Scripted<'r> {
    records: &'r Records,
    create: usize,
    waits: Cell<Option<Progress>>,
    outcome: Cell<Option<Outcome>>,
}

impl Scripted<'_> {
    async fn outcome(&self, waits: Progress) -> Outcome {
        self.waits.set(Some(waits));
        poll_fn(|_| self.outcome.take().map_or(Poll::Pending, Poll::Ready)).await
    }
}

struct ScriptedValue {
    bytes: Vec<u8>,
    is_broken: bool,
}

impl StoredValue for ScriptedValue {
    async fn read(self, _: u32) -> Result<Vec<u8>, StoreError> {
        if self.is_broken { Err(StoreError::Unavailable) } else { Ok(self.bytes) }
    }
}

impl Store for Scripted<'_> {
    type Value = ScriptedValue;

    async fn get<K: Key>(
        &self,
        key: &K,
    ) -> Result<Option<Stored<ScriptedValue, K::Metadata>>, StoreError> {
        let name = key.name();
        let slot = self.records.slot(name.clone(), self.create);
        let outcome = self.outcome(Progress::Reads(slot)).await;
        let writer = match outcome {
            Outcome::FindsNothing => return Ok(None),
            Outcome::Finds(writer)
            | Outcome::FindsDamagedValue(writer)
            | Outcome::FindsDamagedMetadata(writer)
            | Outcome::FindsBrokenValue(writer) => writer,
            _ => return Err(StoreError::Unavailable),
        };
        let found = match writer {
            Some(_) => self.records.contents.borrow()[&(slot, writer)].clone(),
            None => self.records.operators[&name].clone(),
        };
        let (value, metadata) = match outcome {
            Outcome::FindsDamagedValue(_) => (found.0[..found.0.len() / 2].to_vec(), found.1),
            Outcome::FindsDamagedMetadata(_) => (found.0, b"{".to_vec()),
            _ => found,
        };
        let metadata = serde_json::from_slice(&metadata)
            .map_err(|error| StoreError::damaged("metadata", &error))?;
        let is_broken = matches!(outcome, Outcome::FindsBrokenValue(_));
        Ok(Some(Stored { value: ScriptedValue { bytes: value, is_broken }, metadata }))
    }

    async fn put<K: Key>(
        &self,
        key: &K,
        value: Vec<u8>,
        metadata: &K::Metadata,
    ) -> Result<(), StoreError> {
        let record = (value, serde_json::to_vec(metadata).unwrap());
        let slot = self.records.write(key.name(), self.create, record);
        match self.outcome(Progress::Writes(slot)).await {
            Outcome::Confirmed => Ok(()),
            _ => Err(StoreError::Unavailable),
        }
    }
}

type Running<'f> = Option<LocalBoxFuture<'f, Answer>>;

impl Records {
    /// How far the creates of an isolate are after what came of its calls.
    fn execute(&self, isolate: &[usize], past: &Past) -> Vec<Progress> {
        let (caches, settings) = (Caches::default(), Settings::default());
        let script = |create| Scripted {
            records: self,
            create,
            waits: Cell::default(),
            outcome: Cell::default(),
        };
        let stores: Vec<Scripted<'_>> = isolate.iter().map(|create| script(*create)).collect();
        let mut running: Vec<Running<'_>> = vec![];
        for store in &stores {
            running.push(Some(Box::pin(self.serve(store, &caches, &settings, store.create))));
        }
        let begin = |(running, store)| poll(running, store);
        let mut progress: Vec<Progress> = running.iter_mut().zip(&stores).map(begin).collect();
        for Event { create, outcome, .. } in &past.0 {
            let index = isolate.iter().position(|member| member == create).unwrap();
            if *outcome == Outcome::Cut {
                (running[index], progress[index]) = (None, Progress::Cut);
                continue;
            }
            stores[index].outcome.set(Some(*outcome));
            progress[index] = poll(&mut running[index], &stores[index]);
        }
        progress
    }

    /// The result of a create, from its answer.
    fn ended(&self, answer: Answer) -> Ended {
        let answered = (answer.status == 200).then(|| retrieved(answer.json()));
        let contents = self.contents.borrow();
        let shows = (0..CREATES).find(|writer| {
            let slot = Slot::Transaction(self.creations[*writer].payload);
            let content = contents.get(&(slot, Some(*writer)));
            let json = |(value, _): &Record| serde_json::from_slice::<Value>(value).ok();
            answered.is_some() && content.and_then(json) == answered
        });
        Ended { answer, shows }
    }

    async fn serve<S: Store>(
        &self,
        store: &S,
        caches: &Caches,
        settings: &Settings,
        create: usize,
    ) -> Answer {
        let clock = FixedClock(EPOCH_MS + 1_000 * create as u64); // so that no two answers are the same
        let (entropy, journal) = (&Random::new(0), Journal::default());
        let service = Service { store, clock: &clock, entropy, caches, settings, journal };
        let request = self.request(self.creations[create]);
        Answer::read(service.handle(&request).await).await
    }
}

fn poll(running: &mut Running<'_>, store: &Scripted<'_>) -> Progress {
    let Some(future) = running else { return Progress::Cut };
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => {
            *running = None;
            Progress::Answered(Rc::new(store.records.ended(answer)))
        }
        Poll::Pending => store.waits.take().unwrap(),
    }
}

// ---- All schedules ---------------------------------------------------------------------------------

/// The creates whose version of a record arrived, and the last of them.
type Kept = BTreeMap<Slot, (Vec<usize>, usize)>;

/// Where a schedule can be.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
struct State {
    past: Vec<Past>,
    kept: Kept,
    /// A write that was given up and has not arrived yet.
    late: Option<(Slot, usize)>,
    has_fault: bool,
}

impl State {
    fn keep(&mut self, slot: Slot, create: usize) {
        let (writers, last) = self.kept.entry(slot).or_default();
        writers.push(create);
        writers.sort_unstable();
        *last = create;
    }
}

/// The sums over all schedules.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Enumeration {
    /// Schedules: each sequence of calls, with each version that a read can find, without a fault and
    /// with each single one.
    pub schedules: u128,
    /// Different states that they go through.
    pub states: usize,
    /// Histories of an isolate that were executed.
    pub executions: usize,
    /// States at the end.
    pub ends: usize,
    /// Those of them in which a get shows the terms of one create and a repeat those of another.
    pub split_ends: usize,
}

struct Explorer<'p> {
    isolates: &'p [&'p [usize]],
    records: &'p Records,
    executed: HashMap<(usize, Past), Rc<Vec<Progress>>>,
    /// How many schedules go on from a state.
    schedules: HashMap<State, u128>,
    audits: HashMap<Vec<(Slot, usize)>, Rc<Audit>>,
    ends: usize,
    split_ends: usize,
}

/// Goes through all schedules.
pub fn enumerate(creations: Creations) -> Enumeration {
    let mut all = Enumeration::default();
    for (isolates, placements) in PLACEMENTS {
        let records = Records::new(creations);
        let mut explorer = Explorer {
            isolates,
            records: &records,
            executed: HashMap::new(),
            schedules: HashMap::new(),
            audits: HashMap::new(),
            ends: 0,
            split_ends: 0,
        };
        let start = State { past: vec![Past::default(); isolates.len()], ..State::default() };
        all.schedules += placements * explorer.explore(&start);
        all.states += explorer.schedules.len();
        all.executions += explorer.executed.len();
        all.ends += explorer.ends;
        all.split_ends += explorer.split_ends;
    }
    all
}

impl Explorer<'_> {
    /// Checks a state and all that follow; gives the number of schedules from here to an end.
    fn explore(&mut self, state: &State) -> u128 {
        if let Some(known) = self.schedules.get(state) {
            return *known;
        }
        let progress = self.progress(state);
        self.check(state, &progress);
        let next = self.next(state, &progress);
        let schedules = match next.is_empty() {
            true => {
                self.check_end(state, &progress);
                1
            }
            false => next.iter().map(|next| self.explore(next)).sum(),
        };
        self.schedules.insert(state.clone(), schedules);
        schedules
    }

    fn progress(&mut self, state: &State) -> [Progress; CREATES] {
        let mut all = [const { Progress::Cut }; CREATES];
        for (index, past) in state.past.iter().enumerate() {
            let isolate = self.isolates[index];
            let records = self.records;
            let executed = self.executed.entry((index, past.clone()));
            let progress = executed.or_insert_with(|| Rc::new(records.execute(isolate, past)));
            isolate
                .iter()
                .zip(progress.iter())
                .for_each(|(create, one)| all[*create] = one.clone());
        }
        all
    }

    fn next(&self, state: &State, progress: &[Progress; CREATES]) -> Vec<State> {
        let is_alone = |one: &Progress| matches!(one, Progress::Reads(Slot::Operators));
        if let Some(create) = progress.iter().position(is_alone) {
            return self.outcomes(state, create, Slot::Operators, true);
        }
        let steps = progress.iter().enumerate().flat_map(|(create, one)| match one {
            Progress::Reads(slot) => self.outcomes(state, create, *slot, true),
            Progress::Writes(slot) => self.outcomes(state, create, *slot, false),
            _ => vec![],
        });
        let arrives = state.late.map(|(slot, create)| {
            let mut next = State { late: None, ..state.clone() };
            next.keep(slot, create);
            next
        });
        steps.chain(arrives).collect()
    }

    /// The states that a call of a create can lead to.
    fn outcomes(&self, state: &State, create: usize, slot: Slot, is_read: bool) -> Vec<State> {
        let calls = if is_read { reads(state, slot) } else { WRITES.to_vec() };
        let allowed =
            calls.into_iter().filter(|(outcome, _)| !(state.has_fault && outcome.is_fault()));
        let next = allowed.map(|(outcome, arrival)| {
            let mut next = state.clone();
            let isolate = self.isolates.iter().position(|members| members.contains(&create));
            next.past[isolate.unwrap()].push(Event { create, slot, outcome });
            next.has_fault |= outcome.is_fault();
            match arrival {
                Arrival::Now => next.keep(slot, create),
                Arrival::Later => next.late = Some((slot, create)),
                Arrival::Never => {}
            }
            next
        });
        next.collect()
    }
}

/// The outcomes of a write: with no fault, failed before and after it was kept, or long before it
/// arrives; the same with the request cut.
const WRITES: &[(Outcome, Arrival)] = &[
    (Outcome::Confirmed, Arrival::Now),
    (Outcome::Fails, Arrival::Never),
    (Outcome::Fails, Arrival::Now),
    (Outcome::Fails, Arrival::Later),
    (Outcome::Cut, Arrival::Never),
    (Outcome::Cut, Arrival::Now),
    (Outcome::Cut, Arrival::Later),
];

/// The outcomes of a read.
fn reads(state: &State, slot: Slot) -> Vec<(Outcome, Arrival)> {
    let versions: Vec<Writer> = match state.kept.get(&slot) {
        _ if slot == Slot::Operators => vec![None],
        Some((writers, _)) => writers.iter().copied().map(Some).collect(),
        None => vec![],
    };
    let found = versions.into_iter().flat_map(|writer| {
        let damaged = [
            Outcome::FindsDamagedValue(writer),
            Outcome::FindsDamagedMetadata(writer),
            Outcome::FindsBrokenValue(writer),
        ];
        [Outcome::Finds(writer)].into_iter().chain(damaged)
    });
    let nothing = (slot != Slot::Operators).then_some(Outcome::FindsNothing);
    let all = found.chain(nothing).chain([Outcome::Fails, Outcome::Cut]);
    all.map(|outcome| (outcome, Arrival::Never)).collect()
}

// ---- What must hold --------------------------------------------------------------------------------

/// The results of repeating each create, and of the later one, once a state has ended and all is in force.
type Audit = Vec<Ended>;

impl Explorer<'_> {
    fn creation(&self, create: usize) -> Creation {
        self.records.creations[create]
    }

    /// Of each create that is answered, from then on.
    fn check(&self, state: &State, progress: &[Progress; CREATES]) {
        for (create, one) in progress.iter().enumerate() {
            let Progress::Answered(ended) = one else { continue };
            let past = state.past.iter().flat_map(|past| &past.0);
            let mut own = past.filter(|event| event.create == create);
            let had_fault = own.any(|event| event.outcome.is_fault());
            let Creation { payload, .. } = self.creation(create);
            match ended.answer.status {
                200 => self.check_acknowledged(state, create, ended),
                422 => {
                    assert!(self.is_known(state, |by| by.payload != payload), "a 422 has a reason")
                }
                500 | 503 => assert!(had_fault, "a failure has a cause"),
                status => panic!("{status}"),
            }
        }
    }

    /// Its content, and if it is no replay its own, is kept; so is a replay record.
    fn check_acknowledged(&self, state: &State, create: usize, ended: &Ended) {
        let kept = |slot| state.kept.get(&slot).map_or(&[][..], |(writers, _)| writers);
        let shown = ended.shows.filter(|writer| {
            let payload = self.creation(*writer).payload;
            kept(Slot::Transaction(payload)).contains(writer)
                && payload == self.creation(create).payload
        });
        assert!(shown.is_some(), "what is acknowledged is kept");
        if !ended.answer.is_replayed {
            assert_eq!(shown, Some(create), "what is acknowledged is its own");
            assert!(kept(Slot::Replay).contains(&create), "a repeat can be known");
        }
    }

    /// Whether there is a replay record of such a create.
    fn is_known(&self, state: &State, is_such: impl Fn(Creation) -> bool) -> bool {
        let replays = state.kept.get(&Slot::Replay);
        replays.is_some_and(|(writers, _)| {
            writers.iter().any(|writer| is_such(self.creation(*writer)))
        })
    }

    /// Once all is in force everywhere: what was acknowledged is repeated, a new payload is
    /// refused, and the creates of a payload have one transaction.
    fn check_end(&mut self, state: &State, progress: &[Progress; CREATES]) {
        let last: Vec<(Slot, usize)> =
            state.kept.iter().map(|(slot, (_, last))| (*slot, *last)).collect();
        let records = self.records;
        let audit =
            self.audits.entry(last.clone()).or_insert_with(|| Rc::new(records.audit(&last)));
        let audit = Rc::clone(audit);
        let mut is_split = false;
        for (create, one) in progress.iter().enumerate() {
            let Progress::Answered(ended) = one else { continue };
            if ended.shows.is_none() {
                continue; // it was not acknowledged
            }
            assert_eq!(audit[LATER].answer.status, 422, "a new payload is refused");
            let Ended { answer: repeat, shows } = &audit[create];
            assert!(repeat.status == 200 && repeat.is_replayed, "a repeat is replayed");
            assert_eq!(repeat.json()["id"], ended.answer.json()["id"], "it is one transaction");
            let (writers, last) = &state.kept[&Slot::Transaction(self.creation(create).payload)];
            let is_kept = shows.is_some_and(|writer| writers.contains(&writer));
            assert!(is_kept, "a replay is an answer to a create that was recorded");
            is_split |= *shows != Some(*last);
        }
        self.ends += 1;
        self.split_ends += usize::from(is_split);
    }
}

/// A store in which all is in force.
struct Consistent<'r> {
    records: &'r Records,
    found: RefCell<BTreeMap<Slot, Record>>,
    create: usize,
}

impl Store for Consistent<'_> {
    type Value = Vec<u8>;

    async fn get<K: Key>(
        &self,
        key: &K,
    ) -> Result<Option<Stored<Vec<u8>, K::Metadata>>, StoreError> {
        let name = key.name();
        let found = match self.records.operators.get(&name) {
            Some(record) => Some(record.clone()),
            None => {
                let slot = self.records.slot(name, self.create);
                self.found.borrow().get(&slot).cloned()
            }
        };
        let stored = found.map(|(value, metadata)| Stored {
            value,
            metadata: serde_json::from_slice(&metadata).unwrap(),
        });
        Ok(stored)
    }

    async fn put<K: Key>(
        &self,
        key: &K,
        value: Vec<u8>,
        metadata: &K::Metadata,
    ) -> Result<(), StoreError> {
        let slot = self.records.slot(key.name(), self.create);
        self.found.borrow_mut().insert(slot, (value, serde_json::to_vec(metadata).unwrap()));
        Ok(())
    }
}

impl Records {
    fn audit(&self, last: &[(Slot, usize)]) -> Audit {
        let contents = self.contents.borrow().clone();
        let found =
            last.iter().map(|(slot, writer)| (*slot, contents[&(*slot, Some(*writer))].clone()));
        let found: BTreeMap<Slot, Record> = found.collect();
        let send = |create| {
            let store = Consistent { records: self, found: RefCell::new(found.clone()), create };
            let (caches, settings) = (Caches::default(), Settings::default());
            let answer = self.serve(&store, &caches, &settings, create).now_or_never().unwrap();
            self.ended(answer)
        };
        (0..=LATER).map(send).collect()
    }
}
