//! The simulation. It has callers, an operator, isolates that start and end, and the history of all requests
//! and answers.

use crate::books::Books;
use crate::callers::{AUDIT, Action, Ask, Exchange, KEYS, KeyLife, LATER, Scope, members};
use crate::executor::{Executor, Time};
use crate::isolate::{Bodies, CALM_BYTES, Isolate, SimulatedRequest, SkewedClock, Upload};
use crate::kv::{Calls, Conditions, Fault, Kv, LOCATIONS};
use crate::ledger_queue::SimulatedLedgerQueue;
use crate::mail::{ALL_WAITS_MS, FIRST_TASK, Post, SimulatedQueue};
use crate::namespace::Namespace;
use crate::payload::{
    CURRENCY, MESSENGER, Payload, Prices, UNIT_CURRENCY, draw_prices, price_list,
};
use crate::random::Random;
use impact_pledge::buyer::timeline::Timelines;
use impact_pledge::pledges::http::MAX_BYTES_IN_FLIGHT;
use impact_pledge::pledges::scope::Mode;
use impact_pledge::pledges::service::{Caches, LedgerQueue, Message, Settings};
use impact_pledge::pledges::store::{
    Key as _, PriceListKey, ProfileKey, SecretKey, TransactionKey,
};
use impact_pledge::pledges::types::{NotificationService, TransactionId};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use support::service::{PATH, SECRET};

const HOSTS: &[&str] = &["https://pledge.example", "https://pledge.test"];
const ISOLATES: usize = 2 * LOCATIONS;
const STEPS: usize = 60;
const NAMES: usize = 3;
pub const PAYLOADS: usize = 3;
/// The index of the payload that is used only in the checks at the end.
pub const NEW_PAYLOAD: usize = PAYLOADS;
/// The index of the large payload, which a burst of create requests sends. Its body has at least
/// `LARGE_BYTES`.
pub const LARGE_PAYLOAD: usize = PAYLOADS + 1;
pub const LARGE_BYTES: usize = 1_000_000;
const BURST: usize = 96;
/// Of 1,000 simulations, the number in which all requests are for one buyer.
const REGULARS: u64 = 150;
/// One key of each owner, by its index in `KEYS`.
const OWNERS: &[usize] = &[0, 2, 3, TEAM, 5];
const TEAM: usize = 4;
/// An operator resends fewer than this number of notifications at once.
const RESENT: u64 = 10;
/// Of this many requests in a burst, one sends its whole body. The other requests break off.
const WHOLE: usize = 12;

/// One create request of a race: its isolate, API key and payload.
pub type Racer = (usize, usize, usize);

pub struct Simulation {
    pub time: Rc<Time>,
    pub kv: Rc<Kv>,
    pub exchanges: Rc<RefCell<Vec<Exchange>>>,
    pub keys: Vec<KeyLife>,
    pub prices: Vec<(u64, Prices)>,
    /// The price lists of units, each with the time at which it was set. `None` means that the list was
    /// removed.
    pub unit_prices: Vec<(u64, Scope, Option<Prices>)>,
    pub payloads: Vec<Payload>,
    /// Events other than requests and answers, each with its time, for the trace.
    pub events: Vec<(u64, String)>,
    pub post: Rc<Post>,
    /// The transactions that the operator erased, each with the time.
    pub erased: Rc<RefCell<Vec<(String, u64)>>>,
    /// The ledger; `None` in a race.
    pub books: Option<Rc<Books>>,
    /// How often the operator resent each notification, by transaction and service.
    resent: BTreeMap<(String, NotificationService), u32>,
    /// Violations of the limits on bytes that isolates hold.
    pub excesses: Vec<String>,
    pub random: Rc<Random>,
    executor: Rc<Executor>,
    isolates: Vec<Rc<Isolate>>,
    isolate_count: usize,
    /// The key that was created or revoked last. Many requests use it.
    changed_key: Option<usize>,
    /// Whether one buyer gets all e-mails. Most requests then use live keys, so that the daily limit is reached.
    has_regular: bool,
    is_audit: bool,
}

