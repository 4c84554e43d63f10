//! Tests the e-mails to the people of the dashboard: who gets which, how often, and what they contain.

use crate::dashboard::members::{EVA, Shops, TEA, VIC, ZOE, shops};
use crate::dashboard::{ACCOUNTS, OPERATOR, SUPPORT};
use crate::faulty_changes::{Fault, Faulty};
use futures_executor::block_on;
use futures_util::future::FutureExt as _;
use impact_pledge::buyer::delivery::SendError;
use impact_pledge::office::notices::rule::{Letter, MAX_SENT, Office, Post, Told, tell};
use impact_pledge::office::shared::page::settings::{Settings, Variables};
use impact_pledge::office::shared::rows::port::Ledger;
use impact_pledge::office::shared::rule::error::OperatorError;
use impact_pledge::office::system::rule::publish::republish;
use impact_pledge::pledges::store::OperatorStore;
use impact_pledge::pledges::time::parse_ms;
use serde_json::json;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

const HOUR: u64 = 60 * 60_000;
/// January counts as ended. The failures of 31 January are told an hour after the end of that day, and until an hour after the next.
const ENDED: &str = "2026-02-02T00:01:00Z";
const ORIGIN: &str = "https://dashboard.example";
/// People who get an e-mail of each kind once January has ended.
const EXPECTED: [(&str, &[&str]); 4] = [
    ("bounces", &[EVA, TEA, VIC]),
    ("failures", &[OPERATOR]),
    ("month", &[ACCOUNTS]),
    ("statement", &[EVA, TEA, VIC, ZOE]),
];

/// A mail service that records what it sends.
#[derive(Default)]
struct Recorder {
    sent: RefCell<Vec<(String, Letter, String)>>,
    /// The idempotency keys of all attempts.
    tried: RefCell<Vec<String>>,
    failure: RefCell<Option<SendError>>,
    is_idempotent: Cell<bool>,
}

impl Post for Recorder {
    fn is_idempotent(&self) -> bool {
        self.is_idempotent.get()
    }

    async fn send(&self, to: &str, letter: &Letter, key: &str) -> Result<(), SendError> {
        self.tried.borrow_mut().push(key.to_owned());
        if let Some(failure) = &*self.failure.borrow() {
            return Err(failure.clone());
        }
        self.sent.borrow_mut().push((to.to_owned(), letter.clone(), key.to_owned()));
        Ok(())
    }
}

impl Recorder {
    /// Returns the addresses of what was sent since the last call, by kind.
    fn take(&self) -> Vec<(String, String)> {
        let kind = |key: &str| key.split('/').nth(1).unwrap().to_owned();
        let mut sent: Vec<_> =
            self.sent.take().into_iter().map(|(to, _, key)| (kind(&key), to)).collect();
        sent.sort();
        sent
    }
}

fn expected() -> Vec<(String, String)> {
    let pairs = EXPECTED.iter().flat_map(|(kind, people)| people.iter().map(move |to| (kind, to)));
    pairs.map(|(kind, to)| ((*kind).to_owned(), (*to).to_owned())).collect()
}

struct World {
    shops: Shops,
    post: Recorder,
}

/// Returns the two shops once January has ended. An e-mail of the shop `north` has failed on 31 January.
fn world() -> World {
    let world = World { shops: shops(), post: Recorder::default() };
    let dashboard = &world.shops.dashboard;
    let failed = &world.shops.ids[0];
    dashboard.store().keep(&format!("mail-failed:2026-01-31:{failed}"), b"", b"null");
    let marker = json!({ "state": "failed", "reason": null, "round": 1, "at": "2026-01-31T12:00:00.000Z", "attempts": 1 });
    let name = format!("notification:{failed}");
    dashboard.store().keep(&name, marker.to_string().as_bytes(), b"null");
    world.at(ENDED);
    world.mend();
    world
}

impl World {
    fn at(&self, time: &str) {
        self.shops.dashboard.clock.0.set(parse_ms(time).unwrap());
    }

    fn later(&self, ms: u64) {
        let clock = &self.shops.dashboard.clock.0;
        clock.set(clock.get() + ms);
    }

    /// Leaves the ledger without a problem.
    fn mend(&self) {
        let dashboard = &self.shops.dashboard;
        dashboard.reconcile();
        block_on(republish(dashboard.store(), &dashboard.ledger, &dashboard.clock, 100)).unwrap();
    }

