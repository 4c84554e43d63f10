//! Tests how operators write, publish and withdraw updates, and the record that timelines read.

use futures_executor::block_on;
use impact_pledge::buyer::updates::{MAX_UPDATES, OfferingUpdates};
use impact_pledge::office::audit::rule as audit;
use impact_pledge::office::audit::rule::Author;
use impact_pledge::office::demo::demo_updates;
use impact_pledge::office::fulfilment::rows::fulfilments::NewFulfilment;
use impact_pledge::office::fulfilment::rule as fulfilments;
use impact_pledge::office::shared::rows::port::Unbound;
use impact_pledge::office::shared::rows::port::{Ledger, QueryFuture, Statement};
use impact_pledge::office::shared::rule::error::OperatorError;
use impact_pledge::office::shared::rule::once::Done;
use impact_pledge::office::shared::rule::operation_id::OperationId;
use impact_pledge::office::system::rows::check;
use impact_pledge::office::updates::rows::changes::MAX_KEPT;
use impact_pledge::office::updates::rows::updates::{Pledges, UpdateRow, UpdateState};
use impact_pledge::office::updates::rule as updates;
use impact_pledge::office::updates::rule::{Compared, NewUpdate, UpdateChange};
use impact_pledge::pledges::scope::Mode;
use impact_pledge::pledges::settlement::Month;
use impact_pledge::pledges::store::{Key as _, UpdatesKey};
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::pin::Pin;
use support::ledger::{Failing, SqliteLedger};
use support::memory::MemoryStore;
use support::service::{CountedEntropy, FixedClock, TestOperator, changes, test_operator};

type Result<T = Done<UpdateChange>> = std::result::Result<T, OperatorError>;

/// The store and the ledger of a test, and the operator who uses them.
struct Bench {
    store: MemoryStore,
    ledger: SqliteLedger,
    operator: TestOperator<CountedEntropy>,
}

fn bench() -> Bench {
    let (store, ledger) = (MemoryStore::default(), SqliteLedger::default());
    Bench { store, ledger, operator: test_operator() }
}

fn january() -> Month {
    Month::parse("2026-01").unwrap()
}

fn trees() -> Pledges {
    Pledges { mode: Mode::Live, month: january(), offering: "tree".to_owned() }
}

/// Returns a complete update, in which the members of `changed` replace the defaults.
fn wanted(changed: &Value) -> NewUpdate {
    let mut update = json!({
        "stage": "done", "date": "2026-01-20", "place": "Kitui", "latitude": "-1.3733", "longitude": "38.0106",
        "partner": "Reforest", "quantity": "12.50", "picture": "https://pictures.example/1.jpg",
        "picture-text": "Seedlings", "report": "https://reports.example/1",
        "texts": [["en", "We planted."], ["DE", "Gepflanzt."]],
    });
    for (name, value) in changed.as_object().unwrap() {
        update[name] = value.clone();
    }
    serde_json::from_value(update).unwrap()
}

impl Bench {
    fn author(&self) -> Author<'_, FixedClock, CountedEntropy> {
        self.operator.author().with_operation(self.operation())
    }

    fn operation(&self) -> OperationId {
        OperationId::new(&self.operator.clock, &self.operator.entropy)
    }

    fn add(&self, changed: &Value) -> Result {
        self.add_to(&trees(), changed)
    }

    fn add_to(&self, pledges: &Pledges, changed: &Value) -> Result {
        let (ledger, of) = (&self.ledger, (pledges, None));
        block_on(updates::add(&self.store, ledger, &self.author(), of, &wanted(changed)))
    }

    /// Adds a draft, and returns its row.
    fn draft(&self, changed: &Value) -> UpdateRow {
        self.add(changed).unwrap().outcome.row
    }

    fn edit(&self, (id, revision): (&str, u64), changed: &Value) -> Result {
        let (ledger, of) = (&self.ledger, (id, revision));
        block_on(updates::edit(&self.store, ledger, &self.author(), of, &wanted(changed)))
    }

    fn publish(&self, of: (&str, u64)) -> Result {
        block_on(updates::publish(&self.store, &self.ledger, &self.author(), of))
    }

    fn withdraw(&self, of: (&str, u64)) -> Result {
        block_on(updates::withdraw(&self.store, &self.ledger, &self.author(), of))
    }

    /// Adds and publishes an update.
    fn published(&self, changed: &Value) -> UpdateRow {
        let row = self.draft(changed);
        self.publish((&row.id, 1)).unwrap().outcome.row
    }

    fn record(&self) -> Option<String> {
        self.store.value(&UpdatesKey::new(Mode::Live, "tree", january()).name())
    }

    /// Returns the sentences that timelines show.
    fn shown(&self) -> Vec<String> {
        let record = self.record().unwrap_or_else(|| r#"{"updates":[]}"#.to_owned());
        let record: OfferingUpdates = serde_json::from_str(&record).unwrap();
        let sentence =
            |texts: &impact_pledge::buyer::updates::Texts| texts.get("en").unwrap().to_owned();
        record.updates.iter().map(|update| sentence(&update.texts)).collect()
    }

    fn audited(&self) -> Vec<String> {
        let changes = changes(&self.store, &self.ledger);
        changes.iter().map(audit::Change::plain_sentence).collect()
    }

    fn heal(&self, most: usize) -> Compared {
        block_on(updates::heal(&self.store, &self.ledger, &self.operator.clock, most)).unwrap()
    }

    fn later(&self, ms: u64) {
        self.operator.clock.0.set(self.operator.clock.0.get() + ms);
    }
}