impl Simulation {
    /// Runs a whole simulation. The seed determines all its random choices.
    pub fn run(seed: u64) -> Self {
        let random = Rc::new(Random::new(seed));
        let conditions = Conditions {
            faults: random.pick(&[0, 10, 50, 150]),
            most_faults: usize::MAX,
            is_strict: random.chance(500),
            slow: random.pick(&[0, 50, 400]),
            late: random.pick(&[0, 0, 50]),
            late_copies: random.pick(&[0, 0, 300]),
            is_race: false,
        };
        let burst = random.chance(30).then(|| random.index(STEPS));
        let large_bytes = if burst.is_some() { LARGE_BYTES } else { 0 };
        let mut simulation = Simulation::new(&random, conditions, large_bytes);
        for step in 0..STEPS {
            if Some(step) == burst {
                simulation.burst();
            }
            simulation.step();
        }
        if simulation.random.chance(300) {
            simulation.pay();
        }
        simulation.end();
        simulation
    }

    /// Runs create requests that share one idempotency key and begin at the same time. `random` decides in
    /// which order they proceed. At most `most_faults` calls fail.
    pub fn race(random: &Rc<Random>, racers: &[Racer], most_faults: usize) -> Self {
        let conditions =
            Conditions { faults: 1, most_faults, is_race: true, ..Conditions::default() };
        let mut simulation = Simulation::new(random, conditions, 0);
        random.open(true);
        for (number, (isolate, key, payload)) in racers.iter().copied().enumerate() {
            let action =
                Action::Create { name: Some(0), payload, spelling: number % 2, is_broken: false };
            let host = HOSTS[number % HOSTS.len()]; // each create has terms of its own
            let isolate = Rc::clone(&simulation.isolates[isolate]);
            simulation.send_to(&isolate, Ask { key, unit: None, host, action });
        }
        simulation.advance(30_000);
        random.open(false);
        simulation.end();
        simulation
    }

    fn new(random: &Rc<Random>, conditions: Conditions, large_bytes: usize) -> Self {
        let (time, random) = (Rc::new(Time::default()), Rc::clone(random));
        let (clock, tasks) = (Rc::clone(&time), RefCell::default());
        let bytes = |number| if number == LARGE_PAYLOAD { large_bytes } else { 0 };
        let has_regular = random.chance(REGULARS);
        let buyer = |number| if has_regular { 0 } else { number };
        let payload = |number| Payload::draw(&random, (number, buyer(number)), bytes(number));
        let kv = Rc::new(Kv::new(&time, &random, conditions));
        let executor = Rc::new(Executor { time: clock, random: Rc::clone(&random), tasks });
        let books = (!conditions.is_race).then(|| Rc::new(Books::new(&kv, &executor)));
        let mut simulation = Simulation {
            post: Rc::new(Post::new(&kv, &executor)),
            kv,
            executor,
            exchanges: Rc::default(),
            keys: vec![KeyLife::default(); KEYS.len()],
            prices: vec![],
            unit_prices: vec![],
            payloads: (0..=LARGE_PAYLOAD).map(payload).collect(),
            events: vec![],
            erased: Rc::default(),
            books,
            resent: BTreeMap::new(),
            excesses: vec![],
            isolates: vec![],
            isolate_count: 0,
            changed_key: None,
            has_regular,
            is_audit: false,
            time,
            random,
        };
        (0..KEYS.len()).filter(|key| *key != LATER).for_each(|key| simulation.make_key(key));
        simulation.set_prices();
        simulation.switch_mail_on();
        simulation.advance(100_000); // all writes are in force
        simulation.connect_shops();
        simulation.isolates =
            (0..ISOLATES).map(|index| simulation.isolate(index % LOCATIONS)).collect();
        simulation
    }

