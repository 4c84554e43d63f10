//! Tests credits: the rules of the request, what is recorded, and what an erasure leaves.

use futures_executor::block_on;
use impact_pledge::office::credits::rows as credits_credits;

use impact_pledge::office::credits::rule as credits;
use impact_pledge::office::credits::rule::{Credit, CreditRequest};
use impact_pledge::office::orders::rule as transactions;
use impact_pledge::office::payments::rule as payments;
use impact_pledge::office::payments::rule::usage;
use impact_pledge::office::payments::rule::{Paid, Payment};
use impact_pledge::office::shared::rule::error::OperatorError;
use impact_pledge::office::shared::rule::once::Done;
use impact_pledge::pledges::scope::Mode;
use impact_pledge::pledges::settlement::Month;
use serde_json::{Value, json};
use support::ledger::SqliteLedger;
use support::memory::MemoryStore;
use support::service::{
    CountedEntropy, FixedClock, LIVE_UNIT, NOW_MS, TestOperator, TestService, changes, minimal,
    seeded, test_operator,
};
use support::stores::scope;

pub const MINUTE: u64 = 60_000;
const DAY: u64 = 24 * 60 * MINUTE;
/// 2026-02-03, the present time of the tests. January has ended, and its payments can be settled.
pub const ENDED_MS: u64 = NOW_MS + 3 * DAY;
/// A service, its ledger and its operator.
pub struct Bench {
    pub service: TestService<MemoryStore>,
    pub operator: TestOperator<CountedEntropy>,
    pub ledger: SqliteLedger,
}

pub fn bench() -> Bench {
    let bench =
        Bench { service: seeded(), operator: test_operator(), ledger: SqliteLedger::default() };
    bench.at(ENDED_MS);
    bench
}

impl Bench {
    pub fn store(&self) -> &MemoryStore {
        &self.service.store
    }

    pub fn clock(&self) -> &FixedClock {
        &self.operator.clock
    }

    pub fn at(&self, ms: u64) {
        self.clock().0.set(ms);
    }

    /// Creates a live transaction of `amount` trees at this time. A tree costs 0.50 USD. Returns the
    /// transaction's ID.
    pub fn order(&self, at_ms: u64, amount: Value) -> String {
        let mut order = minimal();
        order["reference"] = json!("SH-1053");
        order["recipient"] =
            json!({ "email": "ada@example.org", "firstName": "Ada", "name": "Ada Ng Lovelace" });
        order["pledges"][0]["impact"]["amount"] = amount;
        self.service.clock.0.set(at_ms);
        let id = self.service.create(LIVE_UNIT, &order).json()["id"].as_str().unwrap().to_owned();
        self.ledger.reconcile(self.store(), self.clock().0.get());
        id
    }

    pub fn credit(&self, request: &CreditRequest) -> Result<Done<Credit>, OperatorError> {
        let author = self.operator.author();
        block_on(credits::add(self.store(), &self.ledger, &author, request))
    }

    /// Marks a month of the live unit as paid with an amount in USD.
    pub fn mark(&self, month: &str, amount: &str) -> Result<Done<Paid>, OperatorError> {
        self.ledger.reconcile(self.store(), self.clock().0.get());
        let author = self.operator.author();
        let payment = payment(month, amount);
        block_on(payments::mark(self.store(), &self.ledger, &author, &payment))
    }

    /// Returns a text for each credit of a transaction: the credit's amount and quantities, and the month in
    /// which the credit is booked.
    pub fn credits_of(&self, id: &str) -> Vec<String> {
        let record = block_on(transactions::get(self.store(), id)).unwrap();
        let found = block_on(credits::of(self.store(), &self.ledger, &record)).unwrap();
        let line = |credit: &Credit| format!("{} {}", credit.in_words(), credit.booked_month);
        found.credits.iter().map(line).collect()
    }

    /// Returns the commands in the audit log, newest first.
    pub fn audited(&self) -> Vec<String> {
        let changes = changes(self.store(), &self.ledger);
        changes.into_iter().map(|change| change.command).collect()
    }