    fn sql(&self, sql: &str) -> Vec<String> {
        self.shops.dashboard.ledger.sql(sql)
    }

    async fn run_on<S: OperatorStore>(
        &self,
        store: &S,
        ledger: &dyn Ledger,
    ) -> Result<Told, OperatorError> {
        let dashboard = &self.shops.dashboard;
        let office = Office {
            store,
            ledger,
            clock: &dashboard.clock,
            entropy: &dashboard.entropy,
            post: &self.post,
            staff: &dashboard.settings.staff,
            origin: ORIGIN,
            environment: "staging",
        };
        tell(&office, dashboard.clock.0.get()).await
    }

    /// Runs an invocation of the cron.
    #[track_caller]
    fn run(&self) -> Told {
        let dashboard = &self.shops.dashboard;
        block_on(self.run_on(dashboard.store(), &dashboard.ledger)).unwrap()
    }

    /// Returns the e-mails to a person, by kind.
    fn letters(&self, person: &str) -> BTreeMap<String, Letter> {
        let sent = self.post.sent.borrow();
        let own = sent.iter().filter(|(to, ..)| to == person);
        own.map(|(_, letter, key)| (key.split('/').nth(1).unwrap().to_owned(), letter.clone()))
            .collect()
    }
}

// ---- Who gets which ------------------------------------------------------------------------------

#[test]
fn each_kind_goes_to_the_people_with_the_right_and_to_nobody_else() {
    let world = world();
    let told = world.run();
    assert_eq!((told.sent, told.failed, told.problems), (9, 0, Vec::new()));
    assert_eq!(world.post.take(), expected());
    let waiting = world.sql("SELECT json_quote(address) FROM notices WHERE due IS NOT NULL");
    assert_eq!(waiting, [""; 0]);
    assert!(world.post.tried.borrow().iter().all(|key| !key.contains('@')));
}

#[test]
fn people_are_told_only_of_their_own_shops_and_nothing_of_buyers() {
    let world = world();
    world.run();
    let zoe = world.letters(ZOE);
    assert_eq!(zoe.len(), 1);
    let statement = &zoe["statement"];
    let link = format!("{ORIGIN}/units/south/statement?mode=live&month=2026-01");
    assert!(statement.text.contains(&link), "{}", statement.text);
    assert_eq!(statement.subject, "Impact Pledge (staging): Statement for Jan 2026");
    for person in [EVA, VIC, TEA] {
        for (kind, letter) in world.letters(person) {
            let all = [&letter.subject, &*letter.text, &letter.html].concat();
            assert!(all.contains("north") && !all.contains("south"), "{person} {kind}: {all}");
        }
    }
    let accounts = &world.letters(ACCOUNTS)["month"];
    assert!(accounts.text.contains("For this month, 2 units owe "), "{}", accounts.text);
    assert!(accounts.text.contains(" USD.\n"), "{}", accounts.text);
    let rows =
        world.sql("SELECT address || kind || period || ifnull(cause, '') FROM notices").concat();
    let sent = world.post.sent.borrow();
    let texts = sent.iter().map(|(_, it, _)| [&*it.subject, &it.text, &it.html].concat());
    for text in texts.chain([rows]) {
        for secret in ["buyer@", "buyer-of", "order-of", "ptran_", "edit_key"] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
        assert!(text.contains('@') || text.contains(&format!("{ORIGIN}/notices")), "{text}");
    }
}

#[test]
fn a_name_that_a_shop_chose_makes_no_link_and_no_markup() {
    let world = world();
    world.sql("UPDATE names SET name = 'pay.evil.example/now <b>' WHERE id = 'north'");
    world.run();
    let letter = &world.letters(EVA)["statement"];
    assert!(!letter.text.contains("evil.example"), "{}", letter.text);
    assert!(!letter.html.contains("<b>") && letter.html.contains("&lt;b&gt;"), "{}", letter.html);
}

#[test]
fn a_person_who_has_a_role_gets_the_e_mails_of_the_role_alone() {
    let world = world();
    world.sql(&format!("UPDATE people SET address = '{SUPPORT}' WHERE address = '{ZOE}'"));
    world.run();
    let people: BTreeSet<_> = world.post.take().into_iter().map(|(_, to)| to).collect();
    assert!(!people.contains(SUPPORT) && !people.contains(ZOE), "{people:?}");
}

