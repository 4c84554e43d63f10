//! Tests which people of a shop may sign in: after each change, after a change in which a step fails, and after a
//! restore.

use crate::faulty_changes::{Fault, Faulty};
use futures_executor::block_on;
use futures_util::future::FutureExt as _;
use impact_pledge::office::audit::rule::Author;
use impact_pledge::office::people::rows::changes::Removable;
use impact_pledge::office::people::rows::people::Membership;
use impact_pledge::office::people::rows::people::PersonRole;
use impact_pledge::office::people::rows::people::PersonRole::{Manager, Viewer};
use impact_pledge::office::people::rule as people;
use impact_pledge::office::shared::rule::error::OperatorError;
use impact_pledge::office::shared::rule::operation_id::OperationId;
use impact_pledge::office::shops::rule::teams;
use impact_pledge::office::system::rows::own_rows::{OwnRows, OwnTable, page, restore};
use impact_pledge::office::system::rule::restore::RestoreOptions;
use impact_pledge::pledges::auth::KeyLevel;
use std::cell::Cell;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use support::ledger::{Recorder, SqliteLedger};
use support::memory::MemoryStore;
use support::service::{CountedEntropy, FixedClock, NOW_MS, changes, unit};

const MINUTE: u64 = 60_000;
const DAY: u64 = 24 * 60 * MINUTE;
const FAULTS: [Fault; 5] =
    [Fault::Before, Fault::After, Fault::CrashBefore, Fault::CrashAfter, Fault::Pass];

/// The records, the ledger and the clock.
pub struct World {
    pub store: MemoryStore,
    pub ledger: SqliteLedger,
    pub clock: FixedClock,
    entropy: CountedEntropy,
    faults: Vec<(usize, Fault)>,
    calls: Cell<usize>,
}

type Heard = Option<Result<(), String>>;

impl World {
    fn new() -> Self {
        World {
            store: MemoryStore::default(),
            ledger: SqliteLedger::default(),
            clock: FixedClock(Cell::new(NOW_MS)),
            entropy: CountedEntropy::default(),
            faults: Vec::new(),
            calls: Cell::default(),
        }
    }

    fn with(people: &[(KeyLevel, &str, PersonRole)]) -> Self {
        let world = World::new();
        for (place, address, role) in people {
            assert_eq!(world.add(place, address, *role), Some(Ok(())));
            world.later(MINUTE);
        }
        world
    }

    fn later(&self, ms: u64) {
        self.clock.0.set(self.clock.0.get() + ms);
    }

    /// Makes a change while the calls in `faults` fail. Returns `None` if the process ended before the answer.
    fn make(
        &self,
        operation: Option<&str>,
        change: impl AsyncFnOnce(
            &Faulty<'_>,
            &Author<'_, FixedClock, CountedEntropy>,
        ) -> Result<(), OperatorError>,
    ) -> Heard {
        let author = Author::new("ada@example.org", &self.clock, &self.entropy).unwrap();
        let author = match operation {
            Some(id) => author.with_operation(OperationId::parse(id).unwrap()),
            None => author,
        };
        let (store, ledger, clock) = (&self.store, &self.ledger, &self.clock);
        let faulty = Faulty { store, ledger, clock, calls: Cell::new(0), faults: &self.faults };
        let heard = change(&faulty, &author).now_or_never();
        self.calls.set(faulty.calls.get());
        heard.map(|heard| heard.map_err(|error| error.to_string()))
    }

    fn add(&self, place: &KeyLevel, address: &str, role: PersonRole) -> Heard {
        self.add_as(None, place, address, role)
    }

    fn add_as(&self, id: Option<&str>, place: &KeyLevel, address: &str, role: PersonRole) -> Heard {
        self.make(id, async |at, author| {
            people::add(at, at, author, (place, address), role).await.map(drop)
        })
    }

    fn remove(&self, place: &KeyLevel, address: &str, which: Removable) -> Heard {
        self.remove_as(None, place, address, which)
    }

    fn remove_as(
        &self,
        id: Option<&str>,
        place: &KeyLevel,
        address: &str,
        which: Removable,
    ) -> Heard {
        self.make(id, async |at, author| {
            people::remove(at, author, (place, address), which).await.map(drop)
        })
    }

