//! The simulation of one seed: callers, an operator, isolates that start and end, and the history
//! of their requests.

use crate::executor::{Executor, Time};
use crate::isolate::{Answer, Bodies, EPOCH_MS, Isolate, SimulatedRequest, SkewedClock, Upload};
use crate::kv::{Calls, Conditions, Fault, Kv, LOCATIONS, Namespace};
use crate::payload::{Payload, Prices, catalogue, draw_prices};
use crate::planted::{Bug, Memory};
use crate::random::Random;
use crate::recording::{RecordedEntropy, Recording, text};
use impact_pledge::auth::{ApiKey, KeyLevel, KeyRecord};
use impact_pledge::handle::{Caches, Settings};
use impact_pledge::http::MAX_BYTES_IN_FLIGHT;
use impact_pledge::scope::Mode;
use impact_pledge::secret::NamespaceSecret;
use impact_pledge::store::{CatalogueKey, CredentialKey, Key as _};
use serde_json::json;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

pub const PATH: &str = "/v2/pledge-transaction";
const HOSTS: &[&str] = &["https://pledge.example", "https://pledge.test"];
const ISOLATES: usize = 2 * LOCATIONS;
const STEPS: usize = 60;
const NAMES: usize = 3;
const PAYLOADS: usize = 3;
/// The payload that no request has before the audit.
pub const NEW_PAYLOAD: usize = PAYLOADS;
/// The payload of a burst of creates, and its least size in bytes.
pub const LARGE_PAYLOAD: usize = PAYLOADS + 1;
pub const LARGE_BYTES: usize = 1_000_000;
const BURST: usize = 36;
/// One in so many requests of a burst sends its whole body.
const WHOLE: usize = 12;

// ---- Who calls -------------------------------------------------------------------------------------

/// An API key and what it may do: as its one unit, or as one of its team's.
pub struct KeySpec {
    pub text: &'static str,
    pub mode: Mode,
    pub is_team: bool,
    pub units: &'static [&'static str],
}

const fn unit_key(text: &'static str, mode: Mode, unit: &'static [&'static str]) -> KeySpec {
    KeySpec { text, mode, is_team: false, units: unit }
}

pub const KEYS: &[KeySpec] = &[
    unit_key("service_sk_test_first", Mode::Test, &["unit_1"]),
    unit_key("service_sk_test_second", Mode::Test, &["unit_1"]),
    unit_key("service_sk_live_first", Mode::Live, &["unit_1"]),
    unit_key("service_sk_test_other", Mode::Test, &["unit_2"]),
    KeySpec {
        text: "service_sk_test_team",
        mode: Mode::Test,
        is_team: true,
        units: &["unit_1", "unit_2"],
    },
    unit_key("service_sk_test_later", Mode::Test, &["unit_1"]),
    unit_key("service_sk_test_audit", Mode::Test, &["unit_1"]),
    unit_key("service_sk_live_audit", Mode::Live, &["unit_1"]),
    unit_key("service_sk_test_audit_other", Mode::Test, &["unit_2"]),
];
/// The key that does not exist at the beginning.
const LATER: usize = 5;
/// The first of the keys that only the end uses.
const AUDIT: usize = 6;

fn unknown_id() -> String {
    "ptran_".to_owned() + &"a".repeat(42)
}

/// Mode and unit.
pub type Scope = (&'static str, &'static str);

impl KeySpec {
    /// The text of the key that its record is under.
    pub fn record_name(&self) -> String {
        CredentialKey(ApiKey::new(self.text).hash()).name()
    }

    pub fn record(&self) -> Vec<u8> {
        let units = || self.units.iter().map(|unit| (*unit).to_owned());
        let level = match self.is_team {
            true => KeyLevel::Team { team_id: "team".to_owned(), unit_ids: units().collect() },
            false => KeyLevel::Unit { unit_id: units().collect() },
        };
        let secret = Some(NamespaceSecret::new([7; 32]));
        serde_json::to_vec(&KeyRecord { secret, ..KeyRecord::new(self.mode, level) }).unwrap()
    }
}

/// When a key was made, and when it was revoked.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyLife {
    pub made_ms: Option<u64>,
    pub revoked_ms: Option<u64>,
}

