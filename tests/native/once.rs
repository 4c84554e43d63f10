//! Tests that a change is made only once, even if it is sent several times with one operation ID and any step fails.

use crate::claimed::{Fault, Faulty, Person, RECORDS};
use futures_executor::block_on;
use futures_util::future::FutureExt as _;
use impact_pledge::auth::{ApiKey, KeyRecord};
use impact_pledge::ledger::{Ledger, Limits, keep_up};
use impact_pledge::operator::audit::{self, Author};
use impact_pledge::operator::notifications::{self, QueuedRounds};
use impact_pledge::operator::prices::{self, Edit};
use impact_pledge::operator::{
    Done, OperationId, OperatorError, kept, keys, payments, register, teams, transactions, units,
};
use impact_pledge::recipient::NewProfile;
use impact_pledge::scope::Mode;
use impact_pledge::service::Message;
use impact_pledge::settlement::Month;
use impact_pledge::store::PriceListKey;
use impact_pledge::time::date_time;
use serde::Serialize;
use serde_json::{Value, json};
use std::cell::Cell;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use support::ledger::{Failing, SqliteLedger};
use support::memory::MemoryStore;
use support::service::{CountedEntropy, FixedClock, LIVE_UNIT, MemoryQueue, NOW_MS, UNIT, unit};

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;
/// The time at which January counts as ended.
const ENDED_MS: u64 = NOW_MS + 3 * 24 * HOUR;
const ADA: &str = "ada@example.org";
const ADDRESS: &str = "ada@example.org";

// ---- Commands ------------------------------------------------------------------------------------

/// The answer to a command: its outcome as JSON, and the time if it was already done earlier.
type Heard = Result<Done<Value>, OperatorError>;
type Asking<'a> = Pin<Box<dyn Future<Output = Heard> + 'a>>;

/// A command of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Command {
    Create,
    Rotate,
    RotateNow,
    Revoke,
    SetPrices,
    AddUnits,
    SetProfile,
    ReplaceProfile,
    UnsetProfile,
    RemoveUnit,
    AddMember,
    RemoveMember,
    Mark,
    Undo,
    Erase,
    ErasePerson,
    Resend,
    KeepFrom,
    Rebuild,
}

use Command::*;

const COMMANDS: [Command; 19] = [
    Create,
    Rotate,
    RotateNow,
    Revoke,
    SetPrices,
    AddUnits,
    SetProfile,
    ReplaceProfile,
    UnsetProfile,
    RemoveUnit,
    AddMember,
    RemoveMember,
    Mark,
    Undo,
    Erase,
    ErasePerson,
    Resend,
    KeepFrom,
    Rebuild,
];

/// A request: the command with its arguments, or with other arguments.
#[derive(Clone, Copy)]
struct Asked {
    command: Command,
    has_others: bool,
}

fn told(done: Result<Done<impl Serialize>, OperatorError>) -> Heard {
    done.map(|done| Done { outcome: json!(done.outcome), before: done.before })
}

fn one(or: &str, another: &str, has_others: bool) -> String {
    if has_others { another.to_owned() } else { or.to_owned() }
}

fn payment(has_others: bool) -> payments::Payment {
    let payment = json!({ "of": january(), "amounts": [{ "amount": "1.50" }],
        "invoice": one("17", "18", has_others), "paidAt": "2026-02-02T00:00:00.000Z",
        "acceptUnpriced": 0 });
    serde_json::from_value(payment).unwrap()
}

fn january() -> Value {
    json!({ "unit": "unit_dev", "mode": "live", "month": "2026-01" })
}

fn month_of(has_others: bool) -> payments::ShopMonth {
    let month = one("2026-01", "2025-12", has_others);
    let of = json!({ "unit": "unit_dev", "mode": "live", "month": month });
    serde_json::from_value(of).unwrap()
}

fn transaction(store: &MemoryStore) -> String {
    let names = store.names();
    let name = names.iter().find_map(|name| name.strip_prefix("transaction:")).unwrap();
    name.to_owned()
}