#[track_caller]
fn problem<T: std::fmt::Debug>(result: Result<T>) -> String {
    result.unwrap_err().to_string()
}

fn say(sentence: &str) -> Value {
    json!({ "texts": [["en", sentence]] })
}

/// Buyers are told what all published updates with the stage `done` add up to.
#[test]
fn a_quantity_that_is_more_than_was_done_is_said_before_it_is_published() {
    let bench = bench();
    let said = |row: &UpdateRow| {
        let wanted = NewUpdate::from(&row.update);
        block_on(updates::beyond(&bench.ledger, row, &wanted)).unwrap()
    };
    let draft = bench.draft(&json!({ "quantity": "5" }));
    let words = |told: &str, done: &str| {
        Some(format!(
            "Timelines would then show that {told} of tree is done for the pledges of 2026-01, but {done} is recorded as done"
        ))
    };
    assert_eq!(said(&draft), words("5", "0"));
    let done = json!({ "mode": "live", "month": "2026-01", "offering": "tree", "quantity": "5.5",
        "doneOn": "2026-01-20", "partner": null, "place": null, "report": null });
    let done: NewFulfilment = serde_json::from_value(done).unwrap();
    block_on(fulfilments::add(&bench.store, &bench.ledger, &bench.author(), &done)).unwrap();
    assert_eq!(said(&draft), None);
    let published = bench.publish((&draft.id, 1)).unwrap().outcome.row;
    assert_eq!(said(&published), None, "it counts once");
    assert_eq!(said(&bench.draft(&json!({ "quantity": "0.5" }))), None);
    assert_eq!(said(&bench.draft(&json!({ "quantity": "0.6" }))), words("5.6", "5.5"));
    assert_eq!(said(&bench.draft(&json!({ "stage": "verified" }))), None);
}

// ---- From draft to withdrawal --------------------------------------------------------------------

#[test]
fn an_update_is_shown_from_its_publication_to_its_withdrawal() {
    let bench = bench();
    let draft = bench.draft(&json!({}));
    assert_eq!((draft.state, draft.revision, bench.record()), (UpdateState::Draft, 1, None));
    bench.later(1);
    let published = bench.publish((&draft.id, 1)).unwrap().outcome;
    assert!(published.is_compiled);
    assert_eq!((published.row.state, published.row.revision), (UpdateState::Published, 2));
    let expected = json!({ "version": 1, "updates": [{
        "id": draft.id, "stage": "done", "date": "2026-01-20",
        "place": { "name": "Kitui", "latitude": -1.3733, "longitude": 38.0106 }, "partner": "Reforest",
        "quantity": 12.5, "picture": { "url": "https://pictures.example/1.jpg", "text": "Seedlings" },
        "report": "https://reports.example/1", "texts": { "en": "We planted.", "de": "Gepflanzt." },
    }] });
    assert_eq!(serde_json::from_str::<Value>(&bench.record().unwrap()).unwrap(), expected);
    bench.later(1);
    let edited = bench.edit((&draft.id, 2), &say("We planted more.")).unwrap().outcome.row;
    assert_eq!(
        (edited.state, bench.shown()),
        (UpdateState::Published, vec!["We planted more.".to_owned()])
    );
    let refused = problem(bench.edit((&draft.id, 3), &say("We planted more.")));
    assert!(refused.contains("saved already"), "{refused}");
    bench.later(1);
    let withdrawn = bench.withdraw((&draft.id, 3)).unwrap().outcome.row;
    assert_eq!((withdrawn.state, bench.record()), (UpdateState::Withdrawn, None));
    assert!(problem(bench.withdraw((&draft.id, 4))).contains("already withdrawn"));
    bench.later(1);
    bench.publish((&draft.id, 4)).unwrap();
    assert_eq!(bench.shown(), ["We planted more."]);
    assert!(problem(bench.publish((&draft.id, 5))).contains("already published"));
    let words =
        "done on 2026-01-20, 12.5 tree of 2026-01 (live), in Kitui, by Reforest: We planted";
    assert_eq!(
        bench.audited(),
        [
            format!("published an update: {words} more."),
            format!("withdrew an update: {words} more."),
            format!(
                "edited an update: {words} more. (texts: {{\"en\":\"We planted more.\"}}, before: \
                 {{\"de\":\"Gepflanzt.\",\"en\":\"We planted.\"}})"
            ),
            format!("published an update: {words}."),
            format!("drafted an update: {words}."),
        ]
    );
}

