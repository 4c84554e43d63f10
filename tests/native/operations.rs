//! Tests the table of operations: their descriptions, their arguments, and what commands print.

use futures_executor::block_on;
use impact_pledge::office::mails::rule::QueuedRounds;
use impact_pledge::office::operations::{GROUPS, Operation};
use impact_pledge::office::route::Route;
use impact_pledge::office::shared::operation::call::{Aborted, Answer, Call, Failure, Host, Ports};
use impact_pledge::office::shared::operation::facts::Fact;
use impact_pledge::office::shared::operation::listing::{Column, Listing};
use impact_pledge::office::shared::operation::question::Question;
use impact_pledge::office::shared::operation::spec::{Argument, Kind};
use impact_pledge::office::shared::operation::table::facts;
use impact_pledge::office::shared::rule::error::OperatorError;
use impact_pledge::office::shared::rule::operation_id::OperationId;
use impact_pledge::office::shared::rule::refused::{RefusalCode, Refused};
use impact_pledge::pledges::service::{Clock, Entropy, Message, Outbox, PutFuture};
use impact_pledge::pledges::time::TimeZones;
use serde_json::{Map, Value, json};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use strum::IntoEnumIterator as _;
use support::ledger::SqliteLedger;
use support::memory::MemoryStore;
use support::service::{CountedEntropy, FixedClock, NOW_MS, Zones};

// ---- What the table says -------------------------------------------------------------------------

#[test]
fn each_operation_is_named_once_and_described() {
    let mut names = BTreeSet::new();
    for spec in Operation::iter().map(Operation::spec) {
        let name = spec.full_name();
        assert!(GROUPS.iter().any(|(group, _)| *group == spec.group), "{name}");
        assert_eq!(
            Operation::find(spec.group, spec.name).map(|it| it.spec().name),
            Some(spec.name)
        );
        assert!(!spec.about.ends_with('.') && !spec.answers.is_empty(), "{name}");
        let arguments: BTreeSet<_> = spec.arguments.iter().map(|it| it.name).collect();
        assert_eq!(arguments.len(), spec.arguments.len(), "{name}");
        for argument in spec.arguments {
            assert!(!argument.help.is_empty() && !argument.help.ends_with('.'), "{name}");
        }
        let mut positions = spec.arguments.iter().filter(|it| !it.is_option);
        let last = positions.next_back();
        assert!(positions.all(|it| it.is_required && !it.is_repeatable), "{name}: {last:?}");
        assert!(spec.is_recorded || !spec.changes, "{name}");
        assert!(names.insert(name));
    }
}

/// Pages and forms with code of their own that have the same effect as a command. Each row has the route, and the command's
/// group and name.
const OWN: [(&str, &str, &str); 4] = [
    ("GET /payments", "payments", "due"),
    ("POST /payments/several", "payments", "mark"),
    ("GET /units/{id}/statement", "payments", "statement"),
    ("GET /updates/{id}/preview", "updates", "preview"),
];

/// Everybody may leave a unit or team, which is the removal of oneself.
const OF_EVERYBODY: [&str; 2] = ["POST /units/{id}/people/leave", "POST /teams/{id}/people/leave"];

#[test]
fn a_form_and_its_command_are_for_the_same_roles() {
    let routes: BTreeMap<_, _> = Route::iter().map(|it| (it.template(), it.permission())).collect();
    let own =
        OWN.map(|(template, group, name)| (template, Operation::find(group, name).unwrap().spec()));
    let of_operations = Route::iter().filter_map(|it| Some((it.template(), it.operation()?)));
    let of_operations: Vec<_> = of_operations.collect();
    assert!(of_operations.len() > 20);
    for (template, spec) in own.into_iter().chain(of_operations) {
        if !OF_EVERYBODY.contains(&template) {
            assert_eq!(routes[template], spec.permission, "{template}");
        }
    }
}

/// A page leaves out the fields that the route fixes, and those of optional arguments. So a required argument without a field
/// must be an ID, or what the page is about.
#[test]
fn a_form_has_a_field_for_each_argument_that_a_person_enters() {
    let fixed = [
        "unit",
        "team",
        "id",
        "month",
        "mode",
        "update",
        "fulfilment",
        "connection",
        "delivery",
        "address",
        "kind",
        "state",
        "task",
        "number",
        "cause",
        "subject",
    ];
    for spec in Route::iter().filter_map(|it| it.operation()) {
        for argument in spec.arguments.iter().filter(|it| it.is_required && it.field.is_none()) {
            assert!(fixed.contains(&argument.name), "{}: {}", spec.full_name(), argument.name);
        }
        for argument in spec.arguments {
            if let (Kind::Choice { choices }, Some(field)) = (argument.kind, argument.field) {
                assert_eq!(choices.len(), field.choices.len(), "{}", argument.name);
            }
        }
    }
}