#[derive(Clone, Debug)]
pub struct Ask {
    pub key: usize,
    pub unit: Option<&'static str>,
    pub host: &'static str,
    pub action: Action,
}

#[derive(Clone, Debug)]
pub enum Action {
    Create { name: Option<usize>, payload: usize, spelling: usize, is_broken: bool },
    Get { id: String },
    Timeline { id: String, edit_key: String },
}

impl Ask {
    /// The unit that the caller acts for, if its key is good.
    pub fn scope(&self) -> Option<Scope> {
        let key = &KEYS[self.key];
        let mut units = key.units.iter().copied();
        let unit = units.find(|unit| !key.is_team || self.unit == Some(unit))?;
        Some((key.mode.into(), unit))
    }

    /// The name of the create's idempotency key, where it has one.
    pub fn name(&self) -> Option<usize> {
        if let Action::Create { name, .. } = self.action { name } else { None }
    }

    pub fn payload(&self) -> Option<usize> {
        if let Action::Create { payload, .. } = self.action { Some(payload) } else { None }
    }
}

/// A request and its answer.
pub struct Exchange {
    pub ask: Ask,
    pub isolate: usize,
    pub location: usize,
    pub ahead_ms: i64,
    pub begun_ms: u64,
    pub ended_ms: Option<u64>,
    /// `None` while it runs, and for ever if it was cut.
    pub answer: Option<Answer>,
    pub is_cut: bool,
    /// Whether it was sent after the last fault, when all caches had run out.
    pub is_audit: bool,
    pub calls: Rc<Calls>,
}

fn draw_payloads(random: &Random) -> Vec<Payload> {
    let mut payloads: Vec<_> =
        (0..=NEW_PAYLOAD).map(|number| Payload::draw(random, number)).collect();
    payloads.push(Payload::large(random, LARGE_PAYLOAD, LARGE_BYTES));
    payloads
}

// ---- The simulation -------------------------------------------------------------------------------------

pub struct Simulation {
    pub time: Rc<Time>,
    pub kv: Rc<Kv>,
    pub exchanges: Rc<RefCell<Vec<Exchange>>>,
    pub keys: Vec<KeyLife>,
    pub prices: Vec<(u64, Prices)>,
    pub payloads: Vec<Payload>,
    /// Events besides the exchanges, for the trace.
    pub events: Vec<(u64, String)>,
    /// Isolates that hold more than they may.
    pub excesses: Vec<String>,
    random: Rc<Random>,
    executor: Executor,
    isolates: Vec<Rc<Isolate>>,
    isolate_count: usize,
    /// The key that was made or revoked last: many use it then.
    changed_key: Option<usize>,
    is_audit: bool,
    pub recording: Recording,
    bug: Option<Bug>,
}

impl Simulation {
    /// Runs a seed to its end.
    pub fn run(seed: u64, bug: Option<Bug>, is_recorded: bool) -> Self {
        let mut simulation = Simulation::new(seed, bug, is_recorded);
        let burst = simulation.random.chance(30).then(|| simulation.random.index(STEPS));
        for step in 0..STEPS {
            if Some(step) == burst {
                simulation.burst();
            }
            simulation.step();
        }
        simulation.stop_faults();
        simulation.audit();
        simulation
    }