    /// Connects the shops before any fault happens.
    fn connect_shops(&self) {
        let Some(books) = self.books.clone() else { return };
        let conditions = self.kv.conditions.replace(Conditions::default());
        let connecting = Rc::clone(&books);
        books.spawn(async move { connecting.connect_shops().await });
        self.advance(100_000); // as above
        self.kv.conditions.set(conditions);
    }

    /// Gives the tasks of the ledger the isolates to which orders and their pledges are sent.
    pub fn orders_reach_the_service(&self, books: &Books) {
        books.orders.isolates.replace(self.isolates.clone());
        books.orders.exchanges.replace(Rc::clone(&self.exchanges));
    }

    fn isolate(&mut self, location: usize) -> Rc<Isolate> {
        self.isolate_count += 1;
        let entropy = Random::new(self.random.below(u64::MAX));
        let ahead_ms = self.random.below(10_000) as i64 - 5_000;
        Rc::new(Isolate {
            number: self.isolate_count,
            location,
            is_newer: self.random.chance(250),
            clock: SkewedClock { time: Rc::clone(&self.time), ahead_ms },
            entropy,
            timelines: Timelines::default(),
            caches: Caches::default(),
            settings: Settings {
                notifies_tests: vec![NotificationService::Email, MESSENGER],
                ..Settings::default()
            },
            bodies: Rc::default(),
        })
    }

    pub fn note(&mut self, event: impl Into<String>) {
        self.events.push((self.time.now_ms(), event.into()));
    }

    pub fn advance(&self, milliseconds: u64) {
        self.executor.run_until(self.time.now_ms() + milliseconds);
    }

    // ---- Random events ---------------------------------------------------------------------------

    pub fn step(&mut self) {
        let pause_ms = match self.random.below(100) {
            0..50 => self.random.below(6),
            50..75 => self.random.below(2_000),
            75..95 => self.random.below(40_000),
            _ => self.random.below(130_000),
        };
        self.advance(pause_ms);
        match self.random.below(100) {
            0..4 => self.compete(),
            4..65 => self.create(),
            65..83 => self.get(),
            83..90 => self.timeline(),
            90..92 => self.kill_isolate(),
            92..94 => self.cut_request(),
            94 => self.revoke_key(),
            95 if self.random.chance(500) => self.set_prices(),
            95 => self.set_unit_prices(),
            96 => self.erase(),
            97 => (0..self.random.below(RESENT)).for_each(|_| self.resend()),
            _ => self.make_later_key(),
        }
        self.keep_books();
        self.check_memory();
    }

    fn create(&mut self) {
        let name = self.random.chance(850).then(|| self.random.index(NAMES));
        let payload = self.random.index(PAYLOADS);
        let (spelling, is_broken) = (self.random.index(2), self.random.chance(20));
        self.send(Action::Create { name, payload, spelling, is_broken });
    }

    /// Sends two payloads with one idempotency key to one isolate at the same time, and soon afterwards again.
    fn compete(&self) {
        let (isolate, name) = (self.pick_isolate(), Some(self.random.index(NAMES)));
        let first = self.random.index(PAYLOADS);
        let payloads = [first, (first + 1) % PAYLOADS];
        let action = |payload| Action::Create { name, payload, spelling: 0, is_broken: false };
        let ask = self.ask(action(first));
        for _ in 0..2 {
            for payload in payloads {
                self.send_to(&isolate, Ask { action: action(payload), ..ask.clone() });
            }
            self.advance(self.random.below(30_000));
        }
    }