/// Each change takes a right away between two attempts.
#[test]
fn who_has_lost_the_right_since_gets_nothing() {
    for (sql, lost) in [
        ("DELETE FROM people WHERE address = 'vic@north.example'", VIC),
        ("UPDATE people SET place = 'unit:other' WHERE address = 'vic@north.example'", VIC),
        ("UPDATE published SET content = NULL WHERE name = 'member:chain-north:north'", TEA),
    ] {
        let world = world();
        *world.post.failure.borrow_mut() = Some(temporary("busy"));
        world.run();
        world.sql(sql);
        *world.post.failure.borrow_mut() = None;
        world.later(HOUR - 60_000);
        assert_eq!(world.run().sent, 0, "{sql}: not before an hour");
        world.later(60_000);
        world.run();
        let people: Vec<_> = world.post.take();
        assert!(people.iter().all(|(_, to)| to != lost), "{sql}: {people:?}");
        assert!(people.iter().any(|(_, to)| to == EVA), "{sql}: {people:?}");
    }
    let mut world = world();
    *world.post.failure.borrow_mut() = Some(temporary("busy"));
    world.run();
    *world.post.failure.borrow_mut() = None;
    world.shops.dashboard.settings =
        Settings::parse(Variables { operators: ACCOUNTS, ..Variables::default() });
    world.later(HOUR);
    world.run();
    let staff: Vec<_> =
        world.post.take().into_iter().filter(|(kind, _)| kind != "statement").collect();
    assert_eq!(staff, [("failures".to_owned(), ACCOUNTS.to_owned())], "now an operator");
}

// ---- When ----------------------------------------------------------------------------------------

#[test]
fn each_kind_is_sent_in_its_own_time() {
    let world = world();
    for (time, kinds) in [
        ("2026-02-01T23:01:00Z", &["bounces", "failures"][..]), // the last failures of 31 January
        ("2026-02-02T00:05:00Z", &[]),                          // not the beginning of an hour
        ("2026-02-02T00:01:00Z", &["bounces", "failures", "month", "statement"]),
        ("2026-02-02T01:01:00Z", &["failures", "month", "statement"]), // now about 1 February
        ("2026-02-08T23:01:00Z", &["month", "statement"]),
        ("2026-02-09T00:01:00Z", &[]),
    ] {
        world.sql("DELETE FROM notices");
        world.at(time);
        world.shops.dashboard.reconcile();
        world.run();
        let sent: BTreeSet<_> = world.post.take().into_iter().map(|(kind, _)| kind).collect();
        assert_eq!(sent.iter().map(String::as_str).collect::<Vec<_>>(), kinds, "{time}");
    }
}

#[test]
fn a_month_that_is_paid_is_not_told() {
    let world = world();
    for unit in ["north", "south"] {
        world.sql(&format!(
            "INSERT INTO published (name, content, change, author, by_shop, at)
             VALUES ('settlement:live:{unit}:2026-01', '{{}}', '', '', 0, 0)"
        ));
    }
    world.run();
    assert!(world.post.take().iter().all(|(kind, _)| kind != "month"));
}

#[test]
fn a_problem_of_the_ledger_is_told_after_an_hour_if_it_is_still_there() {
    let overdue = "2026-02-03T00:01:00Z";
    for is_mended in [false, true] {
        let world = world();
        world.run();
        world.post.take();
        world.at(overdue);
        world.run();
        let of_ledger = || {
            let sent = world.post.take().into_iter().filter(|(kind, _)| kind == "ledger");
            sent.map(|(_, to)| to).collect::<Vec<_>>()
        };
        assert_eq!(of_ledger(), [""; 0]);
        world.later(HOUR);
        if is_mended {
            world.mend();
        }
        world.run();
        assert_eq!(of_ledger(), if is_mended { vec![] } else { vec![OPERATOR] });
        world.later(HOUR);
        world.run();
        assert_eq!(of_ledger(), [""; 0], "once a day");
        let rows = world.sql("SELECT json_quote(state) FROM notices WHERE kind = 'ledger'");
        assert_eq!(rows.len(), usize::from(!is_mended), "{rows:?}");
    }
}