    fn new(seed: u64, bug: Option<Bug>, is_recorded: bool) -> Self {
        let (time, random) = (Rc::new(Time::default()), Rc::new(Random::new(seed)));
        let conditions = Conditions {
            faults: random.pick(&[0, 10, 50, 150]),
            is_strict: random.chance(500),
            slow: random.pick(&[0, 50, 400]),
            late: random.pick(&[0, 0, 50]),
        };
        let mut simulation = Simulation {
            kv: Rc::new(Kv::new(&time, &random, conditions)),
            executor: Executor::new(&time, &random),
            exchanges: Rc::default(),
            keys: vec![KeyLife::default(); KEYS.len()],
            prices: vec![],
            payloads: draw_payloads(&random),
            events: vec![],
            excesses: vec![],
            isolates: vec![],
            isolate_count: 0,
            changed_key: None,
            is_audit: false,
            recording: if is_recorded { Recording::new(&time) } else { Recording::default() },
            time,
            random,
            bug,
        };
        (0..KEYS.len()).filter(|key| *key != LATER).for_each(|key| simulation.make_key(key));
        simulation.set_prices();
        simulation.advance(100_000); // all of it is in force
        simulation.isolates =
            (0..ISOLATES).map(|index| simulation.isolate(index % LOCATIONS)).collect();
        simulation
    }

    fn isolate(&mut self, location: usize) -> Rc<Isolate> {
        self.isolate_count += 1;
        let seed = self.random.below(u64::MAX);
        let seed = if self.bug == Some(Bug::RepeatsRandomness) { 0 } else { seed };
        let ahead_ms = self.random.below(10_000) as i64 - 5_000;
        Rc::new(Isolate {
            number: self.isolate_count,
            location,
            is_newer: self.random.chance(250),
            clock: SkewedClock { time: Rc::clone(&self.time), ahead_ms },
            entropy: RecordedEntropy {
                random: Random::new(seed),
                isolate: self.isolate_count,
                recording: self.recording.clone(),
            },
            caches: Caches::default(),
            settings: Settings::default(),
            bug: self.bug,
            memory: Memory::default(),
            bodies: Rc::default(),
        })
    }

    fn note(&mut self, event: impl Into<String>) {
        self.events.push((self.time.now_ms(), event.into()));
    }

    fn advance(&self, milliseconds: u64) {
        self.executor.run_until(self.time.now_ms() + milliseconds);
    }

    // ---- Random events ---------------------------------------------------------------------------

    fn step(&mut self) {
        let pause_ms = match self.random.below(100) {
            0..50 => self.random.below(6),
            50..75 => self.random.below(2_000),
            75..95 => self.random.below(40_000),
            _ => self.random.below(130_000),
        };
        self.advance(pause_ms);
        match self.random.below(100) {
            0..65 => self.create(),
            65..83 => self.get(),
            83..90 => self.timeline(),
            90..92 => self.kill_isolate(),
            92..94 => self.cut_request(),
            94 => self.revoke_key(),
            95..98 => self.set_prices(),
            _ => self.make_later_key(),
        }
        self.check_memory();
    }

    fn create(&mut self) {
        let name = self.random.chance(850).then(|| self.random.index(NAMES));
        let payload = self.random.index(PAYLOADS);
        let (spelling, is_broken) = (self.random.index(2), self.random.chance(20));
        let ask = self.ask(Action::Create { name, payload, spelling, is_broken });
        self.send(ask);
    }

    /// Sends more bytes at once than an isolate may hold.
    fn burst(&mut self) {
        self.note(format!("a burst of {BURST} creates"));
        let isolate = Rc::clone(&self.isolates[self.random.index(self.isolates.len())]);
        for number in 0..BURST {
            let is_broken = number % WHOLE > 0;
            let action =
                Action::Create { name: None, payload: LARGE_PAYLOAD, spelling: 0, is_broken };
            self.send_to(&isolate, self.ask(action));
        }
    }

    fn ask(&self, action: Action) -> Ask {
        let usual = self.random.pick(&[0, 0, 0, 1, 1, 2, 3, 4, LATER]); // some more than others
        let key = self.changed_key.filter(|_| self.random.chance(250)).unwrap_or(usual);
        let unit = self.random.pick(&[None, Some("unit_1"), Some("unit_2"), Some("unit_3")]);
        Ask { key, unit, host: self.random.pick(HOSTS), action }
    }

