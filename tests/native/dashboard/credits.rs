//! Tests the credits on the page of a transaction, and the form that adds one.

use super::fields::assert_problem_at;
use super::prices::assert_has;
use super::{ACCOUNTS, OPERATOR, SUPPORT, TestDashboard, dashboard};
use futures_executor::block_on;
use impact_pledge::office::orders::rows::orders::Direction;
use impact_pledge::office::orders::rule as transactions;
use impact_pledge::office::orders::rule::ListQuery;
use impact_pledge::pledges::scope::Mode;
use impact_pledge::pledges::settlement::Month;
use impact_pledge::pledges::store::{Key as _, UpdatesKey};
use serde_json::{Value, json};
use support::ledger::Failing;
use support::service::{Answer, LIVE_UNIT, NOW_MS, minimal, seeded};

/// The field for the quantity of trees.
const TREES: &str = "quantity-tree";
const DAY: u64 = 24 * 60 * 60_000;

/// Returns a dashboard two days after the end of January, and the path of a transaction from January.
fn ordered(amount: Value) -> (TestDashboard, String) {
    let dashboard = dashboard(seeded());
    let mut order = minimal();
    order["pledges"][0]["impact"]["amount"] = amount;
    order["recipient"] = json!({ "email": "canary@example.org", "firstName": "Canary" });
    let id = dashboard.make(LIVE_UNIT, &order);
    dashboard.clock.0.set(NOW_MS + 3 * DAY);
    dashboard.reconcile();
    (dashboard, format!("/transactions/{id}"))
}

/// Sends the form of the transaction's page.
fn ask(dashboard: &TestDashboard, path: &str, fields: &[(&str, &str)]) -> Answer {
    dashboard.post(ACCOUNTS, &format!("{path}/credit"), fields)
}

#[test]
fn a_part_is_credited_after_confirmation_and_once() {
    let (dashboard, path) = ordered(json!(3));
    let page = dashboard.get(ACCOUNTS, &path);
    let words = "Leave empty to credit all that is left: 1.50 USD and every quantity.";
    assert_has(&page, 200, &[words, "Quantity of tree", "At most 3."]);
    let part = [("amount", "0.50"), (TREES, "1"), ("reason", "<script>Returned")];
    let page = ask(&dashboard, &path, &part);
    let words = [
        "This cannot be undone",
        "0.50 USD",
        "<bdi>1 tree</bdi>",
        "Jan 2026",
        "&lt;script&gt;Returned",
    ];
    assert_has(&page, 200, &words);
    assert_eq!(dashboard.changes(), [""; 0], "nothing was credited yet");
    let made = dashboard.confirm(ACCOUNTS, &page);
    assert_has(&made, 200, &["was credited", "0.50 USD"]);
    let again = dashboard.confirm(ACCOUNTS, &page);
    assert_has(&again, 200, &["This was already done", "was credited"]);
    assert_eq!(dashboard.changes().len(), 1);
    let page = dashboard.get(ACCOUNTS, &path);
    let words = [
        "Booked in",
        "&lt;script&gt;Returned",
        ">By</th>",
        "<bdi>joan@example.org",
        "all that is left: 1.00 USD",
        "At most 2.",
    ];
    assert_has(&page, 200, &words);
    let usage = dashboard.get(ACCOUNTS, "/units/unit_dev/payments");
    assert_has(&usage, 200, &[">0.50</td>", "<strong>1.00 "]);
    let file = dashboard.get(ACCOUNTS, "/units/unit_dev/payments.csv").text;
    assert!(file.contains(",1.50,0.50,0.00,1.00,USD,"), "{file}");
}

