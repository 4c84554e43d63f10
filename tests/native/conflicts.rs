//! Tests two operators who change one record at the same moment. At most one of them may be told that the
//! change was made.

use crate::dashboard::{confirmation, dashboard, posted};
use futures_executor::block_on;
use futures_util::future::join;
use impact_pledge::office::audit::rule::Author;
use impact_pledge::office::dashboard::Dashboard;
use impact_pledge::office::payments::rule as payments;
use impact_pledge::office::payments::rule::Payment;
use impact_pledge::office::prices::rule as prices;
use impact_pledge::office::prices::rule::Edit;
use impact_pledge::office::shared::page::identity::Identity;
use impact_pledge::office::shared::page::settings::{Settings, Variables};
use impact_pledge::office::shared::rows::port::{Ledger, LedgerError, QueryFuture, Statement};
use impact_pledge::office::shared::rule::error::OperatorError;
use impact_pledge::office::shared::rule::operation_id::OperationId;
use impact_pledge::office::shops::rule::teams;
use impact_pledge::office::shops::rule::teams::ExistingMember;
use impact_pledge::office::shops::rule::units;
use impact_pledge::office::system::rule::adopt::adopt;
use impact_pledge::pledges::charge::PriceList;
use impact_pledge::pledges::scope::Mode;
use impact_pledge::pledges::settlement::ScopeMonth;
use impact_pledge::pledges::store::{
    Key, ListPage, ListingStore, OperatorStore, PriceListKey, Store, StoreError, Stored,
};
use serde_json::{Value, json};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::iter::repeat_n;
use std::mem::take;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use support::ledger::SqliteLedger;
use support::memory::MemoryStore;
use support::service::{
    CountedEntropy, FixedClock, LIVE_UNIT, NOW_MS, PATH, TestRequest, answer, minimal, seeded,
};

const PEOPLE: [&str; 2] = ["ada@example.org", "bo@example.org"];
const PROFILE: &str = "profile:unit_dev";
const PRICE_LIST: &str = "catalogue:live";
const UNIT_PRICE_LIST: &str = "catalogue:live:unit_dev";
const SETTLEMENT: &str = "settlement:live:unit_dev:2026-01";
const MEMBER: &str = "member:t:u";
/// The present time of the tests. January has ended, and its payments can be settled.
const ENDED_MS: u64 = NOW_MS + 3 * 86_400_000;

/// The store as one operator sees it. A schedule decides which of the two operators makes the next call.
struct Turns<'s> {
    store: &'s MemoryStore,
    /// Old versions of the records, as a cache may have them. Reads return them once both operators have read
    /// the current record. With `None`, reads always return the current records.
    cached: Option<&'s BTreeMap<String, String>>,
    ledger: &'s SqliteLedger,
    reads: Cell<usize>,
    /// Whose turn it is, and how often the first operator called the ledger.
    turn: Cell<usize>,
    asked: Cell<usize>,
    /// Which of the first operator's calls to the ledger fails; `None` if none does.
    failing: Option<usize>,
}

async fn other_first() {
    let mut is_waiting = true;
    poll_fn(|context| {
        context.waker().wake_by_ref();
        if take(&mut is_waiting) { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
}

impl Store for Turns<'_> {
    type Value = Vec<u8>;

    async fn get<K: Key>(
        &self,
        key: &K,
    ) -> Result<Option<Stored<Vec<u8>, K::Metadata>>, StoreError> {
        other_first().await;
        self.store.get(key).await
    }

    async fn put<K: Key>(
        &self,
        key: &K,
        value: Vec<u8>,
        metadata: &K::Metadata,
    ) -> Result<(), StoreError> {
        other_first().await;
        self.store.put(key, value, metadata).await
    }
}

impl ListingStore for Turns<'_> {
    async fn list(&self, prefix: &str, cursor: Option<&str>) -> Result<ListPage, StoreError> {
        other_first().await;
        self.store.list(prefix, cursor).await
    }
}

impl OperatorStore for Turns<'_> {
    async fn get_values<K: Key>(&self, keys: &[K]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        other_first().await;
        self.reads.set(self.reads.get() + 1);
        let Some(cached) = self.cached.filter(|_| self.reads.get() > 2) else {
            return self.store.get_values(keys).await;
        };
        let value = |key: &K| cached.get(&key.name()).map(|value| value.clone().into_bytes());
        Ok(keys.iter().map(value).collect())
    }

    async fn put_for<K: Key>(
        &self,
        key: &K,
        value: Vec<u8>,
        metadata: &K::Metadata,
        seconds: u32,
    ) -> Result<(), StoreError> {
        other_first().await;
        self.store.put_for(key, value, metadata, seconds).await
    }

    async fn remove<K: Key>(&self, key: &K) -> Result<(), StoreError> {
        other_first().await;
        OperatorStore::remove(self.store, key).await
    }

    async fn pause(&self, _: u32) {}
}