#[test]
fn an_invocation_sends_few_and_the_next_ones_the_rest() {
    let world = world();
    for number in 0..50 {
        world.sql(&format!(
            "INSERT INTO people VALUES ('unit:north', 'p{number}@north.example', 'viewer', 0, '', 0)"
        ));
    }
    let mut sent = Vec::new();
    for _ in 0..10 {
        let told = world.run();
        assert!(told.sent <= MAX_SENT);
        sent.push(told.sent);
        world.later(5 * 60_000);
    }
    assert_eq!(sent, [20, 20, 20, 20, 20, 9, 0, 0, 0, 0]); // two kinds for each of the 50
    let all = world.post.take();
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
}

// ---- Once ----------------------------------------------------------------------------------------

#[test]
fn a_second_run_on_the_same_day_sends_nothing() {
    let world = world();
    world.run();
    world.post.take();
    for _ in 0..3 {
        assert_eq!(world.run(), Told::default());
    }
    world.later(HOUR / 2);
    assert_eq!(world.run(), Told::default());
}

/// Any call of the ledger or the store fails, or the process ends there. Then no e-mail is sent twice. One may be missing whose
/// attempt had begun.
#[test]
fn a_failure_or_a_crash_at_any_call_sends_nothing_twice() {
    let world = world();
    let dashboard = &world.shops.dashboard;
    let faults = [Fault::Before, Fault::After, Fault::CrashBefore, Fault::CrashAfter];
    for number in 1.. {
        let mut was_reached = false;
        for fault in faults {
            world.sql("DELETE FROM notices");
            world.at(ENDED);
            let faults = [(number, fault)];
            let (store, ledger) = (dashboard.store(), &dashboard.ledger);
            let clock = &dashboard.clock;
            let faulty = Faulty { store, ledger, clock, calls: Cell::new(0), faults: &faults };
            drop(world.run_on(&faulty, &faulty).now_or_never());
            was_reached |= faulty.calls.get() >= number;
            for _ in 0..12 {
                world.later(5 * 60_000);
                world.run();
            }
            let mut sent = world.post.take();
            sent.retain(|(kind, _)| kind != "ledger"); // its next reconciliation is overdue after an hour
            let mut missing = expected();
            for one in &sent {
                let place = missing.iter().position(|other| other == one);
                assert!(place.is_some(), "{fault:?} at {number}: twice or unknown: {one:?}");
                missing.remove(place.unwrap());
            }
            // After an hour, the failures of 31 January are not told any more.
            missing.retain(|(kind, _)| kind != "bounces");
            assert!(missing.len() <= 1, "{fault:?} at {number}: {missing:?}");
        }
        if !was_reached {
            assert!(number > 40, "{number} calls");
            break;
        }
    }
}

/// Two invocations run at the same time: the second one runs whole before any call of the first one.
#[test]
fn two_invocations_at_the_same_time_send_nothing_twice() {
    let world = world();
    let dashboard = &world.shops.dashboard;
    for number in 1..60 {
        world.sql("DELETE FROM notices");
        let (store, ledger, clock) = (dashboard.store(), &dashboard.ledger, &dashboard.clock);
        let faults = [(number, Fault::Wait)];
        let faulty = Faulty { store, ledger, clock, calls: Cell::new(0), faults: &faults };
        let mut first = Box::pin(world.run_on(&faulty, &faulty));
        let ended = first.as_mut().now_or_never();
        world.run();
        if ended.is_none() {
            block_on(first).unwrap();
        }
        assert_eq!(world.post.take(), expected(), "at {number}");
    }
}

// ---- Failures of the mail service ----------------------------------------------------------------

fn temporary(code: &str) -> SendError {
    SendError::Temporary { code: code.to_owned(), after: None }
}