    /// The id and edit key of a create that was answered.
    fn pick_created(&self) -> Option<(String, String)> {
        let exchanges = self.exchanges.borrow();
        let created: Vec<&Answer> = exchanges
            .iter()
            .filter(|exchange| matches!(exchange.ask.action, Action::Create { .. }))
            .filter_map(|exchange| exchange.answer.as_ref().filter(|answer| answer.status == 200))
            .collect();
        if created.is_empty() {
            return None;
        }
        let json = created[self.random.index(created.len())].json();
        let url = json["timelineUrl"].as_str()?;
        Some((json["id"].as_str()?.to_owned(), url.rsplit('=').next()?.to_owned()))
    }

    fn get(&mut self) {
        let created = self.pick_created().filter(|_| self.random.chance(950));
        let id = created.map_or_else(unknown_id, |(id, _)| id);
        let ask = self.ask(Action::Get { id });
        self.send(ask);
    }

    fn timeline(&mut self) {
        let Some((id, edit_key)) = self.pick_created() else { return };
        let edit_key = if self.random.chance(250) { "a".repeat(32) } else { edit_key };
        let ask = self.ask(Action::Timeline { id, edit_key });
        self.send(ask);
    }

    fn send(&mut self, ask: Ask) {
        let isolate = Rc::clone(&self.isolates[self.random.index(self.isolates.len())]);
        self.send_to(&isolate, ask);
    }

    fn send_to(&mut self, isolate: &Rc<Isolate>, ask: Ask) {
        let number = self.exchanges.borrow().len();
        let recording = self.recording.clone();
        let calls = Calls { exchange: number, recording: recording.clone(), ..Calls::default() };
        let calls = Rc::new(calls);
        let request = self.request(&ask, &calls, &isolate.bodies);
        let store = Namespace {
            kv: Rc::clone(&self.kv),
            location: isolate.location,
            calls: Rc::clone(&calls),
            is_newer: isolate.is_newer,
            has_deadlines: self.bug != Some(Bug::HasNoDeadlines),
        };
        self.exchanges.borrow_mut().push(Exchange {
            ask,
            isolate: isolate.number,
            location: isolate.location,
            ahead_ms: isolate.clock.ahead_ms,
            begun_ms: self.time.now_ms(),
            ended_ms: None,
            answer: None,
            is_cut: false,
            is_audit: self.is_audit,
            calls,
        });
        let (isolate, exchanges) = (Rc::clone(isolate), Rc::clone(&self.exchanges));
        self.executor.spawn(number, async move {
            recording.add("request", Some(number), || {
                let SimulatedRequest { method, url, headers, body, .. } = &request;
                let epoch_ms = EPOCH_MS.saturating_add_signed(isolate.clock.ahead_ms);
                json!({
                    "isolate": isolate.number, "epoch": epoch_ms, "method": method, "url": url,
                    "headers": headers, "body": text(body),
                })
            });
            let answer = isolate.serve(&isolate.store(store), &request).await;
            recording.add("answer", Some(number), || {
                let Answer { status, headers, body, log, .. } = &answer;
                let body = body.as_deref().map(text);
                json!({ "status": status, "headers": headers, "body": body, "log": log })
            });
            let exchange = &mut exchanges.borrow_mut()[number];
            exchange.ended_ms = Some(isolate.clock.time.now_ms());
            exchange.answer = Some(answer);
        });
    }