/// Two people credit the same returned order at the same time. The second person's confirmation is refused, and
/// the page then shows the first person's credit.
#[test]
fn a_credit_is_not_made_beside_one_that_its_confirmation_page_did_not_show() {
    let (dashboard, path) = ordered(json!(3));
    let form = [("amount", "0.50"), (TREES, "1"), ("reason", "Returned")];
    let credit = format!("{path}/credit");
    let pages = [ACCOUNTS, OPERATOR].map(|person| dashboard.post(person, &credit, &form));
    let [own, other] = &pages;
    assert_has(&dashboard.confirm(ACCOUNTS, own), 200, &["was credited"]);
    let asked = dashboard.confirm(OPERATOR, other);
    let words = ["have changed since", "<dt>Earlier credits</dt><dd>1</dd>", "value=\"Returned\""];
    assert_has(&asked, 422, &words);
    assert_has(&dashboard.confirm(ACCOUNTS, own), 200, &["This was already done"]);
    assert_has(&dashboard.confirm(OPERATOR, &asked), 200, &["was credited"]);
}

#[test]
fn a_form_that_is_filled_in_wrongly_is_shown_again_with_the_problem() {
    let (dashboard, path) = ordered(json!(3));
    for (fields, problem, field) in [
        (&[("amount", "1.51"), ("reason", "r")][..], "only 1.50 USD of the charge", "amount"),
        (&[("amount", "\"><script>"), ("reason", "r")], "write the amount as", "amount"),
        (&[("amount", "1")], "fill in “Reason”", "reason"),
        (&[("reason", "Canary sent it back")], "must not contain an e-mail address", "reason"),
        (&[(TREES, "1"), ("reason", "r")], "in addition to the quantities", "amount"),
        (&[("amount", "1"), (TREES, "4"), ("reason", "r")], "only 3 of <code><bdi>tree", TREES),
        (&[("amount", "9"), ("reason", "r")], "only 1.50 USD of the charge", "amount"),
    ] {
        let page = ask(&dashboard, &path, fields);
        assert_has(&page, 422, &["Nothing was c", problem, "Credit …</button>"]);
        assert_problem_at(&page, field);
        assert!(!page.text.contains("<script"), "{}", page.text);
    }
    let whole = ask(&dashboard, &path, &[("reason", "Returned")]);
    assert_has(&whole, 200, &["This cannot be undone"]); // no operation ID: it asks first
    assert_eq!(dashboard.changes(), [""; 0]);
    assert_eq!(ask(&dashboard, "/transactions/x", &[("reason", "r")]).status, 404);
}

/// Returns a dashboard and a transaction as [`ordered`] does. Its month is marked as paid with these sums.
fn settled(sums: Value) -> (TestDashboard, String) {
    let (dashboard, path) = ordered(json!(3));
    let settlement = json!({ "paidAt": "2026-02-01T00:00:00.000Z", "sums": sums, "invoice": "7", "by": "ada",
        "at": "2026-02-01T00:00:00.000Z" });
    let name = "settlement:live:unit_dev:2026-01";
    dashboard.store().keep(name, settlement.to_string().as_bytes(), b"null");
    dashboard.reconcile();
    dashboard.clock.0.set(NOW_MS + 4 * DAY);
    (dashboard, path)
}

#[test]
fn a_transaction_that_was_paid_with_its_month_is_not_credited_as_never_charged() {
    let sum = json!({ "currencyCode": "USD", "amount": "1.50", "transactions": 1, "unpriced": 0 });
    let (dashboard, path) = settled(json!([sum]));
    let page = ask(&dashboard, &path, &[("charged", "no"), ("reason", "Returned")]);
    assert_has(&page, 422, &["is not one that came after 2026-01 was marked as paid"]);
    assert_problem_at(&page, "charged");
}

