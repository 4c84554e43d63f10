//! Simulates operators who request one API key several times with the same operation ID. Some requests run at
//! the same time, others later. The operators' processes may be killed meanwhile.

use crate::books::Books;
use crate::kv::OPERATOR;
use futures_executor::block_on;
use impact_pledge::office::audit::rule::Author;
use impact_pledge::office::keys::rule as keys;
use impact_pledge::office::shared::rule::once::{Done, was_done};
use impact_pledge::office::shared::rule::operation_id::OperationId;
use impact_pledge::pledges::auth::{KeyLevel, KeyRecord};
use impact_pledge::pledges::scope::Mode;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Maximum number of requests for one key. All are sent within a time that is picked from `WITHIN_MS`.
const ASKED: u64 = 4;
const WITHIN_MS: &[u64] = &[2_000, 50_000, 200_000];
/// Minimum time for which an unfinished attempt blocks another attempt, in milliseconds: the ledger's limit
/// of 30 s, minus the 10 s by which two clocks may differ.
const ALONE_MS: u64 = 20_000;

/// A key that is requested with one operation ID.
struct Wanted {
    id: OperationId,
    label: String,
    /// The IDs of the keys in the answers.
    keys: RefCell<Vec<String>>,
    /// The start and the end of each attempt that reported a new key.
    made: RefCell<Vec<(u64, u64)>>,
    /// Whether an attempt has ended without a failure of the database, so that the ledger has the outcome.
    /// Attempts that begin later must not create another key. An attempt that began earlier may still create
    /// one, if its computer slept meanwhile.
    is_kept: Cell<bool>,
}

impl Books {
    /// Simulates a person who requests one key several times.
    pub fn want_key(self: &Rc<Self>) {
        let id = OperationId::new(&self.clock(), &*self.random);
        let id = OperationId::parse(id.as_str()).unwrap(); // as a form sends it
        let label = format!("of {id}");
        let (keys, made, is_kept) = (RefCell::default(), RefCell::default(), Cell::default());
        let wanted = Rc::new(Wanted { id, label, keys, made, is_kept });
        let within_ms = self.random.pick(WITHIN_MS);
        for _ in 0..=self.random.below(ASKED) {
            let (books, wanted) = (Rc::clone(self), Rc::clone(&wanted));
            self.spawn_killable(async move {
                books.sleep(books.random.below(within_ms)).await;
                books.attempt(books.ask_for_key(&wanted)).await;
            });
        }
    }

    async fn ask_for_key(&self, wanted: &Wanted) {
        let (clock, store) = (self.clock(), self.namespace(OPERATOR));
        let author = Author::new("ops", &clock, &*self.random).unwrap();
        let author = author.with_operation(wanted.id.clone());
        let sqlite = self.database.sqlite();
        let was_done = block_on(was_done(sqlite, &author)).unwrap().is_some();
        let was_kept = was_done || wanted.is_kept.get();
        let (began_ms, faults) = (self.now_ms(), self.faults());
        let level = KeyLevel::Unit("unit_9".to_owned());
        let record = KeyRecord { label: wanted.label.clone(), ..KeyRecord::new(Mode::Test, level) };
        let told = keys::create(&store, &self.database, &author, record).await;
        let heard = match &told {
            Ok(Done { before: None, outcome }) if outcome.key.is_some() => "made".to_owned(),
            Ok(Done { before: None, .. }) => "found".to_owned(),
            Ok(Done { before: Some(at), .. }) => format!("made at {at}"),
            Err(error) => error.to_string(),
        };
        self.note(format!("the key {}: {heard}", wanted.label));
        let Ok(done) = told else { return self.count("a key: refused") };
        self.count(if done.before.is_none() { "a key: made" } else { "a key: made before" });
        self.check_one(wanted, &done.outcome.row.name.id);
        if done.before.is_some() {
            return;
        }
        if was_kept {
            self.blame("what is done is not done again", wanted.label.clone());
        }
        self.check_alone(wanted, began_ms);
        let is_kept = block_on(impact_pledge::office::shared::rule::once::was_done(
            self.database.sqlite(),
            &author,
        ));
        if faults == self.faults() && is_kept.unwrap().is_none() {
            self.blame("what is done is kept", wanted.label.clone());
        }
        wanted.is_kept.set(faults == self.faults());
    }

    /// Returns how often the database has failed.
    fn faults(&self) -> usize {
        self.database.faults.borrow().values().sum()
    }

    /// Checks that one operation creates at most one key.
    fn check_one(&self, wanted: &Wanted, id: &str) {
        let mut keys = wanted.keys.borrow_mut();
        keys.push(id.to_owned());
        let records = self.kv.last_of("key:");
        let is_own = |text: &str| text.contains(&wanted.label);
        let kept = records.iter().filter(|(_, record)| is_own(&record.json().to_string()));
        keys.extend(kept.filter_map(|(name, _)| Some(name.get(4..16)?.to_owned())));
        keys.sort();
        keys.dedup();
        if keys.len() > 1 {
            self.blame("one operation makes one key", format!("{}: {keys:?}", wanted.label));
        }
    }

    /// Checks that only one of two simultaneous attempts creates the key.
    fn check_alone(&self, wanted: &Wanted, began_ms: u64) {
        let mut made = wanted.made.borrow_mut();
        let now_ms = self.now_ms();
        let is_beside = |(began, ended): &&(u64, u64)| {
            let (first, second) = ((*began).min(began_ms), (*began).max(began_ms));
            let first_ended = if first == *began { *ended } else { now_ms };
            second < first_ended && second - first < ALONE_MS
        };
        if let Some((began, _)) = made.iter().find(is_beside) {
            let text = format!("{} at {began} and {began_ms} ms", wanted.label);
            self.blame("of two attempts at once one does the work", text);
        }
        made.push((began_ms, now_ms));
    }
}