#[test]
fn timelines_show_the_newest_first_and_no_draft_other_month_mode_or_offering() {
    let bench = bench();
    for (day, sentence) in [("05", "b"), ("20", "d"), ("05", "c"), ("01", "a")] {
        let mut update = say(sentence);
        update["date"] = json!(format!("2026-01-{day}"));
        bench.published(&update);
        bench.later(1);
    }
    bench.draft(&say("draft"));
    let december = Month::parse("2025-12").unwrap();
    for other in [
        Pledges { mode: Mode::Test, ..trees() },
        Pledges { month: december, ..trees() },
        Pledges { offering: "reef".to_owned(), ..trees() },
    ] {
        let row = bench.add_to(&other, &say("other")).unwrap().outcome.row;
        bench.publish((&row.id, 1)).unwrap();
    }
    assert_eq!(bench.shown(), ["d", "c", "b", "a"]);
    let names = bench.store.names();
    assert_eq!(names.iter().filter(|name| name.starts_with("updates:")).count(), 4);
    let list = block_on(updates::list(&bench.ledger, None, &[january()], 100)).unwrap();
    let states: Vec<_> =
        list.updates.iter().map(|row| (&*row.pledges.offering, row.state)).collect();
    assert_eq!(states.len(), 7, "January has two modes and two offerings: {states:?}");
    assert!(list.outdated.is_empty());
}

#[test]
fn an_update_without_a_sentence_stays_a_draft() {
    let bench = bench();
    let draft = bench.draft(&json!({ "texts": [["en", ""]] }));
    let refused = problem(bench.publish((&draft.id, 1)));
    assert!(refused.contains("write its sentence in at least one language"), "{refused}");
    bench.edit((&draft.id, 1), &say("Now")).unwrap();
    bench.publish((&draft.id, 2)).unwrap();
    let refused = problem(bench.edit((&draft.id, 3), &json!({ "texts": [] })));
    assert!(refused.contains("at least one language"), "{refused}");
    assert_eq!((bench.shown(), bench.audited().len()), (vec!["Now".to_owned()], 3));
}