impl Asked {
    /// Calls the operators' function for the command, with or without the ledger.
    async fn give(
        self,
        at: &Faulty<'_>,
        queue: &MemoryQueue,
        ledger: Option<&dyn Ledger>,
        author: &Person<'_>,
    ) -> Heard {
        let Asked { command, has_others: other } = self;
        let unit_id = one("unit_dev", "unit_dev_two", other);
        match command {
            Create => {
                let label = one("till", "shop", other);
                let record = KeyRecord { label, ..KeyRecord::new(Mode::Live, unit("unit_dev")) };
                told(keys::create(at, ledger, author, record).await)
            }
            Rotate => {
                told(keys::rotate(at, ledger, author, &one(LIVE_UNIT, UNIT, other), 60).await)
            }
            RotateNow => {
                told(keys::rotate(at, ledger, author, &one(LIVE_UNIT, UNIT, other), 0).await)
            }
            Revoke => told(keys::revoke(at, ledger, author, &one(LIVE_UNIT, UNIT, other)).await),
            SetPrices => {
                let edit = Edit::Set { offering: "tree".to_owned(), price: one("1", "2", other) };
                told(
                    prices::set(at, ledger, author, PriceListKey::of_mode(Mode::Live), &edit, None)
                        .await,
                )
            }
            AddUnits => {
                told(register::add(at, ledger, author, &[one("new", "newer", other)]).await)
            }
            SetProfile => {
                let members = json!({ "name": one("Till", "Shop", other) });
                let members = serde_json::from_value(members).unwrap();
                told(units::set(at, ledger, author, "unit_dev", members).await)
            }
            ReplaceProfile => {
                let row = units::get(at, "unit_dev").await?.unwrap_or_default();
                let name = one("Till", "Shop", other);
                let profile = NewProfile { name, ..NewProfile::default() };
                told(units::replace(at, ledger, author, "unit_dev", profile, row.seen).await)
            }
            UnsetProfile => {
                let member = if other { units::Member::Logo } else { units::Member::Accent };
                told(units::unset(at, ledger, author, "unit_dev", &[member]).await)
            }
            RemoveUnit => told(units::remove(at, ledger, author, &unit_id).await),
            AddMember => {
                told(teams::add(at, ledger, author, "team_dev", &[one("u", "v", other)]).await)
            }
            RemoveMember => told(teams::remove(at, ledger, author, "team_dev", &[unit_id]).await),
            Mark => told(payments::mark(at, ledger, author, &payment(other)).await),
            Undo => told(payments::undo(at, ledger, author, &month_of(other), None).await),
            Erase if other => {
                let id = transaction(at.store);
                let id = id[..id.len() - 1].to_owned() + if id.ends_with('0') { "1" } else { "0" };
                at.store.keep(&format!("transaction:{id}"), b"{}", b"null");
                Err(OperatorError::Invalid(
                    "was used for another change: see the person's".to_owned(),
                ))
            }
            Erase => {
                let record = transactions::get(at, &transaction(at.store)).await?;
                told(transactions::erase(at, ledger, author, &record).await)
            }
            ErasePerson => {
                let unit = Some("unit_dev".to_owned());
                let wanted = transactions::TransactionFilter { unit, mode: None };
                let of = (&wanted, &*one(ADDRESS, "eve@example.org", other));
                let ledger = ledger.expect("it needs the ledger");
                let step =
                    transactions::erase_person_step((at, ledger), author, of, None, 10, 10).await;
                told(step)
            }
            Resend => {
                let id = transaction(at.store);
                let id = if other { id.replacen("ptran_", "ptran_0", 1) } else { id };
                let created_at = "2026-01-31T12:00:00.123Z".to_owned();
                let (message, rounds) =
                    (Message { id, created_at, round: 2 }, QueuedRounds::default());
                told(notifications::queue_round(at, ledger, author, queue, &rounds, &message).await)
            }
            KeepFrom => {
                let month = Month::parse(&one("2026-01", "2025-12", other));
                told(kept::keep_from(at, ledger, author, month).await)
            }
            Rebuild => told(kept::rebuild(at, ledger, author).await),
        }
    }
}

impl Command {
    const fn asked(self) -> Asked {
        Asked { command: self, has_others: false }
    }