// ---- Arguments -----------------------------------------------------------------------------------

#[test]
fn a_value_is_taken_by_the_kind_of_its_argument_or_refused_with_what_it_may_be() {
    let keep = ["keys", "rotate", "keep"];
    let month = ["transactions", "quantities", "month"];
    let paid_at = ["payments", "mark", "paid-at"];
    let limit = ["transactions", "list", "limit"];
    let day = ["emails", "failed", "day"];
    let mode = ["keys", "create", "mode"];
    for (of, values, expected) in [
        (keep, &["0", "60s", "90s", "30m", "24h", "7d", "365d"][..], None),
        (
            keep,
            &["59s", "5", "-1h", "1.5h", "366d", "1w", "", "0s0", "99999999999999999999d"],
            Some("from 60s to 365d"),
        ),
        (month, &["2026-11", "1999-01"], None),
        (month, &["2026-13", "2026-1", "2026-11-01", "", "2026-11 "], Some("such as 2026-11")),
        (
            paid_at,
            &[
                "2026-01-05",
                "2026-01-05T14:30:00+01:00",
                "2026-01-05T14:30Z",
                "2026-01-05T14:30:00.5-11:30",
            ],
            None,
        ),
        (
            paid_at,
            &[
                "2026-02-30",
                "2026-01-05T10:00",
                "5.11.2026",
                "2026-01-05T14:30:00+1:00",
                "2026-01-05T14:30:00+24:00",
                "1969-12-31",
                "é",
                "",
            ],
            Some("such as 2026-11-05"),
        ),
        (limit, &["1", "1000"], None),
        (limit, &["0", "1001", "x", "1e2", "-1", "+1", ""], Some("from 1 to 1000")),
        (day, &["2026-11-21"], None),
        (day, &["2026-13-01", "2026-11-2", "today"], Some("such as 2026-11-21")),
        (mode, &["test", "live"], None),
        (mode, &["prod", "", "Test"], Some("one of test, live")),
    ] {
        let [group, name, argument] = of;
        let operation = Operation::find(group, name).unwrap();
        for value in values {
            let mut arguments = complete(operation);
            arguments.insert(argument.to_owned(), json!(value));
            let checked = operation.check(arguments);
            match expected {
                None => assert_eq!(checked, Ok(()), "{argument} {value}"),
                Some(words) => {
                    let refused = checked.unwrap_err();
                    assert!(refused.text.contains(words), "{argument} {value}");
                    assert_eq!(
                        refused,
                        Refused::at(argument, RefusalCode::Invalid, &*refused.text)
                    );
                }
            }
        }
    }
}

#[test]
fn an_argument_that_is_missing_unknown_or_of_another_type_is_named() {
    let operation = Operation::KeysRotate;
    for (arguments, problem) in [
        (json!({}), "`--keep` is missing"),
        (json!({ "keep": null }), "`--keep` is missing"),
        (json!({ "keep": "0", "kep": "0" }), "`keys rotate` has no argument `kep`"),
        (json!({ "keep": 0 }), "`--keep` has a value of the wrong type"),
        (json!({ "keep": ["0"] }), "`--keep` has a value of the wrong type"),
    ] {
        let Value::Object(arguments) = arguments else { panic!() };
        let refused = operation.check(arguments).unwrap_err();
        assert!(refused.text.starts_with(problem), "{refused:?}");
    }
}

/// Returns a valid value for each required argument of an operation.
fn complete(operation: Operation) -> Map<String, Value> {
    let value = |argument: &Argument| match argument.kind {
        Kind::Choice { choices } => choices[0].to_owned(),
        Kind::Month => "2026-01".to_owned(),
        Kind::Day | Kind::Time => "2026-01-05".to_owned(),
        Kind::Duration { .. } => "0".to_owned(),
        _ => "1".to_owned(),
    };
    let required = operation.spec().arguments.iter().filter(|it| it.is_required);
    let mut arguments: Map<_, _> =
        required.map(|it| (it.name.to_owned(), json!(value(it)))).collect();
    if operation == Operation::KeysCreate {
        arguments.insert("unit".to_owned(), json!("shop"));
    }
    arguments
}