/// Each row has a failure, whether the mail service knows keys, and the number of attempts.
#[test]
fn what_failed_is_tried_again_with_the_same_key_while_that_is_safe() {
    let permanent = SendError::Permanent { code: "E_RECIPIENT_SUPPRESSED".to_owned() };
    let quota = SendError::Quota { code: "daily_quota_exceeded".to_owned(), after: Some(9) };
    for (failure, is_idempotent, attempts, state) in [
        (temporary("busy"), false, 5, "failed busy"),
        (quota, true, 5, "failed daily_quota_exceeded"),
        (temporary("no-answer"), true, 5, "failed no-answer"),
        (temporary("no-answer"), false, 1, "sending "),
        (permanent, true, 1, "failed E_RECIPIENT_SUPPRESSED"),
    ] {
        let world = world();
        world.sql(&format!("DELETE FROM people WHERE address <> '{ZOE}'"));
        *world.post.failure.borrow_mut() = Some(failure.clone());
        world.post.is_idempotent.set(is_idempotent);
        for _ in 0..20 {
            world.shops.dashboard.reconcile();
            world.run();
            world.later(HOUR);
        }
        let keys = world.post.tried.borrow();
        let own: Vec<_> = keys.iter().filter(|key| key.contains("statement")).collect();
        assert_eq!(own.len(), attempts, "{failure:?}");
        assert_eq!(own.iter().collect::<BTreeSet<_>>().len(), 1);
        let sql = "SELECT state || ' ' || ifnull(cause, '') FROM notices WHERE kind = 'statement'";
        assert_eq!(world.sql(sql), [state], "{failure:?}");
    }
}

#[test]
fn what_cannot_be_read_delays_its_own_kind_alone() {
    let world = world();
    world.shops.dashboard.store().set_failing(Some("mail-failed:"));
    let told = world.run();
    assert_eq!(told.problems.len(), 2, "{told:?}");
    let sent = world.post.take();
    assert!(sent.iter().all(|(kind, _)| kind == "month" || kind == "statement"), "{sent:?}");
    world.shops.dashboard.store().set_failing(None);
    world.run();
    assert_eq!(world.post.take().len(), 4);
}

// ---- Switches and log ----------------------------------------------------------------------------

#[test]
fn a_person_switches_off_their_own_e_mails_and_nobody_else_s() {
    let world = world();
    let dashboard = &world.shops.dashboard;
    let fields = [("kind", "statement"), ("state", "off"), ("address", EVA)];
    let page = dashboard.post_new(VIC, "/notices", &fields);
    assert_eq!(page.status, 200, "{}", page.text);
    assert!(page.text.contains("these e-mails are off for vic@north.example."), "{}", page.text);
    world.run();
    let mut wanted = expected();
    wanted.retain(|one| *one != ("statement".to_owned(), VIC.to_owned()));
    assert_eq!(world.post.take(), wanted);
    let fields = [("kind", "statement"), ("state", "on")];
    dashboard.post_new(VIC, "/notices", &fields);
    world.run();
    assert_eq!(world.post.take(), [("statement".to_owned(), VIC.to_owned())]);
}

#[test]
fn what_waits_is_not_sent_once_it_is_switched_off() {
    let world = world();
    *world.post.failure.borrow_mut() = Some(temporary("busy"));
    world.run();
    world.shops.dashboard.post_new(VIC, "/notices", &[("kind", "statement"), ("state", "off")]);
    *world.post.failure.borrow_mut() = None;
    world.later(HOUR);
    world.run();
    assert!(!world.post.take().contains(&("statement".to_owned(), VIC.to_owned())));
}

#[test]
fn the_page_has_the_kinds_of_the_role_and_for_operators_the_log() {
    let world = world();
    world.run();
    let dashboard = &world.shops.dashboard;
    let kinds = ["month", "statement", "bounces", "failures", "ledger"];
    for (person, own) in [
        (OPERATOR, &["failures", "ledger"][..]),
        (SUPPORT, &[]),
        (ACCOUNTS, &["month"]),
        (EVA, &["statement", "bounces"]),
        (VIC, &["statement", "bounces"]),
    ] {
        let page = dashboard.get(person, "/notices");
        assert_eq!(page.status, 200);
        for kind in kinds {
            let field = format!("name=\"kind\" value=\"{kind}\"");
            assert_eq!(page.text.contains(&field), own.contains(&kind), "{person} {kind}");
        }
        let has_log = page.text.contains("E-mails to all people");
        assert_eq!((has_log, page.text.contains(ZOE)), (person == OPERATOR, person == OPERATOR));
        assert!(page.text.contains("sends no e-mails yet"), "{}", page.text);
    }
    assert_eq!(dashboard.get("eve@elsewhere.example", "/notices").status, 403);
}

#[test]
fn the_log_is_kept_for_90_days() {
    let world = world();
    world.run();
    let count = || world.sql("SELECT json_quote(address) FROM notices WHERE kind = 'month'").len();
    world.later(90 * 24 * HOUR - HOUR);
    world.run();
    assert_eq!(count(), 1);
    world.later(2 * HOUR);
    world.run();
    assert_eq!(count(), 0);
}