impl Ledger for Turns<'_> {
    fn run<'l>(&'l self, statements: &'l [Statement]) -> QueryFuture<'l> {
        Box::pin(async {
            other_first().await;
            let is_first = self.turn.get() == 0;
            self.asked.set(self.asked.get() + usize::from(is_first));
            if is_first && self.failing == Some(self.asked.get()) {
                return Err(LedgerError::Unavailable);
            }
            self.ledger.run(statements).await
        })
    }
}

type Person<'a> = Author<'a, FixedClock, CountedEntropy>;
type Change = for<'a> fn(&'a Turns<'a>, &'a Person<'a>) -> Changing<'a>;
type Changing<'a> = Pin<Box<dyn Future<Output = Result<(), OperatorError>> + 'a>>;

fn set_profile<'a>(store: &'a Turns<'a>, author: &'a Person<'a>) -> Changing<'a> {
    Box::pin(async move {
        let members = serde_json::from_value(json!({ "name": author.by() })).unwrap();
        units::set(store, store, author, "unit_dev", members).await.map(drop)
    })
}

fn remove_profile<'a>(store: &'a Turns<'a>, author: &'a Person<'a>) -> Changing<'a> {
    Box::pin(async move { units::remove(store, store, author, "unit_dev").await.map(drop) })
}

fn set_prices<'a>(store: &'a Turns<'a>, author: &'a Person<'a>) -> Changing<'a> {
    Box::pin(async move {
        let list = json!({ "currencyCode": "USD", "unitPrices": { author.by(): "1" } });
        let list: PriceList = serde_json::from_value(list).unwrap();
        let edit = Edit::All(list);
        prices::set(store, store, author, PriceListKey::of_mode(Mode::Live), &edit, None)
            .await
            .map(drop)
    })
}

const OWN: PriceListKey<'_> = PriceListKey::of_unit(Mode::Live, "unit_dev");

fn set_unit_prices<'a>(store: &'a Turns<'a>, author: &'a Person<'a>) -> Changing<'a> {
    Box::pin(async move {
        let list = json!({ "currencyCode": "EUR", "unitPrices": { author.by(): "1" } });
        let edit = Edit::All(serde_json::from_value(list).unwrap());
        prices::set(store, store, author, OWN, &edit, None).await.map(drop)
    })
}

fn remove_unit_prices<'a>(store: &'a Turns<'a>, author: &'a Person<'a>) -> Changing<'a> {
    let of = (Mode::Live, "unit_dev");
    Box::pin(async move { prices::remove(store, store, author, of, None).await.map(drop) })
}

fn mark_paid<'a>(store: &'a Turns<'a>, author: &'a Person<'a>) -> Changing<'a> {
    Box::pin(async move {
        let payment = json!({
            "of": { "unit": "unit_dev", "mode": "live", "month": "2026-01" },
            "amounts": [{ "amount": "1.50" }],
            "paidAt": "2026-02-02T00:00:00.000Z",
            "invoice": author.by(),
            "acceptUnpriced": 0,
        });
        let payment: Payment = serde_json::from_value(payment).unwrap();
        payments::mark(store, store, author, &payment).await.map(drop)
    })
}