    fn name(self) -> &'static str {
        match self {
            Create => "keys create",
            Rotate | RotateNow => "keys rotate",
            Revoke => "keys revoke",
            SetPrices => "prices set",
            AddUnits => "units add",
            SetProfile | ReplaceProfile => "units set",
            UnsetProfile => "units unset",
            RemoveUnit => "units remove",
            AddMember => "teams add",
            RemoveMember => "teams remove",
            Mark => "payments mark",
            Undo => "payments undo",
            Erase | ErasePerson => "transactions erase",
            Resend => "emails resend",
            KeepFrom => "ledger keep-from",
            Rebuild => "ledger rebuild",
        }
    }

    /// Whether the command works without a ledger.
    fn is_of_records(self) -> bool {
        !matches!(self, Mark | ErasePerson | KeepFrom | Rebuild | Undo)
    }
}

// ---- Records and ledger --------------------------------------------------------------------------

struct World {
    store: MemoryStore,
    ledger: SqliteLedger,
    clock: FixedClock,
    entropy: CountedEntropy,
    queue: MemoryQueue,
    has_ledger: bool,
}

impl World {
    fn before(command: Command) -> Self {
        let store = MemoryStore::default();
        for (name, value, metadata) in &*RECORDS {
            store.keep(name, value.as_bytes(), metadata.as_bytes());
        }
        store.keep("unit:unit_dev", b"{}", b"null");
        let secret = json!({ "secret": *support::service::SECRET, "version": 1 }).to_string();
        store.keep("secret", secret.as_bytes(), b"null");
        let (clock, entropy) = (FixedClock(Cell::new(ENDED_MS)), CountedEntropy::default());
        let (ledger, queue) = (SqliteLedger::default(), MemoryQueue::default());
        let world = World { store, ledger, clock, entropy, queue, has_ledger: true };
        world.ledger.reconcile(&world.store, ENDED_MS);
        if command == Undo {
            world.ask(Mark.asked(), "cyd", None, &[]).0.unwrap().unwrap();
            world.later(MINUTE);
        }
        world
    }

    fn without_ledger(command: Command) -> Self {
        World { has_ledger: false, ..World::before(command) }
    }

    fn later(&self, ms: u64) {
        self.clock.0.set(self.clock.0.get() + ms);
    }

    /// Returns the operation ID of a form that is opened now.
    fn opened(&self) -> OperationId {
        let id = OperationId::new(&self.clock, &self.entropy);
        OperationId::parse(id.as_str()).unwrap()
    }

    fn faulty<'w>(&'w self, faults: &'w [(usize, Fault)]) -> Faulty<'w> {
        let (store, ledger, clock) = (&self.store, &self.ledger, &self.clock);
        Faulty { store, ledger, clock, calls: Cell::new(0), faults }
    }

    fn author<'w>(&'w self, by: &'w str, id: Option<&OperationId>) -> Person<'w> {
        let author = Author::new(by, &self.clock, &self.entropy).unwrap();
        match id {
            None => author,
            Some(id) => author.with_operation(id.clone()),
        }
    }