    /// Returns what the live unit owes for each month in USD, newest month first. Each text has the form
    /// `month sum − credited − carried = due`. If the month is marked as paid, ` of paid` follows.
    pub fn dues(&self) -> Vec<String> {
        let of = scope("unit_dev", Mode::Live);
        let usage = block_on(usage::of_scope(self.store(), &self.ledger, &of)).unwrap();
        let line = |month: &usage::MonthUsage| {
            let due = &month.sums[0];
            let paid = month.paid_of(due).map(|paid| format!(" of {paid}")).unwrap_or_default();
            assert_eq!(month.differs(), month.paid_of(due).is_some_and(|paid| paid != due.due));
            let (amount, credited, carried) = (&due.amount, &due.credited, &due.carried);
            format!("{} {amount} − {credited} − {carried} = {}{paid}", month.of.month, due.due)
        };
        usage.months.iter().map(line).collect()
    }
}

pub fn payment(month: &str, amount: &str) -> Payment {
    let payment = json!({
        "of": { "unit": "unit_dev", "mode": "live", "month": month },
        "amounts": [{ "amount": amount }],
        "paidAt": "2026-02-02T00:00:00.000Z",
        "invoice": "17",
        "acceptUnpriced": 0,
    });
    serde_json::from_value(payment).unwrap()
}

/// Returns a request that credits a part of a transaction. `None` credits the rest.
pub fn request(id: &str, part: Option<(&str, &[(&str, &str)])>) -> CreditRequest {
    let part = part.map(|(amount, quantities)| {
        let each = quantities.iter();
        let each =
            each.map(|(offering, number)| json!({ "offering": offering, "quantity": number }));
        json!({ "amount": amount, "quantities": each.collect::<Vec<_>>() })
    });
    let request = json!({ "transaction": id, "part": part, "reason": "Returned by the buyer" });
    serde_json::from_value(request).unwrap()
}

/// Returns a request that credits the rest of a transaction and marks it as cancelled on its timeline.
pub fn cancelled(id: &str) -> CreditRequest {
    CreditRequest { tell_buyer: true, ..request(id, None) }
}

// ---- Requests ------------------------------------------------------------------------------------

/// The timeline shows that a transaction was cancelled. The API's answers do not change.
#[test]
fn a_transaction_that_is_credited_whole_can_be_marked_as_cancelled() {
    let bench = bench();
    let [id, other] = [0, 1].map(|hour| bench.order(NOW_MS + hour * 60 * MINUTE, json!(4)));
    let mark = || bench.store().value(&format!("cancelled:{id}"));
    let get = |id: &str| bench.service.get(LIVE_UNIT, id).text;
    let before = [&id, &other].map(|id| get(id));
    let part = CreditRequest { tell_buyer: true, ..request(&id, Some(("2.00", &[("tree", "4")]))) };
    let error = bench.credit(&part).unwrap_err().to_string();
    assert!(error.contains("leave out the amount and the quantities"), "{error}");
    assert_eq!((bench.credits_of(&id).len(), mark()), (0, None));
    bench.credit(&request(&other, None)).unwrap();
    bench.credit(&request(&id, Some(("0.50", &[])))).unwrap();
    assert_eq!(mark(), None);
    let made = bench.credit(&cancelled(&id)).unwrap().outcome;
    let stored: Value = serde_json::from_str(&mark().unwrap()).unwrap();
    assert_eq!((&stored["at"], stored.as_object().unwrap().len()), (&json!(made.at), 2));
    let marks = bench.store().names().into_iter().filter(|name| name.starts_with("cancelled:"));
    assert_eq!(marks.count(), 1);
    let told: Vec<_> = changes(bench.store(), &bench.ledger);
    let told = told.iter().filter(|it| {
        it.plain_sentence().contains("timeline says that the transaction was cancelled")
    });
    assert_eq!(told.count(), 1);
    assert_eq!([&id, &other].map(|id| get(id)), before);
}