fn undo_paid<'a>(store: &'a Turns<'a>, author: &'a Person<'a>) -> Changing<'a> {
    Box::pin(async move {
        let of = json!({ "unit": "unit_dev", "mode": "live", "month": "2026-01" });
        let of: ScopeMonth = serde_json::from_value(of).unwrap();
        payments::undo(store, store, author, &of, None).await.map(drop)
    })
}

/// Adds a unit to a team. Fails if the unit is already in the team, because then the other operator has added
/// it.
fn add_member<'a>(store: &'a Turns<'a>, author: &'a Person<'a>) -> Changing<'a> {
    Box::pin(async move {
        let added = teams::add(store, store, author, "t", &["u".to_owned()]).await?;
        let before =
            |unit: &ExistingMember| OperatorError::invalid(format!("{:?}", unit.registered));
        added.outcome.already.first().map_or(Ok(()), |unit| Err(before(unit)))
    })
}

fn remove_member<'a>(store: &'a Turns<'a>, author: &'a Person<'a>) -> Changing<'a> {
    Box::pin(
        async move { teams::remove(store, store, author, "t", &["u".to_owned()]).await.map(drop) },
    )
}

fn settlement() -> String {
    json!({ "paidAt": "2026-02-02T00:00:00.000Z", "sums": [], "invoice": "1", "by": "cyd", "at": "2026-02-02T00:00:00.000Z" })
        .to_string()
}

/// Two changes of one record that run at the same time.
struct Race {
    changes: [Change; 2],
    record: &'static str,
    is_there: bool,
    store: MemoryStore,
    ledger: SqliteLedger,
    before: BTreeMap<String, (String, Value)>,
}

/// The result of a race: the answer that each operator got, and the record.
type Ended = ([Result<(), String>; 2], Option<String>);

impl Race {
    fn new((changes, record, is_there): Contest) -> Self {
        let service = seeded();
        let body = minimal().to_string().into_bytes();
        let create = TestRequest::new("POST", PATH, LIVE_UNIT).with_body(body);
        assert_eq!(service.send(&create).status, 200);
        let store = MemoryStore::default();
        for name in service.store.names() {
            let metadata = service.store.metadata(&name).swap_remove(0).to_string();
            let value = service.store.value(&name).unwrap();
            store.keep(&name, value.as_bytes(), metadata.as_bytes());
        }
        store.keep("unit:unit_dev", b"{}", b"null");
        let ledger = SqliteLedger::default();
        ledger.reconcile(&store, ENDED_MS);
        if is_there {
            store.keep(record, settlement().as_bytes(), b"null");
        }
        let before = store.names().into_iter().map(|name| {
            let metadata = store.metadata(&name).swap_remove(0);
            (name.clone(), (store.value(&name).unwrap(), metadata))
        });
        let before = before.collect();
        Race { changes, record, is_there, store, ledger, before }
    }

    /// Runs both changes until they end. A schedule decides whose call is next.
    fn run(&self, schedule: &[usize], cached: Option<&BTreeMap<String, String>>) -> Ended {
        self.run_failing(schedule, cached, None)
    }