    fn asking<'w>(
        &'w self,
        asked: Asked,
        at: &'w Faulty<'w>,
        author: &'w Person<'w>,
    ) -> Asking<'w> {
        let ledger = self.has_ledger.then_some(at as &dyn Ledger);
        Box::pin(asked.give(at, &self.queue, ledger, author))
    }

    /// Runs the command while these calls fail. Returns its answer (`None` if the process ended), and the number of
    /// calls.
    fn ask(
        &self,
        asked: Asked,
        by: &str,
        id: Option<&OperationId>,
        faults: &[(usize, Fault)],
    ) -> (Option<Heard>, usize) {
        let (at, author) = (self.faulty(faults), self.author(by, id));
        let heard = self.asking(asked, &at, &author).now_or_never();
        (heard, at.calls.get())
    }

    #[track_caller]
    fn done(&self, command: Command, id: &OperationId) -> Done<Value> {
        let (heard, _) = self.ask(command.asked(), ADA, Some(id), &[]);
        heard.unwrap().unwrap_or_else(|error| panic!("{command:?}: {error}"))
    }

    /// Returns all records, all rows except those of operations, and the queue's messages.
    fn all(&self) -> (Vec<String>, Vec<String>, usize) {
        let records = self.store.names().into_iter();
        let records = records.map(|name| format!("{name} {:?}", self.store.value(&name))).collect();
        (records, self.rows(), self.queue.messages.borrow().len())
    }

    fn rows(&self) -> Vec<String> {
        let claims = "SELECT json_array(kind, name, state, change) FROM claims ORDER BY 1";
        let orders = "SELECT json_array(id, erased) FROM transactions ORDER BY 1";
        [self.ledger.sql(claims), self.ledger.sql(orders)].concat()
    }

    /// Returns the effect of a command: the records without times and names of changes, and whether the queue has a message.
    fn effect(&self) -> Vec<String> {
        let passing = ["created", "at", "change", "prices", "erased", "until", "by"];
        let record = |name: &String| {
            let value = self.store.value(name)?;
            let mut value: Value = serde_json::from_str(&value).unwrap_or_default();
            if let Some(members) = value.as_object_mut() {
                members.retain(|member, _| !passing.contains(&&**member));
            }
            let name = if name.starts_with("prices:") { "prices" } else { name };
            Some(format!("{name} {value}"))
        };
        let names = self.store.names();
        let is_passing =
            |name: &str| name.starts_with("audit:") || name.starts_with("mail-queued:");
        let records = names.iter().filter(|name| !is_passing(name));
        let mut effect: Vec<_> = records.filter_map(record).collect();
        effect.sort();
        effect.dedup();
        effect.push(format!("queue: {}", !self.queue.messages.borrow().is_empty()));
        effect
    }

    /// Returns how many entries the audit log has for the command.
    fn audited(&self, command: Command) -> usize {
        let changes = block_on(audit::since(&self.store, 0)).unwrap();
        let own = |it: &&audit::Change| it.command == command.name() && it.by == ADA;
        changes.iter().filter(own).count()
    }
}

// ---- Twice ---------------------------------------------------------------------------------------

#[test]
fn what_is_asked_for_again_is_not_done_again_and_its_outcome_is_told() {
    for command in COMMANDS {
        let world = World::before(command);
        let id = world.opened();
        let first = world.done(command, &id);
        assert_eq!(first.before, None, "{command:?}");
        let (all, at) = (world.all(), world.clock.0.get());
        for later_ms in [1, MINUTE, 2 * HOUR, 24 * HOUR] {
            world.clock.0.set(at + later_ms);
            let again = world.done(command, &id);
            assert_eq!(again.before, Some(date_time(at)), "{command:?}");
            check_told_again(command, &first.outcome, &again.outcome);
            assert_eq!(world.all(), all, "{command:?}");
        }
    }
}

/// Asserts that a repeated request gets the same answer about the key, except its secret.
#[track_caller]
fn check_told_again(command: Command, first: &Value, again: &Value) {
    let mut first = first.clone();
    let made = match command {
        Create => Some(&mut first),
        Rotate | RotateNow => Some(&mut first["made"]),
        _ => None,
    };
    if let Some(made) = made {
        assert!(made["key"].as_str().unwrap().starts_with("service_sk_live_"), "{made}");
        made["key"] = Value::Null;
    }
    assert_eq!(again, &first, "{command:?}");
}

#[test]
fn an_id_stands_for_one_change() {
    for command in COMMANDS {
        let world = World::before(command);
        let id = world.opened();
        world.done(command, &id);
        let all = world.all();
        let other = if command == AddUnits { Create } else { AddUnits };
        let others = [Asked { command, has_others: true }, other.asked()];
        for asked in others.into_iter().filter(|it| it.command != Erase && it.command != Rebuild) {
            let (heard, _) = world.ask(asked, ADA, Some(&id), &[]);
            let problem = heard.unwrap().unwrap_err().to_string();
            let words = format!(
                "the operation ID `{id}` was used for another change, `{}`",
                command.name()
            );
            assert!(problem.contains(&words), "{command:?}: {problem}");
            assert_eq!(world.all(), all, "{command:?}");
        }
    }
}