// ---- Runs ----------------------------------------------------------------------------------------

struct TestPlatform(FixedClock, CountedEntropy);

impl Clock for TestPlatform {
    fn now_ms(&self) -> u64 {
        self.0.now_ms()
    }
}

impl Entropy for TestPlatform {
    fn fill(&self, bytes: &mut [u8]) {
        self.1.fill(bytes);
    }
}

impl TimeZones for TestPlatform {
    fn utc_offset(&self, zone: &str, seconds: i64) -> Option<i32> {
        Zones.utc_offset(zone, seconds)
    }
}

/// A simulated person at a terminal, who confirms or refuses questions.
#[derive(Default)]
struct Person {
    refuses: Cell<bool>,
    asked: RefCell<Vec<String>>,
    input: RefCell<Vec<u8>>,
}

impl Host for Person {
    async fn person(&self) -> Result<String, Aborted> {
        Ok("Ada".to_owned())
    }

    async fn confirm(&self, question: &Question) -> Result<(), Aborted> {
        self.asked.borrow_mut().push(question.in_words("memory"));
        if self.refuses.get() { Err(Aborted) } else { Ok(()) }
    }

    async fn read(&self, _: &str) -> Result<Vec<u8>, Aborted> {
        Ok(self.input.borrow().clone())
    }

    async fn create(&self, _: Option<&str>) -> Result<(), Aborted> {
        Ok(())
    }

    async fn write(&self, _: &str) -> Result<(), Aborted> {
        Ok(())
    }

    fn note(&self, _: &str) {}

    async fn open_queue(&self) -> Result<(), Aborted> {
        Ok(())
    }
}

impl Outbox for Person {
    fn put<'m>(&'m self, _: &'m Message) -> PutFuture<'m> {
        Box::pin(async { true })
    }
}

struct Place {
    store: MemoryStore,
    ledger: SqliteLedger,
    platform: TestPlatform,
    person: Person,
}

struct InMemory;

impl Ports for InMemory {
    type Store = MemoryStore;
    type Platform = TestPlatform;
    type Host = Person;
}

impl Place {
    fn new() -> Self {
        Place {
            store: MemoryStore::default(),
            ledger: SqliteLedger::default(),
            platform: TestPlatform(FixedClock(Cell::new(NOW_MS)), CountedEntropy::default()),
            person: Person::default(),
        }
    }

    fn run(
        &self,
        operation: Operation,
        id: Option<&str>,
        arguments: Value,
    ) -> Result<Answer, Failure> {
        let Value::Object(arguments) = arguments else { panic!() };
        let call: Call<'_, InMemory> = Call {
            store: &self.store,
            ledger: &self.ledger,
            platform: &self.platform,
            host: &self.person,
            memberships: None,
            operation: id.map(|id| OperationId::parse(id).unwrap()),
            rounds: &QueuedRounds::default(),
            rest: "",
        };
        block_on(operation.run(&call, arguments))
    }
}

fn data(answer: &Answer) -> Value {
    serde_json::from_str(&answer.data).unwrap()
}

#[test]
fn a_key_that_is_made_twice_by_one_id_is_one_key_whose_secret_is_shown_once() {
    let place = Place::new();
    let create = |id| {
        let arguments = json!({ "mode": "test", "unit": "shop" });
        place.run(Operation::KeysCreate, Some(id), arguments).unwrap()
    };
    let first = create("first");
    let key = data(&first)["key"].as_str().unwrap().to_owned();
    assert!(first.text.contains(&format!(" {key}\n")) && first.exit_code == 0);
    let again = create("first");
    assert_eq!(again.exit_code, 1);
    assert!(again.text.contains("already created and was shown only once"), "{}", again.text);
    assert!(!again.data.contains(&key) && data(&again)["alreadyDone"].is_string());
    assert_eq!(data(&again)["id"], data(&first)["id"]);
    assert_eq!(place.person.asked.borrow().len(), 1, "it is confirmed once");
    assert_ne!(data(&create("second"))["id"], data(&first)["id"]);
    let listed = place.run(Operation::KeysList, None, json!({})).unwrap();
    assert_eq!(data(&listed)["keys"].as_array().unwrap().len(), 2);
}