    fn request(&self, ask: &Ask, calls: &Rc<Calls>, bodies: &Rc<Bodies>) -> SimulatedRequest {
        let Ask { key, unit, host, action } = ask;
        let (method, path) = match action {
            Action::Create { .. } => ("POST", PATH.to_owned()),
            Action::Get { id } => ("GET", format!("{PATH}/{id}")),
            Action::Timeline { id, edit_key } => {
                ("GET", format!("/timeline/{id}?edit_key={edit_key}"))
            }
        };
        let mut request = SimulatedRequest::new(method, format!("{host}{path}"), KEYS[*key].text)
            .with_header("cf-ray", calls.exchange.to_string());
        if let Some(unit) = unit {
            request = request.with_header("x-service-unit-id", *unit);
        }
        if let Action::Create { name, payload, spelling, is_broken } = action {
            let body = self.payloads[*payload].body(*spelling);
            if *spelling == 0 {
                request = request.with_header("content-length", body.len().to_string());
            }
            request = request.with_body(body);
            if let Some(name) = name {
                request = request.with_header("idempotency-key", format!("order-{name}"));
            }
            let is_large = *payload == LARGE_PAYLOAD;
            let is_slow = is_large || (!self.is_audit && self.random.chance(100));
            let takes_ms = self.random.below(if is_slow { 3_000 } else { 5 });
            request.upload = Some(Upload {
                time: Rc::clone(&self.time),
                calls: Rc::clone(calls),
                takes_ms,
                is_broken: *is_broken,
                bodies: Rc::clone(bodies),
                held: Cell::default(),
            });
        }
        request
    }

    fn cut(&mut self, exchange: usize) {
        self.executor.cancel(exchange);
        self.recording.add("cut", Some(exchange), || json!(null));
        self.exchanges.borrow_mut()[exchange].is_cut = true;
    }

    fn cut_request(&mut self) {
        let running = self.executor.running();
        if !running.is_empty() {
            let exchange = self.random.pick(&running);
            self.note(format!("request {exchange} is cut"));
            self.cut(exchange);
        }
    }

    fn kill_isolate(&mut self) {
        let index = self.random.index(self.isolates.len());
        let dead = self.isolates[index].number;
        self.note(format!("isolate {dead} dies"));
        for exchange in self.executor.running() {
            let is_its = self.exchanges.borrow()[exchange].isolate == dead;
            if is_its {
                self.cut(exchange);
            }
        }
        self.isolates[index] = self.isolate(index % LOCATIONS);
    }

    // ---- The operator ----------------------------------------------------------------------------

    fn make_key(&mut self, key: usize) {
        self.note(format!("the operator makes the key {}", KEYS[key].text));
        self.keys[key].made_ms = Some(self.time.now_ms());
        self.kv.set(&KEYS[key].record_name(), Some(KEYS[key].record()));
    }

    fn make_later_key(&mut self) {
        if self.keys[LATER].made_ms.is_none() {
            self.make_key(LATER);
            self.changed_key = Some(LATER);
        }
    }

    /// Revokes a key while it is in use.
    fn revoke_key(&mut self) {
        let key = self.random.index(AUDIT);
        let KeyLife { made_ms, revoked_ms } = self.keys[key];
        if made_ms.is_none() || revoked_ms.is_some() {
            return;
        }
        self.use_everywhere(key);
        self.advance(self.random.below(5_000));
        self.note(format!("the operator revokes the key {}", KEYS[key].text));
        self.keys[key].revoked_ms = Some(self.time.now_ms());
        self.changed_key = Some(key);
        self.kv.set(&KEYS[key].record_name(), None);
        self.advance(40_000 + self.random.below(20_000));
        self.use_everywhere(key);
    }

    fn use_everywhere(&mut self, key: usize) {
        for isolate in self.isolates.clone() {
            let action = Action::Get { id: unknown_id() };
            self.send_to(&isolate, Ask { key, unit: Some("unit_1"), host: HOSTS[0], action });
        }
    }

    fn set_prices(&mut self) {
        let prices = draw_prices(&self.random);
        self.note(format!("the operator sets prices: {prices:?}"));
        for mode in [Mode::Test, Mode::Live] {
            self.kv.set(&CatalogueKey(mode).name(), Some(catalogue(&prices)));
        }
        self.prices.push((self.time.now_ms(), prices));
    }

    // ---- The end ---------------------------------------------------------------------------------