#[test]
fn invalid_members_are_refused_by_name_and_nothing_is_saved() {
    let bench = bench();
    let huge = "x".repeat(10_000_000);
    let long = "x".repeat(201);
    let url = ["https://a.example/", &huge].concat();
    let texts = |tag: &str, text: &str| json!([[tag, text]]);
    for (member, value, expected) in [
        ("stage", json!(""), "`stage` must be one of funded, under-way, done, verified"),
        ("stage", json!("Done"), "`stage`"),
        ("date", json!(""), "`date` must be a day such as 2026-11-03"),
        ("date", json!("2026-02-30"), "`date`"),
        ("date", json!("2027-01-01"), "`date` is in the future"),
        ("place", json!("\u{202e}iutiK"), "`place` must be one line"),
        ("place", json!(""), "`place` is missing"),
        ("place", json!(&huge), "`place`"),
        ("latitude", json!(""), "`latitude` is missing"),
        ("latitude", json!("90.01"), "`latitude` must be degrees from -90 to 90"),
        ("latitude", json!("NaN"), "`latitude`"),
        ("longitude", json!(""), "`longitude` is missing"),
        ("longitude", json!("inf"), "`longitude` must be degrees from -180 to 180"),
        ("longitude", json!(&huge), "`longitude`"),
        ("partner", json!("two\nlines"), "`partner`"),
        ("partner", json!(&long), "`partner` must be one line of at most 200 characters"),
        ("partner", json!("\u{200b}"), "`partner`"),
        ("quantity", json!("0"), "`quantity` must be a number above 0"),
        ("quantity", json!("-1"), "`quantity`"),
        ("quantity", json!("1e320"), "`quantity`"),
        ("quantity", json!("twelve"), "`quantity`"),
        ("quantity", json!(&huge), "`quantity`"),
        (
            "picture",
            json!("http://a.example/1.jpg"),
            "`picture` must be a web address that starts with `https://`",
        ),
        ("picture", json!("javascript:alert(1)"), "`picture`"),
        ("picture", json!("https://ada@a.example/"), "`picture`"),
        ("picture", json!(&url), "`picture`"),
        ("picture", json!(""), "`picture` is missing"),
        ("picture-text", json!(""), "`picture-text` is missing"),
        ("picture-text", json!("\u{1b}[2J"), "`picture-text`"),
        ("report", json!("javascript:alert(1)"), "`report`"),
        ("report", json!("https://a.example/a b"), "`report`"),
        (
            "texts",
            texts("xx", "We plant."),
            "timelines are not available in this language: use one of da, de, en",
        ),
        ("texts", texts("de", "two\nlines"), "the sentence in `de` must be one line"),
        ("texts", texts("PT-br", "\u{2067}x"), "the sentence in `pt-BR`"),
        ("texts", texts("en", &"x".repeat(401)), "at most 400 characters"),
        ("texts", texts("en", &huge), "the sentence in `en`"),
    ] {
        let refused = problem(bench.add(&json!({ member: value })));
        assert!(refused.starts_with("nothing was saved: "), "{refused}");
        assert!(refused.contains(expected) && refused.len() < 400, "{member}: {refused}");
    }
    for offering in ["", "two\nlines", &"x".repeat(257), &huge] {
        let of = Pledges { offering: offering.to_owned(), ..trees() };
        assert!(problem(bench.add_to(&of, &json!({}))).contains("`offering`"));
    }
    for month in ["2026-03", "9999-12"].map(|month| Month::parse(month).unwrap()) {
        let refused = problem(bench.add_to(&Pledges { month, ..trees() }, &json!({})));
        assert!(refused.contains("has not begun yet"), "{refused}");
    }
    assert!(bench.audited().is_empty() && bench.store.names().is_empty());
    let long = "植".repeat(400);
    let tags = ["da", "de", "en", "es", "fr", "it", "ja", "nl"].map(|tag| (tag, &*long));
    let refused = problem(bench.add(&json!({ "texts": tags })));
    assert!(refused.contains("the update has 9") && refused.contains("at most 8192"), "{refused}");
}

#[test]
fn without_a_ledger_and_for_an_unknown_update_nothing_is_changed() {
    let bench = bench();
    let (trees, author, new) = (trees(), bench.author(), wanted(&json!({})));
    let added = updates::add(&bench.store, &Unbound, &author, (&trees, None), &new);
    assert!(problem(block_on(added)).contains("ledger"));
    for refused in [
        problem(bench.publish(("upd_none", 1))),
        problem(bench.withdraw(("upd_none", 1))),
        problem(bench.edit(("upd_none", 1), &json!({}))),
    ] {
        assert_eq!(refused, "nothing was saved: there is no update `upd_none`");
    }
    assert!(bench.store.names().is_empty());
}

// ---- Limits --------------------------------------------------------------------------------------

#[test]
fn an_offering_and_month_show_a_bounded_number_of_updates() {
    let bench = bench();
    for number in 0..MAX_UPDATES {
        bench.published(&say(&number.to_string()));
    }
    let last = bench.draft(&say("last"));
    let refused = problem(bench.publish((&last.id, 1)));
    assert!(refused.contains("tree already has 24 published updates for 2026-01"), "{refused}");
    let entries = bench.audited().len();
    assert_eq!(entries, 2 * MAX_UPDATES + 1, "a refused one is withdrawn from the audit log");
    let list = block_on(updates::list(&bench.ledger, None, &[january()], 100)).unwrap().updates;
    let first = list.iter().find(|row| row.state == UpdateState::Published).unwrap();
    bench.edit((&first.id, 2), &say("edited")).unwrap();
    bench.withdraw((&first.id, 3)).unwrap();
    bench.publish((&last.id, 1)).unwrap();
    assert!(bench.shown().contains(&"last".to_owned()) && bench.shown().len() == MAX_UPDATES);
}