#[test]
fn nobody_else_hears_of_an_operation_or_is_stopped_by_it() {
    for command in [Create, AddUnits] {
        let world = World::before(command);
        let id = world.opened();
        let first = world.done(command, &id);
        let (heard, _) = world.ask(command.asked(), "bo@example.org", Some(&id), &[]);
        let other = heard.unwrap().unwrap();
        assert_eq!(other.before, None, "{command:?}");
        if command == Create {
            assert_ne!(other.outcome["key"], first.outcome["key"]);
            assert!(other.outcome["key"].is_string());
        }
    }
}

#[test]
fn without_an_id_each_change_gets_a_new_one() {
    let world = World::before(Create);
    let make = || world.ask(Create.asked(), ADA, None, &[]).0.unwrap().unwrap();
    let (one, other) = (make(), make());
    assert_eq!((&one.before, &other.before), (&None, &None));
    assert_ne!(one.outcome["key"], other.outcome["key"]);
}

/// The first request stops at a call while the second one runs, and then continues.
#[test]
fn of_two_at_once_one_is_done() {
    for command in COMMANDS {
        let calls = calls_of(command);
        for call in 1..=calls {
            let world = World::before(command);
            let id = world.opened();
            let faults = [(call, Fault::Wait)];
            let (at, author) = (world.faulty(&faults), world.author(ADA, Some(&id)));
            let mut first = world.asking(command.asked(), &at, &author);
            let mut context = Context::from_waker(Waker::noop());
            assert!(first.as_mut().poll(&mut context).is_pending(), "{command:?} {call}");
            let (second, _) = world.ask(command.asked(), ADA, Some(&id), &[]);
            let Poll::Ready(first) = first.as_mut().poll(&mut context) else {
                panic!("{command:?} {call}: it goes on");
            };
            let heard = [first, second.unwrap()];
            let done = heard.iter().flatten().filter(|done| done.before.is_none()).count();
            assert_eq!(done, 1, "{command:?} {call}: {heard:?}");
            for error in heard.iter().filter_map(|heard| heard.as_ref().err()) {
                let is_told = error.to_string().contains("is already running");
                assert!(is_told, "{command:?} {call}: {error}");
            }
            assert_eq!(world.audited(command), audits_of(command), "{command:?} {call}");
            assert!(world.done(command, &id).before.is_some(), "{command:?} {call}");
        }
    }
}

/// Returns the number of calls that a command takes.
fn calls_of(command: Command) -> usize {
    let world = World::before(command);
    let id = world.opened();
    world.ask(command.asked(), ADA, Some(&id), &[]).1
}

fn audits_of(command: Command) -> usize {
    let world = World::before(command);
    world.done(command, &world.opened());
    world.audited(command)
}

// ---- Whatever fails ------------------------------------------------------------------------------

/// Returns the effect of a command without failures, and of no command.
fn effects_of(command: Command) -> [Vec<String>; 2] {
    let (world, before) = (World::before(command), World::before(command).effect());
    world.done(command, &world.opened());
    [world.effect(), before]
}

#[test]
fn whatever_fails_at_a_step_a_repeat_ends_it() {
    for command in COMMANDS {
        let [done, _] = effects_of(command);
        for call in 1..=calls_of(command) {
            for fault in [Fault::Before, Fault::After, Fault::CrashBefore, Fault::CrashAfter] {
                let what = format!("{command:?}: {fault:?} at {call}");
                let world = World::before(command);
                let id = world.opened();
                let (heard, _) = world.ask(command.asked(), ADA, Some(&id), &[(call, fault)]);
                let is_ended = !matches!(command, Rotate | RotateNow); // the write of the old key's end may have failed
                if let (Some(Ok(_)), true) = (&heard, is_ended) {
                    assert_eq!(world.effect(), done, "{what}");
                }
                world.later(1_000);
                let (again, _) = world.ask(command.asked(), ADA, Some(&id), &[]);
                check_soon(command, heard.as_ref(), &again.unwrap(), &what);
                world.later(21 * MINUTE); // claims that a crash left in the ledger no longer count
                let (last, _) = world.ask(command.asked(), ADA, Some(&id), &[]);
                let last = last.unwrap();
                if let Err(error) = &last {
                    assert!(is_of_what_was_done(command, error), "{what}: {error}");
                }
                assert_eq!(world.effect(), done, "{what}: {last:?}");
            }
        }
    }
}

