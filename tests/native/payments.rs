//! Tests months that are marked as paid: their settlement records, and what the API then returns.

use futures_executor::block_on;
use futures_util::future::{FutureExt as _, join_all};
use impact_pledge::office::system::rows::kept;
use impact_pledge::office::system::rule::adopt::adopt;
use impact_pledge::pledges::http::Request as _;

use impact_pledge::office::orders::rule as transactions;
use impact_pledge::office::payments::rule as payments;
use impact_pledge::office::payments::rule::Payment;
use impact_pledge::office::shared::rows::port::Unbound;
use impact_pledge::office::shared::rule::error::OperatorError;
use impact_pledge::office::shared::rule::operation_id::OperationId;
use impact_pledge::pledges::scope::Mode;
use impact_pledge::pledges::service::{RequestLog, Service};
use impact_pledge::pledges::settlement::{Month, ScopeMonth};
use impact_pledge::pledges::store::{Key, Store, StoreError, Stored};
use serde_json::{Value, json};
use support::ledger::SqliteLedger;
use support::memory::MemoryStore;
use support::service::{
    Answer, CountedEntropy, LIVE_UNIT, NOW_MS, ORIGIN, PATH, TestOperator, TestRequest,
    TestService, UNIT, answer, changes, minimal, repeatable, seeded, test_operator,
};
use support::stores::scope;

/// 2026-02-02T00:00:00Z: from this time on, the payments of January can be settled.
const ENDED_MS: u64 = 1_769_990_400_000;
const JANUARY: &str = "settlement:test:unit_dev:2026-01";
const PAID_AT: &str = "2026-02-01T09:30:00.000Z";

/// A service, its operator and a ledger. The store has one transaction, created in January. January ended a
/// day ago.
struct Bench {
    service: TestService<MemoryStore>,
    test_operator: TestOperator<CountedEntropy>,
    ledger: SqliteLedger,
    created: Answer,
}