    /// Runs both changes as [`run`](Self::run) does, while this call of the ledger fails for the first operator.
    fn run_failing(
        &self,
        schedule: &[usize],
        cached: Option<&BTreeMap<String, String>>,
        failing: Option<usize>,
    ) -> Ended {
        self.reset();
        let (clock, entropy) = (FixedClock(Cell::new(ENDED_MS)), CountedEntropy::default());
        let authors = PEOPLE.map(|by| Author::new(by, &clock, &entropy).unwrap());
        let reads = Cell::default();
        let (store, ledger) = (&self.store, &self.ledger);
        let (turn, asked) = Default::default();
        let turns = Turns { store, ledger, cached, reads, turn, asked, failing };
        let [a, b] = &authors;
        let mut changing = [self.changes[0](&turns, a), self.changes[1](&turns, b)];
        let mut heard = [None, None];
        let is_in_ledger = [SETTLEMENT, MEMBER].contains(&self.record) && self.is_there;
        let calls = if is_in_ledger { 3 } else { 4 }; // others are looked up in Workers KV, too
        let reads = repeat_n(0, calls).chain(repeat_n(1, calls)); // both have seen the same record
        let rest = repeat_n(0, 100).chain(repeat_n(1, 100));
        for turn in reads.chain(schedule.iter().copied()).chain(rest) {
            turns.turn.set(turn);
            let mut context = Context::from_waker(Waker::noop());
            if heard[turn].is_none()
                && let Poll::Ready(outcome) = changing[turn].as_mut().poll(&mut context)
            {
                heard[turn] = Some(outcome.map_err(|error| error.to_string()));
            }
        }
        (heard.map(Option::unwrap), self.store.value(self.record))
    }

    fn reset(&self) {
        for name in self.store.names() {
            self.store.remove(&name);
        }
        self.ledger.sql("DELETE FROM operations");
        self.ledger.sql("DELETE FROM published");
        for (name, (value, metadata)) in &self.before {
            self.store.keep(name, value.as_bytes(), metadata.to_string().as_bytes());
        }
        block_on(adopt(&self.store, &self.ledger, NOW_MS)).unwrap();
    }

    #[track_caller]
    fn check(&self, ended: &Ended, schedule: &[usize]) {
        let (heard, record) = ended;
        let before = self.before.get(self.record).map(|(value, _)| value);
        match heard {
            [Ok(()), Ok(())] => panic!("both are done by {schedule:?}: {record:?}"),
            [Err(_), Err(_)] => panic!("none is done by {schedule:?}: {heard:?}"),
            _ => {
                let winner = PEOPLE[usize::from(heard[0].is_err())];
                let loser = heard.iter().find_map(|heard| heard.as_ref().err()).unwrap();
                assert!(loser.contains(winner), "{schedule:?}: {loser}");
                let has_it = record.as_ref().is_none_or(|record| record.contains(winner));
                assert!(has_it && record.as_ref() != before, "{schedule:?}: {record:?}");
            }
        }
    }
}