/// Returns the answer to the same request a second later: that the operation is still running, if its end is not known,
/// or that it was done.
#[track_caller]
fn check_soon(command: Command, first: Option<&Heard>, again: &Heard, what: &str) {
    match (first, again) {
        (None, Err(error)) => {
            let is_under_way = error.to_string().contains("is already running");
            assert!(is_under_way || is_of_what_was_done(command, error), "{what}: {error}");
        }
        (Some(Ok(_)), Ok(done)) => {
            assert!(done.before.is_some() || !done.outcome.is_null(), "{what}")
        }
        (Some(Ok(_)), Err(error)) => {
            let is_kept = ["is already running", "less than 2 minutes ago"];
            let is_told = is_kept.iter().any(|words| error.to_string().contains(words));
            assert!(is_told || is_of_what_was_done(command, error), "{what}: {error}");
        }
        _ => {}
    }
}

/// Returns whether an error says that the change was already made. In these tests, the operation itself made it.
fn is_of_what_was_done(command: Command, error: &OperatorError) -> bool {
    let text = error.to_string();
    match command {
        Undo => text.contains("is not marked as paid"),
        Revoke => text.contains("this key does not exist here"),
        _ => false,
    }
}

/// The ledger fails after the change was made, so that the outcome of the operation is not stored.
#[test]
fn a_change_whose_outcome_is_not_kept_counts_as_done() {
    for command in [Create, AddUnits, SetPrices] {
        let world = World::before(command);
        let id = world.opened();
        world.ledger.set_failing_after(1, Failing::Before);
        let first = world.done(command, &id);
        assert_eq!(first.before, None);
        world.ledger.set_failing(Failing::Not);
        let (heard, _) = world.ask(command.asked(), ADA, Some(&id), &[]);
        let error = heard.unwrap().unwrap_err();
        assert!(matches!(&error, OperatorError::Repeated(_)), "{error}");
        if command == Create {
            world.later(31_000);
            let again = world.done(command, &id).outcome;
            assert_eq!((&again["key"], &again["id"]), (&Value::Null, &first.outcome["id"]));
        }
    }
}

/// If a key was created although the answer said that it was not, nobody has seen its secret. Sending the same form
/// again shows it.
#[test]
fn a_key_whose_creation_failed_is_shown_by_the_retry() {
    for command in [Create, Rotate] {
        let world = World::before(command);
        let id = world.opened();
        world.store.set_unconfirmed(Some("key:"));
        world.ask(command.asked(), ADA, Some(&id), &[]).0.unwrap().unwrap_err();
        world.store.set_unconfirmed(None);
        let made = world.done(command, &id).outcome;
        let made = if command == Create { made } else { made["made"].clone() };
        let key = made["key"].as_str().unwrap();
        let name = format!("key:{}", ApiKey::new(key).hash().to_hex());
        assert!(world.store.value(&name).is_some());
        let keys = world.store.names().into_iter().filter(|name| name.starts_with("key:"));
        assert_eq!(keys.count(), 6, "{command:?}: those of the development data and one");
    }
}

/// The new key was shown, but the old key's end was not written. The repeated request writes it, and does not show the key.
#[test]
fn a_rotation_that_was_ended_in_part_is_ended_by_the_repeat() {
    let old = format!("key:{}", ApiKey::new(LIVE_UNIT).hash().to_hex());
    let ended = |world: &World| match world.store.value(&old) {
        None => Some(Value::Null),
        Some(_) => world.store.metadata(&old)[0].get("successor").cloned(),
    };
    for command in [Rotate, RotateNow] {
        let mut parts = 0;
        for call in 1..calls_of(command) {
            let world = World::before(command);
            let id = world.opened();
            let (heard, _) = world.ask(command.asked(), ADA, Some(&id), &[(call, Fault::Before)]);
            let Some(Ok(first)) = heard else { continue };
            if ended(&world).is_some() {
                continue;
            }
            parts += 1;
            assert!(first.outcome["made"]["key"].is_string(), "{first:?}");
            let again = world.done(command, &id);
            let told = [&again.outcome["made"]["id"], &again.outcome["made"]["key"]];
            assert_eq!(told, [&first.outcome["made"]["id"], &Value::Null]);
            let successor = if command == Rotate { told[0] } else { &Value::Null };
            assert_eq!(ended(&world).as_ref(), Some(successor));
        }
        assert!(parts > 0, "{command:?}");
    }
}