fn bench() -> Bench {
    let (service, test_operator) = (seeded(), test_operator());
    let mut order = minimal();
    order["reference"] = json!(r#"","paidAt":null,"x":""#);
    let created = service.send(&repeatable(&order));
    service.clock.0.set(ENDED_MS);
    test_operator.clock.0.set(ENDED_MS);
    Bench { service, test_operator, ledger: SqliteLedger::default(), created }
}

impl Bench {
    fn id(&self) -> String {
        self.created.json()["id"].as_str().unwrap().to_owned()
    }

    fn get(&self) -> Answer {
        self.service.send(&TestRequest::new("GET", &format!("{PATH}/{}", self.id()), UNIT))
    }

    /// Changes the metadata so that the record counts as too large to be read whole.
    fn say_large(&self) {
        let (store, name) = (&self.service.store, format!("transaction:{}", self.id()));
        let mut metadata = store.metadata(&name).remove(0);
        metadata["bytes"] = json!(1_000_000);
        let value = store.value(&name).unwrap();
        store.keep(&name, value.as_bytes(), metadata.to_string().as_bytes());
    }

    fn keep_settlement(&self, value: &str) {
        self.service.store.keep(JANUARY, value.as_bytes(), b"null");
    }

    /// Runs a reconciliation pass.
    fn reconcile(&self) {
        self.ledger.reconcile(&*self.service.store, self.test_operator.clock.0.get());
    }

    /// Marks a month as paid, after a reconciliation pass.
    fn mark(&self, changed: &Value) -> Result<Value, OperatorError> {
        self.reconcile();
        self.mark_now(changed)
    }

    fn mark_now(&self, changed: &Value) -> Result<Value, OperatorError> {
        let (author, payment) = (self.test_operator.author(), payment(changed));
        block_on(payments::mark(&*self.service.store, &self.ledger, &author, &payment))
            .map(|paid| json!(paid.outcome))
    }

    fn undo(&self) -> Result<Value, OperatorError> {
        let (store, author) = (&*self.service.store, self.test_operator.author());
        block_on(payments::undo(store, &self.ledger, &author, &january(), None))
            .map(|paid| json!(paid.outcome))
    }

    fn audited(&self) -> Vec<(String, Vec<String>)> {
        let changes = changes(&*self.service.store, &self.ledger);
        changes.into_iter().map(|change| (change.command, change.on)).collect()
    }
}

fn settlement(paid_at: &str) -> String {
    json!({ "paidAt": paid_at, "later": [null], "sums": "later", "version": 2 }).to_string()
}

fn january() -> ScopeMonth {
    let month = Month::parse("2026-01").unwrap();
    ScopeMonth { scope: scope("unit_dev", Mode::Test), month }
}

/// Returns the payment of January, with some members changed.
fn payment(changed: &Value) -> Payment {
    let mut payment = json!({
        "of": { "unit": "unit_dev", "mode": "test", "month": "2026-01" },
        "amounts": [{ "amount": "1.50" }],
        "paidAt": PAID_AT,
        "invoice": "2026/17",
        "acceptUnpriced": 0,
    });
    for (pointer, value) in changed.as_object().unwrap() {
        *payment.pointer_mut(pointer).unwrap() = value.clone();
    }
    serde_json::from_value(payment).unwrap()
}

// ---- What is answered ----------------------------------------------------------------------------

#[test]
fn what_is_paid_is_answered_so_once_its_month_has_ended_and_a_create_and_the_page_say_nothing() {
    let bench = bench();
    let page = bench.created.json()["timelineUrl"].as_str().unwrap().replace(ORIGIN, "");
    let page = || bench.service.isolate().send(&TestRequest::new("GET", &page, "")).text;
    let (unpaid, shown) = (bench.get(), page());
    bench.keep_settlement(&settlement(PAID_AT));
    assert_eq!(bench.get().text, unpaid.text, "for ten seconds");
    bench.service.clock.0.set(ENDED_MS + 10_000);
    let paid = bench.get();
    assert_eq!((paid.status, &paid.headers), (200, &unpaid.headers));
    assert_eq!(paid.json()["charge"]["paidAt"], PAID_AT);
    let null = r#""paidAt":null}"#;
    bench.say_large();
    assert_eq!(bench.get().text, paid.text, "a large record is passed on");
    assert_eq!(paid.text, unpaid.text.replace(null, &format!(r#""paidAt":"{PAID_AT}"}}"#)));
    let mut order = minimal();
    order["reference"] = unpaid.json()["reference"].clone();
    let repeat = bench.service.isolate().send(&repeatable(&order));
    assert_eq!((repeat.status, &repeat.text), (200, &bench.created.text));
    assert_eq!(page(), shown);
    bench.service.store.remove(JANUARY);
    assert_eq!(bench.service.isolate().get(UNIT, &bench.id()).text, unpaid.text);
}

#[test]
fn nothing_is_read_for_a_month_that_goes_on_and_for_another_shop_than_the_caller() {
    let bench = bench();
    bench.keep_settlement(&settlement(PAID_AT));
    let is_read = |key: &str, at_ms: u64| {
        let isolate = bench.service.isolate();
        isolate.clock.0.set(at_ms);
        bench.service.store.take_reads();
        isolate.get(key, &bench.id());
        bench.service.store.take_reads().iter().any(|name| name.starts_with("settlement:"))
    };
    assert!(!is_read(UNIT, NOW_MS) && !is_read(UNIT, ENDED_MS - 1));
    assert!(is_read(UNIT, ENDED_MS));
    assert!(!is_read("service_sk_test_dev_unit_two", ENDED_MS), "the other unit's is not found");
    assert!(!is_read(LIVE_UNIT, ENDED_MS), "nor the other mode's");
}

/// If the service cannot read whether a month was paid, it answers with an error. It must not answer `null`,
/// which would mean unpaid.
#[test]
fn a_settlement_that_cannot_be_read_is_no_answer() {
    let bench = bench();
    bench.service.store.set_failing(Some("settlement:"));
    let failed = bench.get();
    assert_eq!((failed.status, &failed.json()["error"]), (503, &json!("Service unavailable")));
    assert_eq!((&failed.json()["isLive"], &*failed.headers["retry-after"]), (&json!(false), "1"));
    bench.service.store.set_failing(None);
    assert_eq!(bench.get().json()["charge"]["paidAt"], json!(null), "a failure is not kept");
    for damaged in ["", "null", "{}", r#"{"paidAt":null}"#, r#"{"paidAt":"canary"}"#] {
        bench.keep_settlement(damaged);
        let answer = bench.service.isolate().get(UNIT, &bench.id());
        assert_eq!(answer.status, 500, "{damaged}");
        let log = answer.log.unwrap();
        assert!(log.contains("the stored settlement is damaged") && !log.contains("canary"));
    }
}

#[test]
fn an_erased_transaction_and_one_without_a_price_are_paid_with_their_month() {
    let bench = bench();
    let mut free = minimal();
    free["pledges"][0]["impact"]["offeringId"] = json!("new");
    bench.service.clock.0.set(NOW_MS);
    let free = bench.service.create(UNIT, &free).json()["id"].as_str().unwrap().to_owned();
    bench.service.clock.0.set(ENDED_MS);
    bench.mark(&json!({ "/acceptUnpriced": 1 })).unwrap();
    let record = block_on(transactions::get(&*bench.service.store, &bench.id())).unwrap();
    block_on(transactions::erase(
        &*bench.service.store,
        &SqliteLedger::default(),
        &bench.test_operator.author(),
        &record,
    ))
    .unwrap();
    let erased = bench.get().json();
    assert_eq!(
        (&erased["reference"], &erased["charge"]["paidAt"]),
        (&json!("erased"), &json!(PAID_AT))
    );
    assert_eq!(bench.service.get(UNIT, &free).json()["charge"]["paidAt"], PAID_AT);
}

// ---- A crowd -------------------------------------------------------------------------------------

/// A store that answers after all other futures have run.
struct Late<'s>(&'s MemoryStore, &'s TestRequest);

impl Store for Late<'_> {
    type Value = Vec<u8>;

    async fn get<K: Key>(
        &self,
        key: &K,
    ) -> Result<Option<Stored<Vec<u8>, K::Metadata>>, StoreError> {
        self.1.pause(1).await;
        let found = self.0.get(key).await;
        self.1.pause(1).await;
        found
    }

    async fn put<K: Key>(
        &self,
        key: &K,
        value: Vec<u8>,
        metadata: &K::Metadata,
    ) -> Result<(), StoreError> {
        self.0.put(key, value, metadata).await
    }
}

/// Returns the status and text of a get over a slow store.
async fn serve(bench: &Bench, isolate: &TestService<MemoryStore>) -> (u16, String) {
    let TestService { clock, entropy, timelines, caches, settings, .. } = isolate;
    let request = TestRequest::new("GET", &format!("{PATH}/{}", bench.id()), UNIT);
    let store = &Late(&bench.service.store, &request);
    let request_log = RequestLog::default();
    let service = Service {
        store,
        clock,
        entropy,
        recipients: timelines,
        caches,
        settings,
        outbox: None,
        ledger: None,
        request_log,
    };
    let answer = answer(service.handle(&request).await);
    (answer.status, answer.text)
}

/// Sends concurrent get requests. Returns their distinct answers, and how often a settlement was read.
fn crowd(bench: &Bench, isolate: &TestService<MemoryStore>) -> (Vec<(u16, String)>, usize) {
    bench.service.store.take_reads();
    let mut answers = block_on(join_all((0..200).map(|_| serve(bench, isolate))));
    answers.sort();
    answers.dedup();
    let reads = bench.service.store.take_reads();
    (answers, reads.iter().filter(|name| *name == JANUARY).count())
}

#[test]
fn a_crowd_reads_a_settlement_once_in_ten_seconds_and_shares_a_failure() {
    let bench = bench();
    bench.keep_settlement(&settlement(PAID_AT));
    let isolate = bench.service.isolate();
    bench.service.store.set_failing(Some("settlement:"));
    let (answers, reads) = crowd(&bench, &isolate);
    assert!(answers.iter().all(|(status, _)| *status == 503) && reads == 1, "{reads} reads");
    bench.service.store.set_failing(None);
    let paid = bench.get().text;
    for (at_ms, reads) in [(0, 1), (9_999, 0), (10_000, 1)] {
        isolate.clock.0.set(ENDED_MS + at_ms);
        assert_eq!(crowd(&bench, &isolate), (vec![(200, paid.clone())], reads), "{at_ms}");
    }
}

#[test]
fn a_read_whose_caller_hung_up_fails_no_other_request() {
    let bench = bench();
    bench.keep_settlement(&settlement(PAID_AT));
    let isolate = bench.service.isolate();
    let mut cut = Box::pin(serve(&bench, &isolate));
    while !bench.service.store.take_reads().contains(&JANUARY.to_owned()) {
        assert_eq!(cut.as_mut().now_or_never(), None);
    }
    drop(cut);
    let paid = bench.get().text;
    assert_eq!(crowd(&bench, &isolate).0, [(200, paid)]);
}

// ---- What is marked ------------------------------------------------------------------------------

#[test]
fn a_mark_is_one_record_and_an_undo_removes_it_and_the_record_of_changes_keeps_both() {
    let bench = bench();
    let paid = bench.mark(&json!({})).unwrap();
    let stored: Value = serde_json::from_str(&bench.service.store.value(JANUARY).unwrap()).unwrap();
    let sum = json!({ "currencyCode": "USD", "amount": "1.50", "transactions": 1, "unpriced": 0 });
    let at = "2026-02-02T00:00:00.000Z";
    let change = stored["change"].as_str().unwrap();
    let of_change = format!("SELECT content FROM audit WHERE name = '{change}'");
    assert!(bench.ledger.sql(&of_change)[0].contains("payments mark"));
    let settlement = json!({ "paidAt": PAID_AT, "sums": [sum], "invoice": "2026/17",
        "by": "ada@example.org", "at": at, "version": 1, "change": change });
    assert_eq!(stored, settlement);
    let mut expected = settlement;
    expected.as_object_mut().unwrap().retain(|name, _| name != "version" && name != "change");
    for (name, value) in [("unit", "unit_dev"), ("mode", "test"), ("month", "2026-01")] {
        expected[name] = json!(value);
    }
    assert_eq!(paid, expected);
    let listed = |mode| block_on(payments::list(&bench.ledger, "unit_dev", mode)).unwrap();
    assert_eq!(json!(listed(None)), json!([expected]));
    assert_eq!(listed(Some(Mode::Live)), []);
    assert_eq!(bench.get().json()["charge"]["paidAt"], PAID_AT);

    bench.test_operator.clock.0.set(ENDED_MS + 1);
    assert_eq!(bench.undo().unwrap(), expected);
    assert_eq!(bench.service.store.copy(JANUARY), None);
    let marked =
        format!("1.50 USD paid on {PAID_AT}, invoice 2026/17, marked by ada@example.org on {at}");
    let change = |command: &str| (command.to_owned(), vec![JANUARY.to_owned(), marked.clone()]);
    assert_eq!(bench.audited(), [change("payments undo"), change("payments mark")]);
    let again = bench.undo().unwrap_err().to_string();
    assert_eq!(
        again,
        "nothing was undone: 2026-01 of the unit `unit_dev` (test) is not marked as paid: \
         ada@example.org marked the month as unpaid at 2026-02-02T00:00:00.001Z"
    );
}

/// Another operator's clock is minutes slow. This operator makes a change after a form was opened, but the
/// change has an earlier time than the form. The form is nevertheless refused.
#[test]
fn a_form_is_not_taken_over_a_change_by_a_clock_that_is_late() {
    const MINUTE_MS: u64 = 60_000;
    const MADE_MS: u64 = ENDED_MS + 10 * MINUTE_MS;
    let bench = bench();
    let store = &*bench.service.store;
    let at = |ms: u64| bench.test_operator.clock.0.set(ms);
    at(MADE_MS);
    bench.reconcile();
    let form = OperationId::new(&bench.test_operator.clock, &bench.test_operator.entropy);
    let form = OperationId::parse(form.as_str()).unwrap(); // as the form sends it
    let send = || {
        let author = bench.test_operator.author().with_operation(form.clone());
        block_on(payments::mark(store, &bench.ledger, &author, &payment(&json!({}))))
            .map_err(|error| error.to_string())
    };
    at(MADE_MS - 3 * MINUTE_MS);
    bench.mark_now(&json!({})).unwrap();
    at(MADE_MS);
    let problem = send().unwrap_err();
    assert!(problem.contains("is already marked as paid: 1.50 USD"), "{problem}");
    at(MADE_MS + MINUTE_MS);
    bench.undo().unwrap();
    at(MADE_MS + 50 * MINUTE_MS);
    let problem = send().unwrap_err();
    let undone = "was changed after this form was opened (ada@example.org marked the month as unpaid at \
        2026-02-02T00:11:00.000Z). Check the month, and begin again";
    assert!(problem.contains(undone), "{problem}");
    bench.ledger.sql(&format!("UPDATE published SET at = {}", MADE_MS - 1));
    send().unwrap(); // an undo before the form was opened does not matter
}

#[test]
fn an_amount_that_differs_from_the_months_sum_is_refused() {
    let bench = bench();
    let mut free = minimal();
    free["pledges"][0]["impact"]["offeringId"] = json!("new");
    bench.service.clock.0.set(NOW_MS);
    let free = bench.service.create(UNIT, &free).json()["id"].as_str().unwrap().to_owned();
    let unpriced = |accepted: usize| {
        format!(
            "has 1 unpriced pledge, for example in {free}, charged 0.00. You accepted {accepted}: check \
             the usage, then accept 1"
        )
    };
    let amounts = |amounts: &[&str]| {
        let stated = amounts.iter().map(|text| match text.split_once(' ') {
            Some((amount, code)) => json!({ "amount": amount, "currencyCode": code }),
            None => json!({ "amount": text }),
        });
        json!({ "/amounts": stated.collect::<Vec<_>>(), "/acceptUnpriced": 1 })
    };
    for (changed, problem) in [
        (amounts(&["1.5", "0 EUR"]), "has a sum of 1.50 USD, not of 0.00 EUR and 1.50 USD"),
        (amounts(&["1.51"]), "has a sum of 1.50 USD, not of 1.51 USD"),
        (amounts(&["1.50 EUR"]), "has a sum of 1.50 USD, not of 1.50 EUR"),
        (amounts(&["0.75", "0.75"]), "has a sum of 1.50 USD, not of 0.75 USD and 0.75 USD"),
        (amounts(&["1.501"]), "needs an amount such as `1234.50`, not `1.501`"),
        (amounts(&["-1.50"]), "needs an amount such as `1234.50`, not `-1.50`"),
        (amounts(&["1.5e0"]), "needs an amount such as `1234.50`, not `1.5e0`"),
        (json!({}), &unpriced(0)),
        (json!({ "/acceptUnpriced": 2 }), &unpriced(2)),
        (
            json!({ "/of/month": "2026-02" }),
            "cannot be marked before 2026-03-02T00:00:00.000Z, which is 24 hours after the month's end in UTC",
        ),
        (json!({ "/of/month": "2025-12" }), "has no transactions"),
        (json!({ "/of/unit": "unit_de" }), "has no transactions"),
        (json!({ "/of/mode": "live" }), "has no transactions"),
        (
            json!({ "/paidAt": "2026-02-02T00:00:00.001Z" }),
            "has the payment date 2026-02-02T00:00:00.001Z, which is in the future",
        ),
        (
            json!({ "/invoice": "" }),
            "needs the number of an invoice: one line of 1 to 80 bytes, without invisible characters",
        ),
        (
            json!({ "/invoice": "1\n2" }),
            "needs the number of an invoice: one line of 1 to 80 bytes, without invisible characters",
        ),
    ] {
        let before = bench.service.store.names();
        let error = bench.mark(&changed).unwrap_err().to_string();
        let of = payment(&changed).of;
        let of = format!("{} of the unit `{}` ({})", of.month, of.scope.unit, of.scope.mode.name());
        assert_eq!(error, format!("nothing was marked: {of} {problem}"));
        assert_eq!(bench.service.store.names(), before);
    }
    bench.mark(&amounts(&["01.5 USD"])).unwrap();
    let error = bench.mark(&amounts(&["1.50"])).unwrap_err().to_string();
    let there = format!(
        "is already marked as paid: 1.50 USD paid on {PAID_AT}, invoice 2026/17, marked by ada"
    );
    assert!(error.contains(&there), "{error}");
    assert_eq!(bench.audited().len(), 1);
}

/// After a rollback, a settlement may have a sum in a currency that only the later release knows.
#[test]
fn a_sum_in_a_currency_that_this_release_does_not_know_has_to_be_paid_as_well() {
    let bench = bench();
    bench.service.clock.0.set(NOW_MS);
    bench.service.create(UNIT, &minimal());
    bench.reconcile();
    let one =
        "UPDATE transactions SET currency = 'XYZ' WHERE id = (SELECT max(id) FROM transactions)";
    bench.ledger.sql(one);
    let of = "nothing was marked: 2026-01 of the unit `unit_dev` (test)";
    for (amounts, paid) in [
        (json!([{ "amount": "1.50", "currencyCode": "USD" }]), "1.50 USD"),
        (json!([{ "amount": "3.00", "currencyCode": "USD" }]), "3.00 USD"),
    ] {
        let error = bench.mark_now(&json!({ "/amounts": amounts })).unwrap_err().to_string();
        assert_eq!(error, format!("{of} has a sum of 1.50 USD and 1.50 XYZ, not of {paid}"));
    }
}

/// A transaction may reach the ledger late, and a record may be damaged. A payment covers only what the ledger
/// has, and states what is missing.
#[test]
fn a_mark_is_of_all_that_the_ledger_has_and_says_what_it_has_not() {
    let bench = bench();
    bench.reconcile();
    bench.service.clock.0.set(NOW_MS);
    bench.service.create(UNIT, &minimal());
    let late = bench.service.create(UNIT, &minimal()).json()["id"].as_str().unwrap().to_owned();
    bench.service.create(LIVE_UNIT, &minimal());
    let store = &*bench.service.store;
    for name in store.names().iter().filter(|name| name.starts_with("transaction:")) {
        let metadata = &store.metadata(name)[0];
        if metadata["mode"] == "live" || name.ends_with(&late) {
            store.keep(name, b"{}", metadata.to_string().replace("1.50", "many").as_bytes());
        }
    }
    assert!(bench.mark(&json!({})).unwrap_err().to_string().contains("has a sum of 3.00 USD"));
    let both = json!({ "/amounts": [{ "amount": "3" }] });
    let (author, paid) = (bench.test_operator.author(), payment(&both));
    let check = payments::check(store, &bench.ledger, &author, &paid);
    let damaged = json!({ "count": 1, "first": format!("transaction:{late}") });
    assert_eq!(json!(block_on(check).unwrap())["damaged"], damaged);
    bench.mark(&both).unwrap();
    let record = store.value(JANUARY);
    bench.service.clock.0.set(NOW_MS);
    bench.service.create(UNIT, &minimal());
    let again = bench.mark(&both).unwrap_err().to_string();
    assert!(again.contains("is already marked as paid: 3.00 USD"), "{again}");
    assert_eq!(store.value(JANUARY), record);
    bench.undo().unwrap();
    assert!(bench.mark(&both).unwrap_err().to_string().contains("has a sum of 4.50 USD"));
}

#[test]
fn a_month_is_marked_once_the_ledger_is_complete_beyond_its_end() {
    const END_MS: u64 = ENDED_MS - 24 * 60 * 60_000;
    let bench = bench();
    let store = &*bench.service.store;
    let not_yet = |words: &str, hours: u64| {
        let error = bench.mark_now(&json!({})).unwrap_err().to_string();
        let expected = format!(
            "nothing was marked: 2026-01 of the unit `unit_dev` (test) cannot be marked yet: {words}, and the month \
            ended at 2026-02-01T00:00:00.000Z. The next reconciliation pass begins within {hours} h; the command \
            `ledger check` makes one now"
        );
        assert_eq!(error, expected);
        assert_eq!((bench.audited(), store.value(JANUARY)), (vec![], None));
    };
    not_yet("the ledger has not been compared with all records yet", 1);
    bench.ledger.reconcile(store, END_MS + 2 * 60_000 - 1);
    not_yet("the ledger is complete only up to 2026-01-31T23:59:59.999Z", 1);
    bench.ledger.sql("UPDATE reconciliation SET last_listed = 100000");
    not_yet("the ledger is complete only up to 2026-01-31T23:59:59.999Z", 24);
    bench.ledger.reconcile(store, END_MS + 2 * 60_000);
    bench.mark_now(&json!({})).unwrap();
}

#[test]
fn a_month_that_the_ledger_does_not_keep_is_not_marked() {
    let bench = bench();
    let february = Month::parse("2026-02");
    block_on(kept::keep_from(&bench.ledger, february)).unwrap();
    let error = bench.mark(&json!({})).unwrap_err().to_string();
    let why = "cannot be marked: the ledger keeps only transactions from 2026-02-01T00:00:00.000Z on. The command \
               `ledger keep-from 2026-01` brings this month back";
    assert_eq!(error, format!("nothing was marked: 2026-01 of the unit `unit_dev` (test) {why}"));
    block_on(kept::keep_from(&bench.ledger, None)).unwrap();
    bench.mark(&json!({})).unwrap();
}

#[test]
fn without_a_database_no_month_is_marked_as_paid_or_as_unpaid() {
    let bench = bench();
    let (store, author) = (&*bench.service.store, bench.test_operator.author());
    let error =
        block_on(payments::mark(store, &Unbound, &author, &payment(&json!({})))).unwrap_err();
    assert!(error.to_string().starts_with("this needs the ledger"), "{error}");
    assert_eq!(bench.audited(), []);
    bench.mark(&json!({})).unwrap();
    assert_eq!(block_on(payments::list(&bench.ledger, "unit_dev", None)).unwrap().len(), 1);
    let error = block_on(payments::undo(store, &Unbound, &author, &january(), None)).unwrap_err();
    assert!(error.to_string().starts_with("this needs the ledger"), "{error}");
    assert!(store.value(JANUARY).is_some());
}

/// The list of one shop's settlements never contains settlements of another shop, even if the IDs of the two
/// shops begin in the same way.
#[test]
fn months_are_listed_a_shop_at_a_time() {
    let store = MemoryStore::default();
    let record = |number: usize| {
        json!({ "paidAt": PAID_AT, "sums": [], "invoice": number.to_string(), "by": "ada", "at": PAID_AT,
            "version": 1 })
        .to_string()
    };
    for number in 0..250 {
        let name = format!("settlement:live:a:{}-{:02}", 2000 + number / 12, 1 + number % 12);
        store.keep(&name, record(number).as_bytes(), b"null");
    }
    for other in ["live:a:b:2026-01", "live:ab:2026-01", "live:a:later", "test:b:2026-01"] {
        store.keep(&format!("settlement:{other}"), record(999).as_bytes(), b"null");
    }
    let ledger = SqliteLedger::default();
    block_on(adopt(&store, &ledger, NOW_MS)).unwrap();
    let listed = block_on(payments::list(&ledger, "a", None)).unwrap();
    let invoices: Vec<_> = listed.iter().map(|paid| paid.settlement.invoice.clone()).collect();
    assert_eq!(invoices, (0..250).map(|number| number.to_string()).collect::<Vec<_>>());
}