/// January was marked as paid before the transaction's row was written. So the payment may not include the
/// transaction.
#[test]
fn a_transaction_that_came_after_its_month_was_paid_is_credited_in_its_month_if_it_was_never_charged()
 {
    let (dashboard, path) = settled(json!([]));
    let form = [("amount", "0.50"), ("reason", "Returned")];
    let asked = ask(&dashboard, &path, &form);
    let words = ["the transaction may never have been charged", "Was the transaction charged?"];
    assert_has(&asked, 422, &words);
    assert_problem_at(&asked, "charged");
    assert_eq!(dashboard.changes(), [""; 0]);
    for (answer, month, sentence) in [
        ("yes", "Feb 2026", "is marked as paid, so the credit reduces"),
        ("no", "Jan 2026", "was never charged, so the credit does not change what is due"),
    ] {
        let page = ask(&dashboard, &path, &[&form[..], &[("charged", answer)]].concat());
        assert_has(&page, 200, &["This cannot be undone", month, sentence]);
        let made = dashboard.confirm(ACCOUNTS, &page);
        assert_has(&made, 200, &["was credited", month]);
    }
}

#[test]
fn the_timeline_says_that_an_order_was_cancelled_if_the_operator_says_so() {
    let (dashboard, path) = ordered(json!(3));
    let field_of_page = "name=\"cancelled\" value=\"yes\" aria-describedby=\"cancelled-hint\">";
    assert_has(&dashboard.get(ACCOUNTS, &path), 200, &[field_of_page]);
    let told = "The buyer's timeline will say that this pledge was cancelled.";
    let reason = ("reason", "Returned");
    let page = ask(&dashboard, &path, &[("cancelled", "yes"), ("amount", "1.50"), reason]);
    let checked = "name=\"cancelled\" value=\"yes\" checked";
    assert_has(&page, 422, &["leave out the amount and the quantities", checked]);
    let silent = ask(&dashboard, &path, &[reason]);
    assert!(!silent.text.contains(told) && !silent.text.contains("cancelled"), "off by default");
    let page = ask(&dashboard, &path, &[("cancelled", "yes"), reason]);
    assert_has(&page, 200, &[told]);
    let marks = || {
        let names = dashboard.store().names().into_iter();
        names.filter(|name| name.starts_with("cancelled:")).collect::<Vec<_>>()
    };
    assert_eq!(marks(), [""; 0]);
    for _ in 0..2 {
        assert_has(&dashboard.confirm(ACCOUNTS, &page), 200, &["was credited"]);
    }
    assert_eq!(marks(), [path.replace("/transactions/", "cancelled:")]);
    let page = dashboard.get(OPERATOR, "/audit");
    assert_has(&page, 200, &["the timeline says that the transaction was cancelled"]);
}

#[test]
fn an_order_of_1e21_trees_is_credited_whole_and_its_month_is_settled() {
    let (dashboard, path) = ordered(json!(1e21));
    let page = dashboard.get(ACCOUNTS, &path);
    let sum = format!("5{}.00", "0".repeat(20));
    let shown = format!("500{}.00", ",000".repeat(6));
    assert_has(&page, 200, &["can only be credited in full", &shown]);
    assert!(!page.text.contains("name=\"amount\""), "{}", page.text);
    let page = ask(&dashboard, &path, &[("amount", "1"), ("reason", "A mistake in the shop")]);
    assert_has(&page, 422, &["can only be credited in full"]);
    assert_problem_at(&page, ""); // the form has no field for an amount
    let page = ask(&dashboard, &path, &[("reason", "A mistake in the shop")]);
    assert_has(&page, 200, &[&shown, "<bdi>1e21 tree"]);
    assert_has(&dashboard.confirm(ACCOUNTS, &page), 200, &["was credited"]);
    assert_has(&dashboard.get(ACCOUNTS, &path), 200, &["Nothing is left to be credited"]);

    let mark = |amount: &str| {
        let of = [("mode", "live"), ("month", "2026-01"), ("amount-USD", amount)];
        let paid = [("paid-at", "2026-02-02"), ("invoice", "17")];
        dashboard.post_confirmed(ACCOUNTS, "/units/unit_dev/paid", &[&of[..], &paid].concat())
    };
    let page = mark(&sum);
    assert_has(&page, 422, &["has 0.00 USD due, not"]);
    assert_problem_at(&page, "amount-USD");
    assert_has(&mark("0.00"), 200, &["is marked as paid", "0.00"]);
    let usage = dashboard.get(ACCOUNTS, "/units/unit_dev/payments");
    assert_has(&usage, 200, &[">2 Feb 2026</time>, invoice <bdi>17</bdi>", &shown]);
    assert!(!usage.text.contains("tag alarm"), "{}", usage.text);
}