    fn of(&self, address: &str) -> Vec<Membership> {
        block_on(people::of_person(&self.ledger, address)).unwrap()
    }

    /// Whether the address may sign in for the unit `shop`.
    fn may(&self, address: &str) -> bool {
        self.of(address).iter().any(|it| it.units == ["shop"])
    }

    fn rows(&self) -> usize {
        self.ledger.sql("SELECT address FROM people").len()
    }

    fn reconcile(&self) {
        self.ledger.reconcile(&self.store, self.clock.0.get());
    }

    fn audited(&self, command: &str) -> usize {
        let changes = changes(&self.store, &self.ledger);
        changes.iter().filter(|change| change.command == command).count()
    }
}

fn shop() -> KeyLevel {
    unit("shop")
}

fn problem(heard: Heard) -> String {
    heard.unwrap().unwrap_err()
}

const EVA: &str = "eva@shop.example";
const BEN: &str = "ben@shop.example";

#[test]
fn an_address_is_compared_as_the_operators_are() {
    let world = World::with(&[(shop(), " Eva@Shop.example ", Manager)]);
    for (address, may) in [
        ("eva@shop.example", true),
        (" EVA@SHOP.EXAMPLE", true),
        ("\"eva\"@shop.example", false),
        ("eva@shop.example.org", false),
        ("ev\u{e4}@shop.example", false),
        ("", false),
    ] {
        assert_eq!(world.may(address), may, "{address}");
    }
    for address in ["", "eva", "eva@", "Eva <eva@shop.example>", "eva@shop.example\nx", "%"] {
        assert!(problem(world.add(&shop(), address, Viewer)).contains("not an e-mail address"));
    }
    let long = format!("{}@{}.example", "l".repeat(64), vec!["d".repeat(60); 4].join("."));
    assert!(problem(world.add(&shop(), &long, Viewer)).contains("254 bytes"));
    let records = world.store.names();
    assert!(records.iter().all(|name| !name.contains("eva")), "names have no address: {records:?}");
}

#[test]
fn a_team_gives_access_to_its_units_alone() {
    let chain = KeyLevel::Team("chain".to_owned());
    let world = World::with(&[(chain.clone(), EVA, Viewer), (shop(), EVA, Manager)]);
    let units = |units: &[&str]| units.iter().map(|unit| (*unit).to_owned()).collect::<Vec<_>>();
    let chained = |team: &str, change: &[&str], adds: bool| {
        let change = units(change);
        let heard = world.make(None, async |at, author| match adds {
            true => teams::add(at, at, author, team, &change).await.map(drop),
            false => teams::remove(at, at, author, team, &change).await.map(drop),
        });
        assert_eq!(heard, Some(Ok(())));
    };
    chained("chain", &["north", "a:b"], true);
    chained("chain2", &["foreign"], true);
    chained("chai", &["n:foreign"], true);
    let own = |role, place, own: &[&str]| Membership { place, role, units: units(own) };
    let expected = [own(Viewer, chain.clone(), &["a:b", "north"]), own(Manager, shop(), &["shop"])];
    assert_eq!(world.of(EVA), expected);
    world.later(21 * MINUTE);
    world.reconcile();
    assert_eq!(world.of(EVA), expected);
    chained("chain", &["north"], false);
    assert_eq!(world.of(EVA)[0].units, ["a:b"]);
}

#[test]
fn a_person_cannot_remove_the_last_manager_but_an_operator_can() {
    let world = World::with(&[(shop(), EVA, Manager), (shop(), BEN, Viewer)]);
    assert!(problem(world.remove(&shop(), EVA, Removable::NotTheLast)).contains("last manager"));
    assert_eq!(world.audited("people remove"), 0, "the entry is withdrawn");
    assert!(world.may(EVA));
    assert!(problem(world.add(&shop(), BEN, Manager)).contains("already has the role viewer"));
    assert_eq!(world.remove(&shop(), BEN, Removable::NotTheLast), Some(Ok(())));
    assert_eq!(world.add(&shop(), BEN, Manager), Some(Ok(())));
    assert_eq!(world.remove(&shop(), EVA, Removable::NotTheLast), Some(Ok(())));
    assert!(!world.may(EVA) && world.may(BEN));
    assert!(
        problem(world.remove(&shop(), EVA, Removable::All))
            .contains("has no person with this address")
    );
    assert_eq!(world.remove(&shop(), BEN, Removable::All), Some(Ok(())));
    assert_eq!((world.rows(), world.may(BEN)), (0, false));
}