#[test]
fn a_record_never_exceeds_its_size() {
    let bench = bench();
    let sentence = "植".repeat(400);
    let texts = ["da", "de", "en", "es", "fr", "it"].map(|tag| (tag, &*sentence));
    let large = json!({ "texts": texts });
    let mut refused = String::new();
    for _ in 0..9 {
        let row = bench.draft(&large);
        if let Err(error) = bench.publish((&row.id, 1)) {
            refused = error.to_string();
        }
    }
    assert!(refused.contains("more than 64 KiB together"), "{refused}");
    assert_eq!(bench.shown().len(), 8);
    assert!(bench.record().unwrap().len() <= UpdatesKey::MAX_BYTES);
}

#[test]
fn a_month_has_a_bounded_number_of_drafts() {
    let bench = bench();
    for _ in 0..MAX_KEPT {
        bench.add(&say("x")).unwrap();
    }
    let refused = problem(bench.add(&say("x")));
    assert!(refused.contains("already has 200 updates for 2026-01"), "{refused}");
}

// ---- Twice, at once, and after failures ----------------------------------------------------------

#[test]
fn a_change_that_is_sent_twice_is_made_once() {
    let bench = bench();
    let (store, ledger) = (&bench.store, &bench.ledger);
    let same = bench.operation();
    let author = || bench.operator.author().with_operation(same.clone());
    let add =
        || block_on(updates::add(store, ledger, &author(), (&trees(), None), &wanted(&json!({}))));
    let (first, again) = (add().unwrap(), add().unwrap());
    assert_eq!(first.outcome, again.outcome);
    assert!(first.before.is_none() && again.before.is_some());
    let id = first.outcome.row.id;
    let same = bench.operation();
    let author = || bench.operator.author().with_operation(same.clone());
    let publish = |seen| block_on(updates::publish(store, ledger, &author(), (&*id, seen)));
    publish(1).unwrap();
    assert!(publish(1).unwrap().before.is_some());
    assert!(publish(2).unwrap().before.is_some(), "a command reads the new revision first");
    assert_eq!(bench.audited().len(), 2);
}

#[test]
fn who_has_not_seen_the_last_change_is_told_of_it() {
    let bench = bench();
    let draft = bench.draft(&say("first"));
    bench.edit((&draft.id, 1), &say("second")).unwrap();
    for refused in [
        problem(bench.edit((&draft.id, 1), &say("third"))),
        problem(bench.publish((&draft.id, 1))),
        problem(bench.withdraw((&draft.id, 1))),
    ] {
        assert!(
            refused.contains("changed the update at 2026-01-31T12:00:00.123Z, after"),
            "{refused}"
        );
    }
    assert_eq!(bench.audited().len(), 2);
}

#[test]
fn after_a_failure_at_any_step_a_repeat_publishes_once() {
    for spared in 0..8 {
        for failing in [Failing::Before, Failing::After] {
            let bench = bench();
            let draft = bench.draft(&say("x"));
            let same = bench.operation();
            let publish = || {
                let author = bench.operator.author().with_operation(same.clone());
                let of = (&*draft.id, 1);
                block_on(updates::publish(&bench.store, &bench.ledger, &author, of))
            };
            bench.ledger.set_failing_after(spared, failing);
            let _first = publish();
            bench.ledger.set_failing(Failing::Not);
            bench.later(60_000);
            assert!(publish().unwrap().outcome.is_compiled, "{spared} {failing:?}");
            assert_eq!(bench.shown(), ["x"], "{spared} {failing:?}");
            let row = block_on(updates::get(&bench.ledger, &draft.id)).unwrap();
            assert_eq!((row.state, row.revision), (UpdateState::Published, 2));
            bench.later(3_600_001);
            assert_eq!(
                bench.heal(10),
                Compared { compared: 1, written: 0 },
                "{spared} {failing:?}"
            );
        }
    }
}