/// The role `accounts` sees what is needed to credit an order, but nothing about the recipient.
#[test]
fn each_role_sees_its_parts_of_a_transaction() {
    let (dashboard, path) = ordered(json!(3));
    for (person, sees_recipient, credits) in
        [(OPERATOR, true, true), (SUPPORT, true, false), (ACCOUNTS, false, true)]
    {
        let page = dashboard.get(person, &path);
        assert_has(&page, 200, &["<h2>Details</h2>", "<h2>Pledges</h2>"]);
        for (heading, is_shown) in
            [("Recipient", sees_recipient), ("E-mail", sees_recipient), ("Credits", credits)]
        {
            let has = page.text.contains(&format!("<h2>{heading}</h2>"));
            assert_eq!(has, is_shown, "{person}: {heading}");
        }
        assert!(!page.text.contains("canary"), "{}", page.text);
    }
    dashboard.ledger.set_failing(Failing::Unbound);
    assert_has(&dashboard.get(ACCOUNTS, &path), 200, &["This needs the ledger"]);
    assert_has(&ask(&dashboard, &path, &[("reason", "r")]), 500, &["This needs the ledger"]);
}

/// The page of a transaction has one history, and each person reads which role may do the rest.
#[test]
fn a_transaction_has_one_history_and_says_who_may_do_the_rest() {
    let (dashboard, path) = ordered(json!(3));
    let id = path.rsplit('/').next().unwrap();
    let credit = |fields: &[(&str, &str)]| {
        let made = dashboard.confirm(ACCOUNTS, &ask(&dashboard, &path, fields));
        assert_has(&made, 200, &["was credited"]);
    };
    let page = dashboard.get(ACCOUNTS, &path).text;
    assert!(!page.contains("Net charge") && page.contains("</time> Created</li>"), "{page}");
    credit(&[("amount", "0.50"), ("reason", "Returned <b>")]);
    credit(&[("cancelled", "yes"), ("reason", "All of it")]);
    let store = dashboard.store();
    let update = json!({ "version": 1, "updates": [{ "id": "upd_1", "stage": "under-way", "date": "2026-02-01", "texts": {} }] });
    let month = Month::parse("2026-01").unwrap();
    let name = UpdatesKey::new(Mode::Live, "tree", month).name();
    store.keep(&name, update.to_string().as_bytes(), b"null");
    store.keep(
        "settlement:live:unit_dev:2026-01",
        br#"{"paidAt":"2026-02-05T00:00:00Z","sums":[],"invoice":"i","by":"b","at":"a"}"#,
        b"null",
    );
    let history = |person| {
        let page = dashboard.get(person, &path).text;
        assert!(
            page.contains("<dt>Net charge</dt><dd><strong><span class=\"number\">0.00 USD"),
            "{page}"
        );
        let (_, rest) = page.split_once("<h2>History</h2>").unwrap();
        let (list, after) = rest.split_once("</ol>").unwrap();
        let parts = [
            "Created",
            "under way",
            "0.50 USD",
            "1.00 USD",
            "the timeline says so",
            "month was paid",
        ];
        let places: Vec<_> = parts.iter().map(|part| list.find(part).expect(part)).collect();
        assert!(places.is_sorted(), "{list}");
        (list.contains("Returned &lt;b&gt;"), after.to_owned())
    };
    for (person, sees_reason, others) in [
        (ACCOUNTS, true, "Support and operators see the recipient"),
        (SUPPORT, false, "Accounts and operators credit transactions."),
        (OPERATOR, true, ""),
    ] {
        let (has_reason, after) = history(person);
        assert_eq!(has_reason, sees_reason, "{person}");
        assert!(
            after.contains(others) && others.is_empty() != after.contains("Operators and managers"),
            "{person}"
        );
    }
    dashboard.ledger.set_failing(Failing::Before);
    let page = dashboard.get(SUPPORT, &path);
    assert_has(&page, 200, &["so credits and notes are not shown", id]);
}