#[test]
fn a_change_without_confirmation_is_not_made() {
    let place = Place::new();
    place.run(Operation::KeysCreate, None, json!({ "mode": "live", "unit": "shop" })).unwrap();
    *place.person.input.borrow_mut() =
        br#"{ "currencyCode": "USD", "unitPrices": { "tree": "0.50" } }"#.to_vec();
    place.run(Operation::PricesSet, None, json!({ "file": "-" })).unwrap();
    *place.person.input.borrow_mut() = br#"{ "currencyCode": "GBP", "unitPrices": {} }"#.to_vec();
    place.run(Operation::PricesSet, None, json!({ "file": "-", "unit": "shop" })).unwrap();
    *place.person.input.borrow_mut() = br#"{ "currencyCode": "EUR", "unitPrices": {} }"#.to_vec();
    place.person.refuses.set(true);
    let names = place.store.names();
    let id =
        data(&place.run(Operation::KeysList, None, json!({})).unwrap())["keys"][0]["id"].clone();
    for (operation, arguments) in [
        (Operation::KeysCreate, json!({ "mode": "live", "unit": "shpo" })),
        (Operation::KeysRevoke, json!({ "id": id })),
        (Operation::PricesSet, json!({ "file": "-" })),
        (Operation::PricesSet, json!({ "file": "-", "unit": "shpo" })),
        (Operation::PricesSet, json!({ "file": "-", "unit": "shop", "mode": "live" })),
        (Operation::PricesRemove, json!({ "unit": "shop" })),
        (Operation::UnitsSet, json!({ "unit": "other", "name": "Other" })),
        (Operation::TeamsAdd, json!({ "team": "t", "unit": ["other"] })),
        (Operation::LedgerRebuild, json!({})),
        (Operation::LedgerKeepFrom, json!({ "month": "2026-01" })),
        (Operation::LedgerAcceptLoss, json!({})),
    ] {
        let before = place.person.asked.borrow().len();
        assert_eq!(place.run(operation, None, arguments), Err(Failure::Aborted), "{operation:?}");
        assert_eq!(place.person.asked.borrow().len(), before + 1, "{operation:?}");
        assert!(operation.spec().confirms);
    }
    assert_eq!(place.store.names(), names);
}

#[test]
fn a_change_that_would_be_refused_is_refused_before_anybody_is_asked() {
    let place = Place::new();
    let done = |month: &str, quantity: &str| json!({ "month": month, "offering": "tree", "quantity": quantity, "mode": "live", "done-on": "2026-01-05" });
    for (operation, arguments, problem) in [
        (Operation::FulfilmentsAdd, done("2099-01", "5"), "has not begun yet"),
        (Operation::FulfilmentsAdd, done("2026-01", "none"), "must be a number above 0"),
        (
            Operation::PeopleAdd,
            json!({ "address": "ada@", "unit": "shop", "role": "viewer" }),
            "not an e-mail address",
        ),
        (
            Operation::KeysCreate,
            json!({ "mode": "test", "unit": "shop", "label": "x".repeat(1_000) }),
            "label",
        ),
    ] {
        let refused = place.run(operation, None, arguments).unwrap_err();
        assert!(refused.reason().contains(problem), "{operation:?}: {}", refused.reason());
        assert_eq!(*place.person.asked.borrow(), [""; 0], "{operation:?}");
    }
}