/// A key that was revoked or replaced since then is not created again.
#[test]
fn a_repeat_does_not_bring_back_what_was_taken_away_since() {
    for (command, reverse) in [(Create, Revoke), (AddMember, RemoveMember), (Mark, Undo)] {
        let world = World::before(command);
        let id = world.opened();
        world.ledger.set_failing_after(if command == Create { 1 } else { 100 }, Failing::Before);
        let made = match command {
            Create => world.done(command, &id).outcome,
            _ => {
                // The outcome is not kept: the last call of the ledger fails.
                let last = calls_of(command);
                let (heard, _) =
                    world.ask(command.asked(), ADA, Some(&id), &[(last, Fault::CrashBefore)]);
                assert!(heard.is_none(), "{command:?}");
                Value::Null
            }
        };
        world.ledger.set_failing(Failing::Not);
        world.later(MINUTE);
        let author = world.author("bo@example.org", None);
        let (at, units) = (world.faulty(&[]), ["u".to_owned()]);
        let ledger = Some(&world.ledger as &dyn Ledger);
        match reverse {
            Revoke => {
                let name = made["name"].as_str().unwrap();
                block_on(keys::revoke(&at, ledger, &author, name)).map(drop).unwrap();
            }
            RemoveMember => {
                block_on(teams::remove(&at, ledger, &author, "team_dev", &units))
                    .map(drop)
                    .unwrap();
            }
            _ => block_on(payments::undo(&at, ledger, &author, &month_of(false), None))
                .map(drop)
                .unwrap(),
        }
        let all = world.effect();
        for later_ms in [MINUTE, 20 * MINUTE] {
            world.later(later_ms);
            let (heard, _) = world.ask(command.asked(), ADA, Some(&id), &[]);
            let error = heard.unwrap().unwrap_err().to_string();
            let words = [
                "was revoked or replaced since",
                "bo@example.org removed it at",
                "marked it as unpaid",
            ];
            assert!(words.iter().any(|words| error.contains(words)), "{command:?}: {error}");
            assert_eq!(world.effect(), all, "{command:?}");
        }
    }
}

#[test]
fn a_key_is_revoked_also_where_the_ledger_does_not_answer() {
    let world = World::before(Revoke);
    world.ledger.set_failing(Failing::Before);
    world.done(Revoke, &world.opened());
    let (heard, _) = world.ask(Create.asked(), ADA, Some(&world.opened()), &[]);
    assert!(matches!(heard.unwrap(), Err(OperatorError::Ledger(_))));
}

// ---- What is kept --------------------------------------------------------------------------------

#[test]
fn what_is_kept_has_no_id_no_secret_and_no_person() {
    for command in COMMANDS {
        let world = World::before(command);
        let id = world.opened();
        let outcome = world.done(command, &id).outcome.to_string();
        let columns =
            "SELECT json_array(id, command, arguments, began, attempt, outcome) FROM operations";
        let rows = world.ledger.sql(columns).concat();
        assert!(rows.len() > 100, "{command:?}: {rows}");
        let secrets = [LIVE_UNIT, id.as_str(), "service_sk"];
        for secret in secrets {
            assert!(!rows.contains(secret), "{command:?}: {rows}");
        }
        let person = if matches!(command, Mark | Undo) { "eve@" } else { ADDRESS };
        assert!(!rows.contains(person), "{command:?}: {rows}");
        let records: String =
            world.store.names().iter().filter_map(|name| world.store.value(name)).collect();
        assert!(!records.contains(id.as_str()), "{command:?}");
        if let Some((_, key)) = outcome.split_once("service_sk_") {
            let (key, _) = key.split_once('"').unwrap();
            assert!(!records.contains(key) && !rows.contains(key), "{command:?}");
        }
    }
}