    /// Sends more bytes at once than an isolate may hold. They come either from the key of a team, or from
    /// the keys of all owners except one. Small create requests of all owners follow.
    fn burst(&mut self) {
        let isolate = self.pick_isolate();
        let spared = self.random.index(OWNERS.len());
        let keys = match self.random.chance(500) {
            true => vec![TEAM],
            false => OWNERS.iter().copied().filter(|key| *key != OWNERS[spared]).collect(),
        };
        self.note(format!("a burst of {BURST} creates by the keys {keys:?}"));
        let send = |key: usize, payload, is_broken| {
            let action = Action::Create { name: None, payload, spelling: 0, is_broken };
            // The team's key names each of its units: all of them use the one share of the team.
            let unit = Some(self.random.pick(KEYS[key].units));
            self.send_to(&isolate, Ask { key, unit, ..self.ask(action) });
        };
        for number in 0..BURST {
            send(keys[number % keys.len()], LARGE_PAYLOAD, number % WHOLE > 0);
        }
        self.advance(self.random.below(1_000));
        for number in 0..2 * OWNERS.len() {
            send(OWNERS[number % OWNERS.len()], self.random.index(PAYLOADS), false);
        }
    }

    /// Picks an answered create request, and returns the ID and edit key of its transaction.
    pub fn pick_created(&self) -> Option<(String, String)> {
        let exchanges = self.exchanges.borrow();
        let created: Vec<_> = exchanges.iter().filter_map(Exchange::created).collect();
        if created.is_empty() {
            return None;
        }
        let json = self.random.pick(&created).json();
        let url = json["timelineUrl"].as_str()?;
        Some((json["id"].as_str()?.to_owned(), url.rsplit('=').next()?.to_owned()))
    }

    fn get(&mut self) {
        let created = self.pick_created().filter(|_| self.random.chance(950));
        self.send(Action::Get { id: created.map_or_else(unknown_id, |(id, _)| id) });
    }

    fn timeline(&mut self) {
        let Some((id, edit_key)) = self.pick_created() else { return };
        let edit_key = if self.random.chance(250) { "a".repeat(32) } else { edit_key };
        self.send(Action::Timeline { id, edit_key });
    }

    pub fn cut_request(&mut self) {
        let running = self.running();
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
        for exchange in self.running() {
            let is_its = self.exchanges.borrow()[exchange].isolate == dead;
            if is_its {
                self.cut(exchange);
            }
        }
        if let Some(books) = &self.books {
            books.end_isolate(dead);
        }
        self.isolates[index] = self.isolate(index % LOCATIONS);
    }

    /// Returns the requests that have not ended.
    fn running(&self) -> Vec<usize> {
        self.tasks().into_iter().filter(|task| *task < FIRST_TASK).collect()
    }

    pub fn tasks(&self) -> Vec<usize> {
        self.executor.running()
    }

    fn cut(&self, exchange: usize) {
        self.executor.cancel(exchange);
        self.exchanges.borrow_mut()[exchange].is_cut = true;
    }

    // ---- Requests --------------------------------------------------------------------------------

    pub fn pick_isolate(&self) -> Rc<Isolate> {
        Rc::clone(&self.isolates[self.random.index(self.isolates.len())])
    }

    pub fn ask(&self, action: Action) -> Ask {
        let keys: &[usize] =
            if self.has_regular { &[2, 2, 2, 5, 0] } else { &[0, 0, 0, 1, 1, 2, 3, 4, 5, LATER] };
        let usual = self.random.pick(keys); // some are used more than others
        let key = self.changed_key.filter(|_| self.random.chance(250)).unwrap_or(usual);
        let unit = self.random.pick(&[None, Some("unit_1"), Some("unit_2"), Some("unit_3")]);
        Ask { key, unit, host: self.random.pick(HOSTS), action }
    }

    fn send(&self, action: Action) {
        let ask = self.ask(action);
        self.send_to(&self.pick_isolate(), ask);
    }