/// Two changes, the name of the record that they change, and whether the record exists before the changes.
type Contest = ([Change; 2], &'static str, bool);

const RACES: [Contest; 10] = [
    ([set_profile, set_profile], PROFILE, false),
    ([set_profile, remove_profile], PROFILE, false),
    ([remove_profile, set_profile], PROFILE, false),
    ([set_prices, set_prices], PRICE_LIST, false),
    ([set_unit_prices, set_unit_prices], UNIT_PRICE_LIST, false),
    ([set_unit_prices, remove_unit_prices], UNIT_PRICE_LIST, true),
    ([mark_paid, mark_paid], SETTLEMENT, false),
    ([undo_paid, undo_paid], SETTLEMENT, true),
    ([add_member, add_member], MEMBER, false),
    ([remove_member, remove_member], MEMBER, true),
];

/// Returns all schedules of two operators who take turns of 1 to 6 calls each. A schedule passes the turn to
/// the other operator at most `changes` times.
fn schedules(changes: usize) -> Vec<Vec<usize>> {
    let mut all = vec![];
    let mut begun = vec![vec![]];
    for turn in (0..=changes).map(|number| number % 2) {
        let longer = |before: &Vec<usize>| {
            let before = before.clone();
            (1..7).map(move |calls| [&before[..], &vec![turn; calls]].concat())
        };
        begun = begun.iter().flat_map(longer).collect();
        all.extend(begun.iter().cloned());
    }
    all
}

#[test]
fn of_two_changes_at_one_moment_one_is_done_however_their_calls_take_turns() {
    for (index, contest) in RACES.into_iter().enumerate() {
        let race = Race::new(contest);
        for schedule in &schedules(if index == 0 { 3 } else { 2 }) {
            race.check(&race.run(schedule, None), schedule);
        }
        let together = [0, 1].repeat(20);
        let (heard, _) = race.run(&together, None);
        assert!(heard.iter().any(Result::is_ok), "{}: {heard:?}", race.record);
    }
}

/// The ledger fails for one operator, as a busy local database does. The other operator's change must not be refused,
/// unless the first one made a change before the failure: otherwise nobody would make a change.
#[test]
fn if_one_of_two_changes_at_one_moment_fails_the_other_is_done() {
    for contest in RACES {
        let race = Race::new(contest);
        for failing in 1..20 {
            let (heard, record) = race.run_failing(&[0, 1].repeat(60), None, Some(failing));
            let is_changed =
                record.as_ref() != race.before.get(race.record).map(|(value, _)| value);
            let is_made = |heard: &Result<(), String>| {
                heard.as_ref().err().is_none_or(|problem| problem.contains("are still accepted"))
            };
            let is_done = is_changed || heard.iter().any(is_made);
            assert!(is_done, "{} {failing}: {heard:?}", race.record);
        }
    }
}

/// Workers KV may answer reads from a cache for up to a minute. The ledger decides which operator was first.
#[test]
fn a_cache_that_is_old_makes_no_two_changes_done() {
    for contest in RACES {
        let race = Race::new(contest);
        let cached = race.before.iter().map(|(name, (value, _))| (name.clone(), value.clone()));
        let cached = cached.collect();
        for schedule in &schedules(2) {
            race.check(&race.run(schedule, Some(&cached)), schedule);
        }
    }
}

/// On the dashboard, the slower operator gets the form again, with the name of the faster operator.
#[test]
fn of_two_forms_at_one_moment_the_later_one_says_who_was_faster() {
    let dashboard = dashboard(seeded());
    dashboard.store().keep("unit:unit_dev", b"{}", b"null");
    let operators = PEOPLE.join(", ");
    let settings = Settings::parse(Variables { operators: &operators, ..Variables::default() });
    let reads = Cell::default();
    let ledger = &dashboard.ledger;
    let (turn, asked) = Default::default();
    let store = dashboard.store();
    let store = Turns { store, ledger, cached: None, reads, turn, asked, failing: None };
    let pages = Dashboard {
        store: &store,
        clock: &dashboard.clock,
        entropy: &dashboard.entropy,
        settings: &settings,
        outbox: None,
        ledger: &store,
        in_flight: &dashboard.in_flight,
        rounds: &dashboard.rounds,
    };
    let list = |who: &str| format!(r#"{{"currencyCode":"USD","unitPrices":{{"{who}":"1"}}}}"#);
    for form in ["/prices", "/units/unit_dev/profile"] {
        let prepared = PEOPLE.map(|who| {
            let list = list(who);
            let id = OperationId::new(&dashboard.clock, &dashboard.entropy);
            let own = match form {
                "/prices" => ("file", &*list),
                _ => ("name", who),
            };
            let fields = [own, ("mode", "live"), ("language", "en"), ("operation", id.as_str())];
            if form != "/prices" {
                return posted(form, &fields);
            }
            let asked = block_on(pages.handle(&posted(form, &fields), Identity::Address(who)));
            let (path, fields) = confirmation(&answer(asked));
            let fields: Vec<_> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
            posted(&path, &fields)
        });
        let send = async |who: &str| {
            let own = usize::from(who != PEOPLE[0]);
            answer(pages.handle(&prepared[own], Identity::Address(who)).await)
        };
        let (first, second) = block_on(join(send(PEOPLE[0]), send(PEOPLE[1])));
        let mut answers = [(first, PEOPLE[0]), (second, PEOPLE[1])];
        answers.sort_by_key(|(answer, _)| answer.status);
        let [(done, winner), (refused, loser)] = answers;
        assert_eq!((done.status, refused.status), (200, 422), "{}", refused.text);
        let words = format!("Your change was not saved: {winner} changed the pr");
        assert!(refused.text.contains(&words), "{}", refused.text);
        assert!(refused.text.contains(loser), "what was entered is kept");
    }
}