/// A ledger in which another person makes a change right after one of the calls.
struct Interrupted<'i> {
    ledger: &'i SqliteLedger,
    /// The number of calls until the other person acts.
    calls: Cell<usize>,
    other: RefCell<Option<Pin<Box<dyn Future<Output = ()> + 'i>>>>,
}

impl Ledger for Interrupted<'_> {
    fn run<'l>(&'l self, statements: &'l [Statement]) -> QueryFuture<'l> {
        Box::pin(async move {
            let answer = self.ledger.run(statements).await;
            let left = self.calls.get();
            self.calls.set(left.saturating_sub(1));
            let other = if left == 1 { self.other.borrow_mut().take() } else { None };
            if let Some(other) = other {
                other.await;
            }
            answer
        })
    }
}

#[test]
fn two_people_who_publish_at_once_end_with_a_record_that_has_both() {
    for calls in 1..=7 {
        let bench = bench();
        let (mine, theirs) = (bench.draft(&say("mine")), bench.draft(&say("theirs")));
        let (author, other_author) = (bench.author(), bench.author());
        let other = async {
            let of = (&*theirs.id, 1);
            updates::publish(&bench.store, &bench.ledger, &other_author, of).await.unwrap();
        };
        let ledger = Interrupted {
            ledger: &bench.ledger,
            calls: Cell::new(calls),
            other: RefCell::new(Some(Box::pin(other))),
        };
        let done = updates::publish(&bench.store, &ledger, &author, (&mine.id, 1));
        assert!(block_on(done).unwrap().outcome.is_compiled, "{calls}");
        assert!(ledger.other.borrow().is_none() || calls == 7, "{calls}");
        let mut shown = bench.shown();
        shown.sort();
        let expected: &[&str] =
            if ledger.other.borrow().is_some() { &["mine"] } else { &["mine", "theirs"] };
        assert_eq!(shown, expected, "{calls}");
        let list = block_on(updates::list(&bench.ledger, None, &[january()], 10)).unwrap();
        assert!(list.outdated.is_empty());
    }
}

#[test]
fn who_withdraws_while_another_publishes_is_not_overwritten() {
    for calls in 1..=6 {
        let bench = bench();
        let shown = bench.published(&say("shown"));
        let mine = bench.draft(&say("mine"));
        let (author, other_author) = (bench.author(), bench.author());
        let other = async {
            let of = (&*shown.id, 2);
            updates::withdraw(&bench.store, &bench.ledger, &other_author, of).await.unwrap();
        };
        let ledger = Interrupted {
            ledger: &bench.ledger,
            calls: Cell::new(calls),
            other: RefCell::new(Some(Box::pin(other))),
        };
        let done = updates::publish(&bench.store, &ledger, &author, (&mine.id, 1));
        assert!(block_on(done).unwrap().outcome.is_compiled);
        assert!(ledger.other.borrow().is_none(), "{calls}");
        assert_eq!(bench.shown(), ["mine"], "{calls}");
    }
}

#[test]
fn a_record_that_workers_kv_did_not_take_is_said_and_written_later() {
    for by_next_change in [false, true] {
        let bench = bench();
        let (first, second) = (bench.draft(&say("first")), bench.draft(&say("second")));
        bench.store.set_failing(Some("updates:"));
        let done = bench.publish((&first.id, 1)).unwrap().outcome;
        assert_eq!((done.is_compiled, done.row.state), (false, UpdateState::Published));
        let list = block_on(updates::list(&bench.ledger, None, &[january()], 10)).unwrap();
        assert_eq!((list.outdated, bench.record()), (vec![trees()], None));
        bench.store.set_failing(None);
        if by_next_change {
            bench.publish((&second.id, 1)).unwrap();
            assert_eq!(bench.shown().len(), 2);
        } else {
            assert_eq!(bench.heal(10), Compared { compared: 1, written: 1 });
            assert_eq!(bench.shown(), ["first"]);
        }
        assert_eq!(bench.heal(10), Compared::default());
    }
}