/// Polls a future in a loop until it is ready. This is necessary because a call that waits does not wake its
/// task.
fn poll_until_ready<T>(future: impl Future<Output = T>) -> T {
    let (mut future, mut context) = (pin!(future), Context::from_waker(Waker::noop()));
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
}

/// Two managers remove each other. One of the two changes pauses at a call, so both may pass all checks before
/// either manager is removed.
#[test]
fn of_two_managers_who_remove_each_other_one_stays() {
    for call in 1..=6 {
        let world = World::with(&[(shop(), EVA, Manager), (shop(), BEN, Manager)]);
        let author = |by| Author::new(by, &world.clock, &world.entropy).unwrap();
        let (eva, ben) = (author(EVA), author(BEN));
        let (store, ledger, clock) = (&world.store, &world.ledger, &world.clock);
        let faults = [(call, Fault::Wait)];
        let at = |faults| Faulty { store, ledger, clock, calls: Cell::new(0), faults };
        let (slow, fast) = (at(&faults), at(&[]));
        let place = shop();
        let removes =
            async |at: &Faulty<'_>, author: &Author<'_, FixedClock, CountedEntropy>, whom| {
                let which = Removable::NotTheLast;
                people::remove(at, author, (&place, whom), which).await
            };
        let both = futures_util::future::join(removes(&slow, &eva, BEN), removes(&fast, &ben, EVA));
        let (one, other) = poll_until_ready(both);
        assert!(one.is_ok() != other.is_ok(), "{call}");
        assert!(world.may(EVA) != world.may(BEN), "{call}");
    }
}

#[test]
fn a_repeated_operation_takes_effect_once() {
    let world = World::new();
    let id = format!("{NOW_MS}-{}", "0".repeat(32));
    for _ in 0..2 {
        assert_eq!(world.add_as(Some(&id), &shop(), EVA, Manager), Some(Ok(())));
    }
    assert_eq!((world.audited("people add"), world.rows()), (1, 1));
    let other = problem(world.add_as(Some(&id), &shop(), BEN, Manager));
    assert!(other.contains("used for another change"), "{other}");
    // A form that removes a person does not remove the person who was added again since.
    let stale = format!("{}-{}", world.clock.0.get(), "1".repeat(32));
    world.later(MINUTE);
    assert_eq!(world.remove(&shop(), EVA, Removable::All), Some(Ok(())));
    world.later(MINUTE);
    assert_eq!(world.add(&shop(), EVA, Viewer), Some(Ok(())));
    let again = problem(world.remove_as(Some(&stale), &shop(), EVA, Removable::All));
    assert!(again.contains("added this person again"), "{again}");
    assert!(world.may(EVA));
}

#[test]
fn a_change_that_one_step_fails_is_told_true_and_completed_by_a_retry() {
    let id = |digit: &str| Some(format!("{NOW_MS}-{}", digit.repeat(32)));
    let (adding, removing) = (id("2"), id("3"));
    for adds in [true, false] {
        let before = || match adds {
            true => World::new(),
            false => World::with(&[(shop(), EVA, Viewer)]),
        };
        let make = |world: &World| match adds {
            true => world.add_as(adding.as_deref(), &shop(), EVA, Viewer),
            false => world.remove_as(removing.as_deref(), &shop(), EVA, Removable::All),
        };
        let world = before();
        assert_eq!(make(&world), Some(Ok(())));
        for call in 1..=world.calls.get() {
            for fault in FAULTS {
                let mut world = before();
                if !adds {
                    world.clock.0.set(NOW_MS + 2 * MINUTE); // the form is newer than the person
                }
                world.faults = vec![(call, fault)];
                let heard = make(&world);
                let is_made = world.may(EVA) == adds;
                if heard == Some(Ok(())) {
                    assert!(is_made && world.rows() == usize::from(adds), "{call} {fault:?}");
                }
                world.faults.clear();
                world.later(MINUTE);
                let again = make(&world);
                assert_eq!(again, Some(Ok(())), "{call} {fault:?}, before: {heard:?}");
                assert_eq!(world.may(EVA), adds, "{call} {fault:?}");
                assert_eq!(world.rows(), usize::from(adds), "{call} {fault:?}");
                world.later(21 * MINUTE);
                world.reconcile();
                assert_eq!(world.may(EVA), adds, "{call} {fault:?}");
            }
        }
    }
}