    pub fn send_to(&self, isolate: &Rc<Isolate>, ask: Ask) {
        let (exchange, time) = (self.exchanges.borrow().len(), Rc::clone(&self.time));
        let calls = Rc::new(Calls { exchange, time, list: RefCell::default() });
        let request = self.request(&ask, &calls, &isolate.bodies);
        let (kv, calls) = (Rc::clone(&self.kv), Rc::clone(&calls));
        let Isolate { location, is_newer, .. } = **isolate;
        let page_length = usize::MAX;
        let store = Namespace { kv, location, calls: Rc::clone(&calls), is_newer, page_length };
        self.exchanges.borrow_mut().push(Exchange {
            ask,
            isolate: isolate.number,
            location,
            ahead_ms: isolate.clock.ahead_ms,
            begun_ms: self.time.now_ms(),
            ended_ms: None,
            answer: None,
            is_cut: false,
            is_audit: self.is_audit,
            calls,
        });
        let (isolate, exchanges) = (Rc::clone(isolate), Rc::clone(&self.exchanges));
        let queue = SimulatedQueue { post: Rc::clone(&self.post), calls: Rc::clone(&store.calls) };
        let ledger = self.ledger_queue(isolate.number, &store);
        self.executor.spawn(exchange, async move {
            let ledger = ledger.as_ref().map(|queue| queue as &dyn LedgerQueue);
            let answer = isolate.serve(&store, &request, Some(&queue), ledger).await;
            let exchange = &mut exchanges.borrow_mut()[exchange];
            exchange.ended_ms = Some(isolate.clock.time.now_ms());
            exchange.answer = Some(answer);
        });
    }

    /// Returns the ledger's queue as one request sees it. The queue's KV calls do not count as calls of the
    /// request.
    fn ledger_queue(&self, isolate: usize, store: &Namespace) -> Option<SimulatedLedgerQueue> {
        let Calls { exchange, time, .. } = &*store.calls;
        let calls = Calls { exchange: *exchange, time: Rc::clone(time), list: RefCell::default() };
        let store = Namespace { calls: Rc::new(calls), ..store.clone() };
        Some(SimulatedLedgerQueue { books: self.books.clone()?, isolate, store })
    }

    fn request(&self, ask: &Ask, calls: &Rc<Calls>, bodies: &Rc<Bodies>) -> SimulatedRequest {
        let Ask { key, unit, host, action } = ask;
        let (method, path) = match action {
            Action::Create { .. } | Action::Order { .. } => ("POST", PATH.to_owned()),
            Action::Get { id } => ("GET", format!("{PATH}/{id}")),
            Action::Timeline { id, edit_key } => {
                ("GET", format!("/timeline/{id}?edit_key={edit_key}"))
            }
        };
        let mut headers = vec![("authorization", format!("Bearer {}", KEYS[*key].text))];
        headers.extend(unit.map(|unit| ("x-service-unit-id", unit.to_owned())));
        let held = bodies.begin(KEYS[*key].owner(), calls);
        let (calls, bodies) = (Rc::clone(calls), Rc::clone(bodies));
        let mut upload = Upload { calls, takes_ms: 0, is_broken: false, bodies, held };
        let mut body = vec![];
        if let Action::Create { name, payload, spelling, is_broken } = action {
            body = self.payloads[*payload].body(*spelling);
            headers.push(("content-type", "application/json".to_owned()));
            headers.extend((*spelling == 0).then(|| ("content-length", body.len().to_string())));
            headers.extend(name.map(|name| ("idempotency-key", format!("order-{name}"))));
            upload.takes_ms = self.upload_ms(*payload == LARGE_PAYLOAD);
            upload.is_broken = *is_broken;
        }
        SimulatedRequest { method, url: format!("{host}{path}"), headers, body, upload }
    }

    fn upload_ms(&self, is_large: bool) -> u64 {
        if self.kv.conditions.get().is_race {
            return 0;
        }
        let is_slow = is_large || (!self.is_audit && self.random.chance(100));
        self.random.below(if is_slow { 3_000 } else { 5 })
    }

    // ---- The operator ----------------------------------------------------------------------------