#[test]
fn a_record_that_differs_from_its_rows_is_written_again() {
    let bench = bench();
    bench.published(&say("x"));
    let (name, record) = (UpdatesKey::new(Mode::Live, "tree", january()).name(), bench.record());
    assert_eq!(bench.heal(10), Compared::default(), "it was just written");
    for damage in [None, Some("{}"), Some(r#"{"version":1,"updates":[]}"#)] {
        bench.store.remove(&name);
        if let Some(damage) = damage {
            bench.store.keep(&name, damage.as_bytes(), b"null");
        }
        bench.later(3_600_001);
        assert_eq!(bench.heal(10), Compared { compared: 1, written: 1 }, "{damage:?}");
        assert_eq!(bench.record(), record);
    }
    bench.store.remove(&name);
    bench.later(1);
    let all = updates::compare(&bench.store, &bench.ledger, &bench.operator.clock);
    assert_eq!(block_on(all).unwrap(), Compared { compared: 1, written: 1 });
    assert_eq!(bench.record(), record);
}

// ---- Fulfilments, rebuild and restore ------------------------------------------------------------

#[test]
fn a_fulfilment_becomes_one_draft_with_what_it_says() {
    let bench = bench();
    let (store, ledger) = (&bench.store, &bench.ledger);
    let done: NewFulfilment = serde_json::from_value(json!({
        "mode": "live", "month": "2026-01", "offering": "tree", "quantity": "4.50", "doneOn": "2026-01-20",
        "partner": "Reforest", "place": "Kenya", "report": "https://example.org/report",
    }))
    .unwrap();
    let added = block_on(fulfilments::add(store, ledger, &bench.author(), &done)).unwrap();
    let id = added.outcome.id;
    let draft = || block_on(updates::add_from_fulfilment(store, ledger, &bench.author(), &id));
    let row = draft().unwrap().outcome.row;
    assert_eq!(
        (row.state, &row.pledges, row.fulfilment.as_ref()),
        (UpdateState::Draft, &trees(), Some(&id))
    );
    let expected = json!({
        "stage": "done", "date": "2026-01-20", "place": "Kenya", "partner": "Reforest", "quantity": "4.5",
        "report": "https://example.org/report", "latitude": "", "longitude": "", "picture": "",
        "picture-text": "", "texts": [],
    });
    assert_eq!(json!(NewUpdate::from(&row.update)), expected);
    let refused = problem(draft());
    assert!(refused.contains("the fulfilment already has an update"), "{refused}");
    block_on(fulfilments::remove(store, ledger, &bench.author(), &id)).unwrap();
    assert!(problem(draft()).contains("was removed"));
    let author = bench.author();
    let unknown = updates::add_from_fulfilment(store, ledger, &author, "ful_none");
    assert!(problem(block_on(unknown)).contains("there is no fulfilment `ful_none`"));
}

#[test]
fn a_rebuild_of_the_ledger_keeps_updates() {
    let bench = bench();
    bench.published(&say("x"));
    block_on(check::clear(&bench.ledger)).unwrap();
    bench.published(&say("y"));
    assert_eq!(bench.shown().len(), 2);
}

/// The database was deleted and created again, but no record in Workers KV shows that.
#[test]
fn updates_that_the_database_has_lost_stay_on_timelines() {
    let bench = bench();
    bench.published(&json!({}));
    bench.ledger.sql("DELETE FROM updates");
    bench.ledger.sql("DELETE FROM update_records");
    bench.ledger.sql("DELETE FROM epoch");
    bench.store.remove("epoch");
    bench.later(120_000);
    let record = bench.record();
    let draft = bench.draft(&say("new"));
    let refused = problem(bench.publish((&draft.id, 1)));
    assert!(refused.contains("`transactions restore`"), "{refused}");
    // Another release has published the draft.
    bench.ledger.sql("UPDATE updates SET state = 'published'");
    for _ in 0..2 {
        let healed =
            block_on(updates::heal(&bench.store, &bench.ledger, &bench.operator.clock, 10));
        let healed = healed.unwrap_err().to_string();
        assert!(healed.contains("`transactions restore`"), "{healed}");
        assert_eq!(bench.record(), record);
        bench.later(3_700_000);
    }
}

#[test]
fn the_demo_publishes_updates_once() {
    let bench = bench();
    let TestOperator { clock, entropy } = &bench.operator;
    let seed =
        || block_on(demo_updates::seed(&bench.store, &bench.ledger, clock, entropy)).unwrap();
    assert!(seed() && !seed());
    let months = [Month::parse("2025-12").unwrap()];
    let list = block_on(updates::list(&bench.ledger, None, &months, 10)).unwrap().updates;
    assert_eq!(list.len(), 6);
    assert!(list.iter().all(|row| row.state == UpdateState::Published));
}