/// A computer sleeps after it has begun a change. Meanwhile, the change is sent again and made, and then
/// undone. When the computer wakes up, it changes nothing, however short the sleep was.
#[test]
fn a_request_that_was_overtaken_while_it_slept_changes_nothing() {
    let id = format!("{NOW_MS}-{}", "4".repeat(32));
    for slept_ms in [31_000, 2 * DAY] {
        let mut calls = 0;
        for call in 1.. {
            let world = World::new();
            let (store, ledger, clock) = (&world.store, &world.ledger, &world.clock);
            let faults = [(call, Fault::Wait)];
            let slow = Faulty { store, ledger, clock, calls: Cell::new(0), faults: &faults };
            let author = Author::new("ada@example.org", &world.clock, &world.entropy).unwrap();
            let author = author.with_operation(OperationId::parse(&id).unwrap());
            let place = shop();
            let mut adding = pin!(people::add(&slow, &slow, &author, (&place, EVA), Viewer));
            let mut context = Context::from_waker(Waker::noop());
            if adding.as_mut().poll(&mut context).is_ready() {
                break;
            }
            calls += 1;
            world.later(slept_ms);
            let again = world.add_as(Some(&id), &place, EVA, Viewer);
            if again == Some(Ok(())) {
                world.later(1_000);
                assert_eq!(world.remove(&place, EVA, Removable::All), Some(Ok(())));
            }
            let told = poll_until_ready(adding);
            assert!(!world.may(EVA) || again.unwrap().is_err(), "{call}: {told:?}");
        }
        assert!(calls > 5, "{calls}");
    }
}

#[test]
fn a_backup_has_people_and_a_restore_leaves_them_out() {
    let world =
        World::with(&[(shop(), EVA, Manager), (KeyLevel::Team("chain".to_owned()), BEN, Viewer)]);
    let rows = block_on(page(&world.ledger, OwnTable::People, None)).unwrap();
    assert_eq!(rows.len(), 2);
    assert!(
        block_on(page(&world.ledger, OwnTable::People, rows.last().map(|row| &**row)))
            .unwrap()
            .is_empty()
    );
    for (with_keys, taken) in [(false, false), (true, true)] {
        let options = RestoreOptions { with_keys, ..Default::default() };
        assert_eq!(options.takes_rows(OwnTable::People), taken);
        assert!(options.takes_rows(OwnTable::Credits));
    }
    let other = World::with(&[(shop(), EVA, Viewer)]);
    let put = || block_on(restore(&other.ledger, OwnTable::People, &rows, &[])).unwrap();
    let done = |written, known| OwnRows { written, known, refused: vec![] };
    assert_eq!((put(), put()), (done(1, 1), done(0, 2)));
    assert_eq!(
        (other.of(EVA)[0].role, other.of(BEN)),
        (Viewer, world.of(BEN)),
        "who is there stays"
    );
    let odd = rows[0].replace("team:chain", "queen:chain");
    assert!(block_on(restore(&other.ledger, OwnTable::People, &[odd], &[])).is_err());
}

#[test]
fn a_request_finds_a_persons_places_by_an_index() {
    let world = World::with(&[(shop(), EVA, Manager)]);
    let recorder = Recorder::new(&world.ledger);
    block_on(people::of_person(&recorder, EVA)).unwrap();
    block_on(people::list(&recorder, &shop(), 1)).unwrap();
    let statements = recorder.take();
    assert_eq!(statements.len(), 2);
    let plan: Vec<_> = statements.iter().flat_map(|it| world.ledger.plan(it)).collect();
    for index in [
        "p USING INDEX people_by_address (address=?)",
        "m USING PRIMARY KEY (name>? AND name<?)",
        "people USING PRIMARY KEY (place=?)",
    ] {
        assert!(plan.iter().any(|row| row.ends_with(index)), "{index}: {plan:?}");
    }
}