#[test]
fn a_part_is_credited_up_to_what_is_left_of_charge_and_quantities() {
    let bench = bench();
    let id = bench.order(NOW_MS, json!(4));
    let refused = |of: &CreditRequest, problem: &str| {
        let error = bench.credit(of).unwrap_err().to_string();
        assert_eq!(error, format!("nothing was credited: {problem}"));
    };
    let part = |amount: &str, quantities: &[(&str, &str)]| request(&id, Some((amount, quantities)));
    for (amount, quantities, problem) in [
        ("2.01", &[][..], "only 2.00 USD of the charge can still be credited"),
        ("0.00", &[], "enter an amount or a quantity"),
        ("-1", &[], "write the amount as `1234.50`, not `-1`"),
        ("1e2", &[], "write the amount as `1234.50`, not `1e2`"),
        ("0.001", &[], "write the amount as `1234.50`, not `0.001`"),
        ("1", &[("tree", "4.0000000001")], "only 4 of `tree` can still be credited"),
        ("1", &[("reef", "1")], "only 0 of `reef` can still be credited"),
        (
            "1",
            &[("tree", "1"), ("tree", "1")],
            "`tree` is named twice: give one quantity for each offering",
        ),
        ("1", &[("tree", "-1")], "write the quantity of `tree` as `2.5`, not `-1`"),
        (
            "1",
            &[("tree", "1e999999999")],
            "write the quantity of `tree` as `2.5`, not `1e999999999`",
        ),
    ] {
        refused(&part(amount, quantities), problem);
    }
    assert_eq!(bench.audited(), [""; 0]);
    bench.credit(&part("0.5", &[("tree", "1.5")])).unwrap();
    refused(&part("1.51", &[]), "only 1.50 USD of the charge can still be credited");
    refused(&part("1", &[("tree", "2.6")]), "only 2.5 of `tree` can still be credited");
    bench.credit(&part("0", &[("tree", "0.5")])).unwrap();
    bench.credit(&request(&id, None)).unwrap();
    refused(&request(&id, None), "the transaction is already credited in full");
    let credits = [
        "0.50 of 2.00 USD, quantities: 1.5 tree 2026-01",
        "0.00 of 2.00 USD, quantities: 0.5 tree 2026-01",
        "1.50 of 2.00 USD, quantities: 2 tree 2026-01",
    ];
    assert_eq!(bench.credits_of(&id), credits);
    assert_eq!(bench.dues(), ["2026-01 2.00 − 2.00 − 0.00 = 0.00"]);
    let january = [Month::parse("2026-01").unwrap()];
    let sums = credits_credits::credited_quantities(&bench.ledger, None, None, &january);
    let sums = block_on(sums).unwrap();
    assert_eq!((sums.len(), &*sums[0].offering, &*sums[0].quantity), (1, "tree", "4"));
}

/// A reason must not name the recipient, because an erasure does not remove the reason from the audit log.
#[test]
fn a_reason_is_one_line_that_names_nobody() {
    let bench = bench();
    let id = bench.order(NOW_MS, json!(4));
    let long = "x".repeat(201);
    for (reason, is_allowed) in [
        ("", false),
        (" ", false),
        ("two\nlines", false),
        (&*long, false),
        ("asked by a@b", false),
        ("ADA sent it back", false),
        ("order sh 1053 came late", false),
        ("Returned by Mrs Lovelace", false),
        ("the parcel of LOVELACE-Byron", false),
        ("Adamant buyer, loveless, ng", true),
    ] {
        let of = CreditRequest { reason: reason.to_owned(), ..request(&id, Some(("0.01", &[]))) };
        assert_eq!(bench.credit(&of).is_ok(), is_allowed, "{reason}");
    }
}

#[test]
fn the_audit_log_describes_a_credit() {
    let bench = bench();
    let id = bench.order(NOW_MS, json!(4));
    let made = bench.credit(&request(&id, Some(("0.5", &[("tree", "1")])))).unwrap().outcome;
    let changes = changes(bench.store(), &bench.ledger);
    let words = "0.50 of 2.00 USD, quantities: 1 tree, booked in 2026-01: Returned by the buyer";
    assert_eq!(changes[0].on, [&id, words]);
    assert_eq!(changes[0].operation.as_ref(), Some(&made.operation));
    assert_eq!((&*changes[0].command, changes.len()), ("credits add", 1));
    let expected = json!({ "operation": made.operation, "transaction": id, "number": 1, "unit": "unit_dev",
        "mode": "live", "orderMonth": "2026-01", "bookedMonth": "2026-01", "currencyCode": "USD", "charge": "2.00",
        "amount": "0.50", "quantities": [{ "offering": "tree", "quantity": "1" }],
        "reason": "Returned by the buyer", "by": "ada@example.org", "at": "2026-02-03T12:00:00.123Z" });
    assert_eq!(json!(made), expected);
}