#[test]
fn what_is_asked_of_a_shop_that_is_not_registered_says_so_and_suggests_a_similar_one() {
    let place = Place::new();
    place.run(Operation::UnitsAdd, None, json!({ "unit": ["unit_1"] })).unwrap();
    place.run(Operation::KeysCreate, None, json!({ "mode": "live", "unit": "unit_1" })).unwrap();
    let month = "2026-01";
    for (operation, more) in [
        (Operation::TransactionsList, json!({ "limit": "50" })),
        (Operation::TransactionsFind, json!({ "reference": "1053" })),
        (Operation::TransactionsFind, json!({ "email": "ada@example.org" })),
        (Operation::TransactionsUsage, json!({})),
        (Operation::TransactionsQuantities, json!({ "month": month, "mode": "live" })),
        (Operation::TransactionsExport, json!({ "month": month, "mode": "live" })),
        (Operation::PaymentsDue, json!({ "mode": "live", "state": "open" })),
        (Operation::PaymentsStatement, json!({ "month": month, "mode": "live" })),
        (Operation::PaymentsList, json!({})),
        (Operation::KeysList, json!({ "sort": "id" })),
        (Operation::PeopleList, json!({})),
        (Operation::PricesShow, json!({})),
        (Operation::PricesHistory, json!({})),
    ] {
        let of = |unit: &str| {
            let Value::Object(mut arguments) = more.clone() else { panic!() };
            arguments.insert("unit".to_owned(), json!(unit));
            place.run(operation, None, Value::Object(arguments))
        };
        let refused = of("uint_1").unwrap_err().reason();
        let expected = "the unit `uint_1` (similar: `unit_1`) is not registered";
        assert_eq!(refused, expected, "{operation:?}");
        assert_eq!(of("unit_1").map(|answer| answer.exit_code), Ok(0), "{operation:?}");
    }
    for operation in [Operation::TransactionsFind, Operation::TransactionsErase] {
        let refused = place.run(operation, None, json!({ "email": "ada.example.org" }));
        let reason = refused.unwrap_err().reason();
        assert_eq!(reason, "`ada.example.org` is not an e-mail address", "{operation:?}");
    }
}

#[test]
fn a_refusal_names_the_wrong_argument_and_says_whether_the_command_line_is_wrong() {
    let place = Place::new();
    for (operation, arguments, is_usage, expected) in [
        (Operation::LedgerKeepFrom, json!({ "month": "soon" }), true, ["month", "invalid"]),
        (Operation::KeysCreate, json!({ "unit": "u" }), true, ["mode", "required"]),
        (
            Operation::CreditsAdd,
            json!({ "id": "x", "reason": "r", "quantity": ["tree=1"] }),
            true,
            ["amount", "required"],
        ),
        (Operation::KeysRevoke, json!({ "id": "soon" }), false, ["id", "invalid"]),
        (Operation::TeamsAdd, json!({ "team": "a:b", "unit": ["u"] }), false, ["team", "invalid"]),
        (Operation::TeamsAdd, json!({ "team": "t", "unit": ["a b"] }), false, ["unit", "invalid"]),
        (Operation::UnitsAdd, json!({ "unit": ["a b"] }), false, ["unit", "invalid"]),
    ] {
        let failure = place.run(operation, None, arguments).unwrap_err();
        let refused = match &failure {
            Failure::Usage(refused) if is_usage => refused,
            Failure::Operator(OperatorError::Invalid(refused)) if !is_usage => refused,
            failure => panic!("{operation:?}: {failure:?}"),
        };
        let refused = serde_json::to_value(refused).unwrap();
        let message = failure.reason();
        let expected = json!({ "field": expected[0], "code": expected[1], "message": message });
        assert_eq!(refused, expected, "{operation:?}");
    }
}

// ---- Text ----------------------------------------------------------------------------------------

/// A list is one value for pages, commands and files.
#[test]
fn columns_are_as_wide_as_their_characters_and_no_cell_controls_the_terminal_or_is_a_formula() {
    let rows = [("é", "1.50"), ("\u{1b}[2J\n\u{202e}", "0.00"), ("=1+1", "-2.00")];
    let columns: [Column<'_, (&str, &str)>; 2] = [
        ("Name", &|(name, _)| Fact::words(name)),
        ("To be done", &|(_, number)| Fact::some(number)),
    ];
    let list = Listing::new(rows, "None yet.", &columns);
    assert_eq!(
        list.in_lines(),
        "NAME    TO BE DONE\né       1.50\n\u{fffd}[2J\u{fffd}\u{fffd}\n=1+1    -2.00"
    );
    let file =
        "\u{feff}name,to_be_done\r\né,1.50\r\n\u{fffd}[2J\u{fffd}\u{fffd},0.00\r\n'=1+1,-2.00\r\n";
    assert_eq!(list.csv(), file);
    assert_eq!(list.without(&["To be done", "Name"]).in_lines(), "\n\n\n");
    let empty = Listing::new([], "None yet.", &columns);
    assert_eq!(
        (empty.in_lines(), empty.csv()),
        ("None yet.".to_owned(), "\u{feff}name,to_be_done\r\n".to_owned())
    );
    let rows = [("ID", Some("1".to_owned())), ("None", None), ("Empty", Some(String::new()))];
    assert_eq!(facts(rows), "ID  1");
}