    /// Ends all faults, lets late writes arrive and caches run out, and replaces all isolates.
    fn stop_faults(&mut self) {
        let without_faults = Conditions { faults: 0, is_strict: false, slow: 0, late: 0 };
        *self.kv.conditions.borrow_mut() = without_faults;
        self.advance(400_000);
        self.check_memory();
        if self.executor.running().is_empty() {
            self.isolates.clone().iter().for_each(|isolate| self.check_reservations(isolate));
        }
        self.note("faults end, and all caches have run out");
        self.is_audit = true;
        self.isolates = (0..LOCATIONS).map(|location| self.isolate(location)).collect();
    }

    /// Reads all that was acknowledged, repeats all that was asked for, and reuses all names.
    fn audit(&mut self) {
        for (id, scope) in self.created() {
            let key = |is_own: bool| {
                let scope_of = |key: &usize| (KEYS[*key].mode.into(), KEYS[*key].units[0]);
                (AUDIT..KEYS.len()).find(|key| (scope_of(key) == scope) == is_own)
            };
            let everywhere = (0..LOCATIONS).map(|location| (location, key(true)));
            for (location, key) in everywhere.chain([(self.random.index(LOCATIONS), key(false))]) {
                let isolate = Rc::clone(&self.isolates[location]);
                let action = Action::Get { id: id.clone() };
                let ask = Ask { key: key.unwrap(), unit: None, host: HOSTS[0], action };
                self.send_to(&isolate, ask);
                self.advance(200);
            }
        }
        for (key, unit, name, payload) in self.named() {
            let action = Action::Create {
                name: Some(name),
                payload,
                spelling: self.random.index(2),
                is_broken: false,
            };
            self.send(Ask { key, unit, host: self.random.pick(HOSTS), action });
            self.advance(1_500);
        }
    }

    /// Each id that was answered with, and whose it is.
    fn created(&self) -> BTreeMap<String, Scope> {
        let exchanges = self.exchanges.borrow();
        let creates = exchanges.iter().filter(|exchange| exchange.ask.payload().is_some());
        let acknowledged = creates.filter_map(|Exchange { ask, answer, .. }| {
            let answer = answer.as_ref().filter(|answer| answer.status == 200)?;
            Some((answer.json()["id"].as_str()?.to_owned(), ask.scope()?))
        });
        acknowledged.collect()
    }

    /// Each create with an idempotency key, and then each such key with a new payload.
    fn named(&self) -> Vec<(usize, Option<&'static str>, usize, usize)> {
        let exchanges = self.exchanges.borrow();
        let named = exchanges.iter().filter_map(|Exchange { ask, .. }| {
            ask.scope()?;
            Some((ask.key, ask.unit, ask.name()?, ask.payload()?))
        });
        let repeats: BTreeSet<_> = named.collect();
        let reuses: BTreeSet<_> =
            repeats.iter().map(|(key, unit, name, _)| (*key, *unit, *name, NEW_PAYLOAD)).collect();
        repeats.into_iter().chain(reuses).collect()
    }

    // ---- Memory ----------------------------------------------------------------------------------

    fn check_memory(&mut self) {
        for isolate in &self.isolates {
            let recent = &isolate.caches.recent_answers;
            if recent.count() > 512 || recent.bytes() > 4 * 1024 * 1024 {
                self.excesses.push(format!("isolate {} keeps too many answers", isolate.number));
            }
            let most = isolate.bodies.most.get();
            if most > MAX_BYTES_IN_FLIGHT {
                self.excesses.push(format!("isolate {} held {most} bytes", isolate.number));
            }
        }
    }

    fn check_reservations(&mut self, isolate: &Isolate) {
        let mut all = isolate.caches.in_flight.reservation();
        if all.resize(MAX_BYTES_IN_FLIGHT).is_err() {
            self.excesses.push(format!("isolate {} gives bytes not back", isolate.number));
        }
    }

    /// How many faults of each kind were met.
    pub fn faults(&self) -> Vec<Fault> {
        let exchanges = self.exchanges.borrow();
        let calls = exchanges.iter().flat_map(|exchange| exchange.calls.list.borrow().clone());
        calls.filter_map(|call| call.fault).collect()
    }
}