#[test]
fn operations_are_forgotten_after_ninety_days() {
    let world = World::before(AddUnits);
    let id = world.opened();
    world.done(AddUnits, &id);
    let count = || world.ledger.sql("SELECT count(*) FROM operations").concat();
    for (later_ms, left) in [(90 * 24 * HOUR, "1"), (1, "0")] {
        world.later(later_ms);
        let limits = Limits { calls: 600, milliseconds: 1 };
        block_on(keep_up(&world.ledger, &world.store, &world.clock, "x", limits)).unwrap();
        assert_eq!(count(), left);
    }
}

#[test]
fn an_id_is_plain_text_and_one_that_says_its_time_begins_nothing_after_an_hour() {
    let world = World::before(AddUnits);
    for (id, is_id) in [
        ("a", true),
        ("A-z_0", true),
        (&*"x".repeat(64), true),
        (&*"x".repeat(65), false),
        ("", false),
        (" ", false),
        ("é", false),
        ("a b", false),
        ("a\n", false),
        ("'", false),
    ] {
        assert_eq!(OperationId::parse(id).is_ok(), is_id, "{id:?}");
    }
    let own = OperationId::parse("deploy-2020-01-01").unwrap();
    assert_eq!(world.done(AddUnits, &own).before, None);
    for has_ledger in [true, false] {
        for (later_ms, is_taken) in [(HOUR, true), (HOUR + 1, false)] {
            let world = World { has_ledger, ..World::before(AddUnits) };
            let id = world.opened();
            world.later(later_ms);
            let (heard, _) = world.ask(AddUnits.asked(), ADA, Some(&id), &[]);
            match heard.unwrap() {
                Ok(_) => assert!(is_taken),
                Err(error) => {
                    assert!(!is_taken && error.to_string().contains("more than 60 minutes old"));
                }
            }
        }
        let world = World { has_ledger, ..World::before(AddUnits) };
        let id = world.opened();
        world.clock.0.set(ENDED_MS - 5 * MINUTE); // clocks may differ by 5 minutes
        assert_eq!(world.done(AddUnits, &id).before, None);
    }
}

// ---- Without a ledger ----------------------------------------------------------------------------

#[test]
fn without_a_ledger_the_audit_log_shows_earlier_attempts() {
    for command in COMMANDS.into_iter().filter(|command| command.is_of_records()) {
        let world = World::without_ledger(command);
        let id = world.opened();
        world.done(command, &id);
        let effect = world.effect();
        world.later(MINUTE);
        let (heard, _) = world.ask(command.asked(), ADA, Some(&id), &[]);
        match heard.unwrap() {
            Ok(done) => match command {
                Create => assert!(done.outcome["key"].is_null(), "{done:?}"),
                Rotate | RotateNow => assert!(done.outcome["made"]["key"].is_null(), "{done:?}"),
                _ => assert!(matches!(command, Erase | Revoke | Resend), "{command:?}: {done:?}"),
            },
            Err(error) => {
                let is_told = error.to_string().contains("this was already done, or begun, at");
                assert!(is_told, "{command:?}: {error}");
            }
        }
        assert_eq!(world.effect(), effect, "{command:?}");
        let other = if command == AddUnits { Create } else { AddUnits };
        let (heard, _) = world.ask(other.asked(), ADA, Some(&id), &[]);
        let problem = heard.unwrap().unwrap_err().to_string();
        assert!(problem.contains("was used for another change"), "{command:?}: {problem}");
    }
}

/// Workers KV may not show a new entry of the audit log for a minute. A repeated request then creates the key again,
/// with the same text.
#[test]
fn without_a_ledger_a_key_is_one_also_where_its_entry_is_not_shown() {
    let world = World::without_ledger(Create);
    let id = world.opened();
    let key = || world.done(Create, &id).outcome["key"].clone();
    let first = key();
    world.store.set_hidden(Some("audit:"));
    assert_eq!(key(), first);
    assert_eq!(world.audited(Create), 0, "hidden");
    world.store.set_hidden(None);
    assert_eq!(key(), Value::Null);
    let own = OperationId::parse("mine").unwrap();
    let made = world.done(Create, &own).outcome;
    let again = world.done(Create, &own).outcome;
    assert_eq!((&again["id"], &again["key"]), (&made["id"], &Value::Null));
    assert_ne!(made["key"], first);
}