/// Lists show what became of a charge: which part was credited, whether the order was cancelled, and whether its month
/// is marked as paid.
#[test]
fn lists_show_what_is_credited_cancelled_and_paid() {
    let (dashboard, path) = ordered(json!(3));
    let id = path.rsplit('/').next().unwrap();
    let other = dashboard.make("service_sk_test_dev_unit", &minimal());
    dashboard.reconcile();
    let ledger = &dashboard.ledger;
    let credit = |name: &'static str, value: &str| {
        let page = ask(&dashboard, &path, &[(name, value), ("reason", "Returned")]);
        assert_has(&page, 200, &["This cannot be undone"]);
        let made = dashboard.confirm(ACCOUNTS, &page);
        assert_has(&made, 200, &["was credited"]);
    };
    let row = |path: &str| {
        let page = dashboard.get(ACCOUNTS, path).text;
        let row = page.split("<tr>").find(|row| row.contains(id)).unwrap_or_default().to_owned();
        assert!(!page.split("<tr>").any(|row| row.contains(&other) && row.contains("Credited")));
        ["Credited: 0.50", "Credited: 1.50", "Cancelled", "Paid"].map(|tag| row.contains(tag))
    };
    let steps: [(&dyn Fn(), [bool; 4]); 4] = [
        (&|| {}, [false, false, false, false]),
        (&|| credit("amount", "0.50"), [true, false, false, false]),
        (&|| credit("cancelled", "yes"), [false, true, true, false]),
        (
            &|| {
                ledger.sql(
                    "INSERT INTO published (name, content, change, author, by_shop, at)
                     VALUES ('settlement:live:unit_dev:2026-01', '{}', '', 'x', 0, 1)",
                );
            },
            [false, true, true, true],
        ),
    ];
    let listed = || {
        let filter = ListQuery::default();
        let list = transactions::list(ledger, &filter, &Direction::Newest, 10);
        let mut orders = block_on(list).unwrap().page.orders;
        block_on(transactions::mark_cancelled(dashboard.store(), &mut orders)).unwrap();
        let order = orders.iter().find(|order| order.id == id).unwrap();
        let json = json!(order);
        ["credited", "cancelled", "paid"].map(|name| json.get(name).cloned().unwrap_or_default())
    };
    let members = [
        json!([null, null, null]),
        json!(["0.50", null, null]),
        json!(["1.50", true, null]),
        json!(["1.50", true, true]),
    ];
    for ((step, tags), members) in steps.into_iter().zip(members) {
        step();
        assert_eq!(json!(listed()), members);
        for path in ["/orders", "/orders?unit=unit_dev"] {
            assert_eq!(row(path), tags, "{path}");
        }
        let [part, whole, cancelled, paid] = tags;
        for (state, is_in) in [
            ("credited", part || whole),
            ("cancelled", cancelled),
            ("paid", paid),
            ("unpaid", !paid),
        ] {
            for scope in ["", "&unit=unit_dev"] {
                let page = dashboard.get(ACCOUNTS, &format!("/orders?state={state}{scope}")).text;
                assert_eq!(page.contains(id), is_in, "{state}{scope}");
                assert_eq!(page.contains(&other), state == "unpaid", "{state}{scope}");
            }
        }
    }
}