    fn make_key(&mut self, key: usize) {
        self.note(format!("the operator makes the key {}", KEYS[key].text));
        self.keys[key].made_ms = Some(self.time.now_ms());
        for member in members().filter(|_| KEYS[key].is_team) {
            self.kv.set(&member, Some(b"{}".to_vec()));
        }
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

    fn use_everywhere(&self, key: usize) {
        for isolate in &self.isolates {
            let action = Action::Get { id: unknown_id() };
            self.send_to(isolate, Ask { key, unit: Some("unit_1"), host: HOSTS[0], action });
        }
    }

    fn set_prices(&mut self) {
        let prices = draw_prices(&self.random);
        self.note(format!("the operator sets prices: {prices:?}"));
        for mode in [Mode::Test, Mode::Live] {
            self.kv.set(&PriceListKey::of_mode(mode).name(), Some(price_list(&prices, CURRENCY)));
        }
        self.prices.push((self.time.now_ms(), prices));
    }

    /// Sets the price list of a unit, or removes it.
    fn set_unit_prices(&mut self) {
        let key = &KEYS[self.random.pick(OWNERS)];
        let (mode, unit) = (key.mode, key.units[0]);
        let prices = self.random.chance(700).then(|| draw_prices(&self.random));
        self.note(format!("the operator sets the prices of {unit} ({mode:?}): {prices:?}"));
        let list = prices.as_ref().map(|prices| price_list(prices, UNIT_CURRENCY));
        self.kv.set(&PriceListKey::of_unit(mode, unit).name(), list);
        self.unit_prices.push((self.time.now_ms(), (mode.into(), unit), prices));
    }

    fn switch_mail_on(&mut self) {
        let secret = serde_json::json!({ "secret": *SECRET }).to_string().into_bytes();
        self.kv.set(&SecretKey.name(), Some(secret));
        for unit in ["unit_1", "unit_2"] {
            let profile = br#"{"name":"Small Hours Coffee","mail":true,"messagingServices":["MessagingServiceA"]}"#;
            let profile = profile.to_vec();
            self.kv.set(&ProfileKey(unit).name(), Some(profile));
        }
    }

    /// Erases a transaction that was created without an idempotency key. No replay can need such a
    /// transaction.
    pub fn erase(&mut self) {
        let is_single = |exchange: &&Exchange| exchange.ask.name().is_none();
        let id = {
            let exchanges = self.exchanges.borrow();
            let created = exchanges.iter().filter(is_single).filter_map(Exchange::created);
            let ids: Vec<_> = created.filter_map(|answer| answer.json()["id"].as_str()).collect();
            if ids.is_empty() {
                return;
            }
            self.random.pick(&ids).to_owned()
        };
        self.note(format!("the operator erases {id}"));
        self.kv.erase(&TransactionKey(&TransactionId::parse(&id).unwrap()).name());
        self.erased.borrow_mut().push((id, self.time.now_ms()));
    }

    /// Resends a requested notification, as an operator does with a form. The form is sent once or several
    /// times.
    fn resend(&mut self) {
        let Some((id, _)) = self.pick_created() else { return };
        let Some(record) = self.kv.last(&format!("transaction:{id}")) else { return };
        let json = record.json();
        let requested = json["notifications"].as_array().into_iter().flatten();
        let names = requested.filter_map(|one| one["type"].as_str());
        let services: Vec<_> = names.filter_map(NotificationService::from_name).collect();
        if services.is_empty() {
            return;
        }
        let service = self.random.pick(&services);
        let created_at = json["createdAt"].as_str().unwrap_or_default().to_owned();
        let resent = self.resent.entry((id.clone(), service)).or_default();
        *resent += 1;
        let (round, updates) = (*resent + 1, vec![]);
        let message = Message { id, created_at, round, service, updates };
        let forms = if self.random.chance(300) { 1 + self.random.below(5) } else { 1 };
        self.note(format!("the operator resends {message:?}, {forms} times"));
        (0..forms).for_each(|_| self.post.enqueue(&message, 0));
    }

    // ---- The end ---------------------------------------------------------------------------------

    /// Ends all faults, waits until late writes have arrived and caches have expired, and replaces all
    /// isolates. Then reads and repeats everything for the final checks.
    fn end(&mut self) {
        self.kv.conditions.set(Conditions::default());
        self.advance(400_000);
        self.check_memory();
        if self.running().is_empty() {
            self.check_reservations();
        }
        self.note("faults end, and all caches have run out");
        self.is_audit = true;
        self.isolates = (0..LOCATIONS).map(|location| self.isolate(location)).collect();
        self.read_all();
        self.repeat_all();
        self.settle_orders();
        self.advance(ALL_WAITS_MS);
        self.close_books();
    }

    /// Reads every transaction that an answer confirmed, at all locations. Also reads it once with the key
    /// of another unit or mode.
    fn read_all(&self) {
        for (id, scope) in self.acknowledged() {
            let key = |is_own: bool| {
                let scope_of = |key: &usize| (KEYS[*key].mode.into(), KEYS[*key].units[0]);
                (AUDIT..KEYS.len()).find(|key| (scope_of(key) == scope) == is_own).unwrap()
            };
            let everywhere = self.isolates.iter().cloned().map(|isolate| (isolate, key(true)));
            for (isolate, key) in everywhere.chain([(self.pick_isolate(), key(false))]) {
                let action = Action::Get { id: id.clone() };
                self.send_to(&isolate, Ask { key, unit: None, host: HOSTS[0], action });
                self.advance(200);
            }
        }
    }

    /// Repeats all create requests that had an idempotency key, and then uses each of these keys for a new payload.
    fn repeat_all(&self) {
        let named: BTreeSet<_> = {
            let exchanges = self.exchanges.borrow();
            let named = exchanges.iter().filter_map(|Exchange { ask, .. }| {
                ask.scope()?;
                Some((ask.key, ask.unit, ask.name()?, ask.payload()?))
            });
            named.collect()
        };
        let reuses: BTreeSet<_> =
            named.iter().map(|(key, unit, name, _)| (*key, *unit, *name, NEW_PAYLOAD)).collect();
        for (key, unit, name, payload) in named.into_iter().chain(reuses) {
            let (name, spelling) = (Some(name), self.random.index(2));
            let action = Action::Create { name, payload, spelling, is_broken: false };
            let ask = Ask { key, unit, host: self.random.pick(HOSTS), action };
            self.send_to(&self.pick_isolate(), ask);
            self.advance(1_500);
        }
    }

    /// Returns the IDs of the transactions that answers confirmed, each with its mode and unit.
    fn acknowledged(&self) -> BTreeMap<String, Scope> {
        let exchanges = self.exchanges.borrow();
        let acknowledged = exchanges.iter().filter_map(|exchange| {
            let id = exchange.created()?.json()["id"].as_str()?;
            Some((id.to_owned(), exchange.ask.scope()?))
        });
        acknowledged.collect()
    }

    // ---- Memory ----------------------------------------------------------------------------------

    fn check_memory(&mut self) {
        for isolate in &self.isolates {
            if isolate.caches.recent_replays.bytes() > 2 * 1024 * 1024 {
                self.excesses.push(format!("isolate {} keeps too many replays", isolate.number));
            }
            let most = isolate.bodies.most.get();
            if most > MAX_BYTES_IN_FLIGHT {
                self.excesses.push(format!("isolate {} held {most} bytes", isolate.number));
            }
            let most = isolate.bodies.most_of_owner.get();
            if most > CALM_BYTES {
                self.excesses
                    .push(format!("isolate {} held {most} bytes of an owner", isolate.number));
            }
        }
    }

    fn check_reservations(&mut self) {
        for isolate in &self.isolates {
            if isolate.caches.in_flight.bytes() > 0 {
                self.excesses.push(format!("isolate {} does not free its bytes", isolate.number));
            }
        }
    }

    /// Returns the faults that occurred.
    pub fn faults(&self) -> Vec<Fault> {
        let exchanges = self.exchanges.borrow();
        let calls = exchanges.iter().flat_map(|exchange| exchange.calls.list.borrow().clone());
        calls.filter_map(|call| call.fault).collect()
    }
}

fn unknown_id() -> String {
    "ptran_".to_owned() + &"a".repeat(42)
}