#[test]
fn the_audit_log_says_amount_and_quantities_of_every_credit() {
    for (part, words) in [
        (Some(("0", &[("tree", "1")][..])), "0.00 of 2.00 USD, quantities: 1 tree"),
        (Some(("0.5", &[][..])), "0.50 of 2.00 USD, quantities: none"),
        (None, "2.00 of 2.00 USD, quantities: 4 tree"),
    ] {
        let bench = bench();
        let id = bench.order(NOW_MS, json!(4));
        bench.credit(&request(&id, part)).unwrap();
        let changes = changes(bench.store(), &bench.ledger);
        let sentence = changes[0].plain_sentence();
        let expected = format!(
            "credited the transaction {id}: {words}, booked in 2026-01: Returned by the buyer"
        );
        assert_eq!(sentence, expected);
    }
}

/// The charge has more digits than a number in JSON can hold exactly.
#[test]
fn an_order_of_1e21_trees_is_credited_whole_and_its_month_is_settled() {
    let bench = bench();
    let id = bench.order(NOW_MS, json!(1e21));
    let error = bench.credit(&request(&id, Some(("1", &[])))).unwrap_err().to_string();
    assert!(error.contains("can only be credited in full"), "{error}");
    bench.credit(&request(&id, None)).unwrap();
    let sum = format!("5{}.00", "0".repeat(20));
    let credit = format!("{sum} of {sum} USD, quantities: 1e21 tree 2026-01");
    assert_eq!(bench.credits_of(&id), [credit]);
    bench.credit(&request(&id, None)).unwrap_err();
    let error = bench.mark("2026-01", &sum).unwrap_err().to_string();
    assert!(error.contains(&format!("has 0.00 USD due, not {sum} USD")), "{error}");
    let paid = bench.mark("2026-01", "0").unwrap().outcome.settlement;
    assert_eq!(
        json!(paid.sums),
        json!([{ "currencyCode": "USD", "amount": "0.00", "transactions": 1, "unpriced": 0,
        "credits": { "counted": sum, "credited": sum, "carried": "0.00" } }])
    );
    assert_eq!(bench.dues(), [format!("2026-01 {sum} − {sum} − 0.00 = 0.00 of 0.00")]);
}

/// An erasure does not change credits. Credits name offerings by their IDs, which an erasure keeps.
#[test]
fn a_credit_has_no_personal_data_and_outlives_an_erasure() {
    let bench = bench();
    let mut order = minimal();
    order["recipient"] = json!({ "email": "ada@example.org" });
    order["pledges"] = json!([
        { "impact": { "amount": 4, "offeringId": "tree" } },
        { "impact": { "amount": 2, "offeringId": "for ada@example.org" } },
    ]);
    bench.service.clock.0.set(NOW_MS);
    let id = bench.service.create(LIVE_UNIT, &order).json()["id"].as_str().unwrap().to_owned();
    bench.credit(&request(&id, Some(("0.5", &[("erased", "1")])))).unwrap();
    let made = ["0.50 of 2.00 USD, quantities: 1 erased 2026-01"];
    assert_eq!(bench.credits_of(&id), made);
    let record = block_on(transactions::get(bench.store(), &id)).unwrap();
    let author = bench.operator.author();
    block_on(transactions::erase(bench.store(), &bench.ledger, &author, &record)).unwrap();
    assert_eq!(bench.credits_of(&id), made);
    let whole = bench.credit(&request(&id, None)).unwrap().outcome;
    assert_eq!(whole.in_words(), "1.50 of 2.00 USD, quantities: 1 erased and 4 tree");
    let changes = changes(bench.store(), &bench.ledger);
    assert_eq!(changes.len(), 3);
    assert!(changes.iter().all(|change| !format!("{change:?}").contains("for ada@example.org")));
}
