//! What a shop has used, by month, and what it has paid.

use super::prices::{Row, assert_has};
use super::{ACCOUNTS, OPERATOR, TestDashboard, dashboard, field};
use futures_executor::block_on;
use impact_pledge::operator::audit;
use serde_json::{Value, json};
use support::service::{Answer, LIVE_UNIT, NOW_MS, minimal, seeded};

const DAY_MS: u64 = 24 * 60 * 60_000;
const PAGE: &str = "/units/unit_dev/usage";
const DECEMBER: &str = "settlement:live:unit_dev:2025-12";

/// An order of the live unit, so many days before 31 January 2026, of an offering that may have no price.
fn order(dashboard: &TestDashboard, days: u64, offering: &str) -> String {
    let mut order = minimal();
    order["pledges"][0]["impact"]["offeringId"] = json!(offering);
    dashboard.service.clock.0.set(NOW_MS - days * DAY_MS);
    dashboard.service.create(LIVE_UNIT, &order).json()["id"].as_str().unwrap().to_owned()
}

/// A dashboard of a unit with orders in November, December and January, and the IDs of the two of
/// December, of which the second has no price.
fn used() -> (TestDashboard, [String; 2]) {
    let dashboard = dashboard(seeded());
    for days in [0, 1, 70] {
        order(&dashboard, days, "tree");
    }
    let ids = [order(&dashboard, 40, "tree"), order(&dashboard, 41, "new")];
    (dashboard, ids)
}

fn count(dashboard: &TestDashboard, path: &str) -> Answer {
    dashboard.post(ACCOUNTS, path, &[("mode", "live")])
}

/// The form for December as it is opened now, filled in, with some fields changed.
fn payment(
    dashboard: &TestDashboard,
    changed: &[(&'static str, &str)],
) -> Vec<(&'static str, String)> {
    let opened = [("mode", "live"), ("month", "2025-12"), ("currencies", "USD")];
    let page = dashboard.post(ACCOUNTS, "/units/unit_dev/paid", &opened);
    assert_has(&page, 200, &["Dec 2025 of the unit", "Amount in USD"]);
    assert!(
        !page.text.contains("Amount in EUR") && !page.text.contains("1.50"),
        "nothing is filled in"
    );
    let mut fields: Vec<_> = ["mode", "month", "step", "form", "currencies"]
        .map(|name| (name, field(&page.text, name)))
        .to_vec();
    for (name, value) in
        [("amount-USD", "1.50"), ("day", "2026-01-05"), ("invoice", "2026/17"), ("unpriced", "1")]
    {
        fields.push((name, value.to_owned()));
    }
    for (name, value) in changed {
        fields.retain(|(other, _)| other != name);
        fields.push((name, (*value).to_owned()));
    }
    fields
}

fn send(dashboard: &TestDashboard, path: &str, fields: &[(&str, String)]) -> Answer {
    let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, &**value)).collect();
    dashboard.post(ACCOUNTS, path, &fields)
}

fn mark(dashboard: &TestDashboard, fields: &[(&str, String)]) -> Answer {
    send(dashboard, "/units/unit_dev/paid", fields)
}

fn undo(dashboard: &TestDashboard, at: &str) -> Answer {
    let fields = [("mode", "live"), ("month", "2025-12"), ("step", "undo"), ("at", at)];
    dashboard.post(ACCOUNTS, "/units/unit_dev/unpaid", &fields)
}

fn later(dashboard: &TestDashboard, ms: u64) {
    dashboard.clock.0.set(dashboard.clock.0.get() + ms);
}

fn audited(dashboard: &TestDashboard) -> Vec<String> {
    let changes = block_on(audit::since(dashboard.store(), 0)).unwrap();
    changes.into_iter().map(|change| change.command).collect()
}

/// The cells of a table's rows, without tags.
fn rows(page: &Answer) -> Vec<Vec<String>> {
    let table = page.text.split_once("<tbody>").unwrap().1.split_once("</tbody>").unwrap().0;
    let cell = |cell: &str| {
        let parts = cell.split('<').filter_map(|part| part.split_once('>'));
        parts.map(|(_, text)| text).collect::<String>().replace('\u{a0}', " ").trim().to_owned()
    };
    let cells = |row: &str| row.split("<td").map(|part| cell(&["<td", part].concat())).collect();
    table.split("<tr>").skip(1).map(cells).collect()
}

#[test]
fn months_are_counted_on_demand_and_those_that_ended_are_kept() {
    let (dashboard, _) = used();
    let page = dashboard.get(ACCOUNTS, PAGE);
    assert_has(&page, 200, &["Nothing is counted here yet", "<button>Count</button>"]);
    assert!(!page.text.contains("<svg class=\"chart\"") && !page.text.contains("usage.csv"));

    let counted = count(&dashboard, PAGE);
    assert_has(&counted, 200, &["Counted: 5 transactions", "so far", "role=\"img\""]);
    let expected = [
        ["Jan 2026", "3.00 USD", "so far", "2", ""],
        ["Dec 2025", "1.50 USD", "unpaid Mark as paid …", "2", "1 List"],
        ["Nov 2025", "1.50 USD", "unpaid Mark as paid …", "1", ""],
    ];
    assert_eq!(rows(&counted), expected);
    let aria = "aria-label=\"USD by month: Nov 2025 1.50; Dec 2025 1.50; Jan 2026 3.00\"";
    assert_has(
        &counted,
        200,
        &[aria, "height=\"100\"", "height=\"50\"", ", 3.00 at most, in Jan 2026"],
    );
    assert_eq!(counted.text.matches("<rect").count(), 3);
    assert!(!counted.text.contains(" style="), "the policy allows none");

    dashboard.store().take_reads();
    dashboard.store().take_lists();
    let kept = dashboard.get(ACCOUNTS, PAGE);
    assert_eq!(rows(&kept), &expected[1..]);
    assert_has(&kept, 200, &["Count again", "Counted on "]);
    let lists: Vec<_> =
        dashboard.store().take_lists().into_iter().map(|list| list.prefix).collect();
    assert_eq!(lists, ["usage:live:unit_dev:", "settlement:live:unit_dev:"]);
    assert_eq!(dashboard.store().reads(), 4);
    assert_has(
        &dashboard.get(ACCOUNTS, "/units/unit_dev/usage?mode=test"),
        200,
        &["Nothing is counted"],
    );
    assert_has(
        &dashboard.get(ACCOUNTS, "/units/unit_dev/usage?mode=dead"),
        422,
        &["live and test"],
    );
    assert_has(&dashboard.get(ACCOUNTS, "/units/%3Cscript%3E%20/usage"), 422, &["&lt;script&gt;"]);
}

#[test]
fn a_large_shop_is_counted_in_steps() {
    let (dashboard, _) = used();
    for _ in 0..45 {
        order(&dashboard, 40, "tree");
    }
    dashboard.store().set_page_length(1);
    let first = count(&dashboard, PAGE);
    assert_has(&first, 200, &["Counted so far: 40 transactions. There are more.", "Go on"]);
    let partial = field(&first.text, "partial");
    for _ in 0..2 {
        let fields = [("mode", "live"), ("partial", &*partial)];
        assert_has(
            &dashboard.post(ACCOUNTS, PAGE, &fields),
            200,
            &["Counted: 50", "69.00 <bdi>USD</bdi>"],
        );
    }
    let more = partial.replace("40", "41");
    for (partial, mode) in [(&*more, "live"), (&partial, "test"), ("x", "live")] {
        let fields = [("mode", mode), ("partial", partial)];
        assert_has(&dashboard.post(ACCOUNTS, PAGE, &fields), 422, &["egin again"]);
    }
}

#[test]
fn what_has_no_price_is_listed_with_links_for_those_who_may_follow_them() {
    let (dashboard, [_, id]) = used();
    let fields = [("mode", "live"), ("month", "2025-12"), ("unpriced", "list")];
    let page = dashboard.post(ACCOUNTS, PAGE, &fields);
    assert_has(&page, 200, &[&id, "0.00 USD", "of Dec 2025"]);
    assert_eq!(rows(&page).len(), 1);
    assert!(!page.text.contains("href=\"/transactions/"));
    let link = format!("href=\"/transactions/{id}\"");
    assert_has(&dashboard.post(OPERATOR, PAGE, &fields), 200, &[&link]);
    let january = [("mode", "live"), ("month", "2026-01"), ("unpriced", "list")];
    assert_has(&dashboard.post(ACCOUNTS, PAGE, &january), 200, &["There are none."]);
    let none = [("mode", "live"), ("month", "2026-13"), ("unpriced", "list")];
    assert_has(&dashboard.post(ACCOUNTS, PAGE, &none), 422, &["Say which month"]);
    for _ in 0..41 {
        order(&dashboard, 41, "new");
    }
    dashboard.store().set_page_length(1);
    assert_has(
        &dashboard.post(ACCOUNTS, PAGE, &fields),
        200,
        &["There may be more", "first 40000"],
    );
}

#[test]
fn a_month_is_marked_once_by_its_sum_and_a_form_that_is_sent_again_changes_nothing() {
    let (dashboard, [id, _]) = used();
    count(&dashboard, PAGE);
    let form = payment(&dashboard, &[]);
    assert_has(
        &mark(&dashboard, &form),
        200,
        &["is marked as paid", "1.50", "5 Jan 2026<", "2026/17"],
    );
    let stored = dashboard.store().value(DECEMBER).unwrap();
    assert!(stored.contains("\"paidAt\":\"2026-01-05T00:00:00.000Z\""), "{stored}");
    dashboard.service.clock.0.set(NOW_MS + 20_000);
    let paid = dashboard.service.isolate().get(LIVE_UNIT, &id).json();
    assert_eq!(paid["charge"]["paidAt"], "2026-01-05T00:00:00.000Z");

    later(&dashboard, 1_000);
    assert_has(&mark(&dashboard, &form), 422, &["is marked already: 1.50 USD paid on 2026-01-05"]);
    let page = dashboard.get(ACCOUNTS, PAGE);
    let cell = "Paid on 5 Jan 2026, invoice 2026/17marked by joan@example.orgUndo …";
    assert_eq!(rows(&page)[0], ["Dec 2025", "1.50 USD", cell, "2", "1 List"]);
    assert_has(&page, 200, &["<rect class=\"paid\"", "Dec 2025 1.50, paid"]);

    let facts = dashboard.post(
        ACCOUNTS,
        "/units/unit_dev/unpaid",
        &[("mode", "live"), ("month", "2025-12")],
    );
    assert_has(&facts, 200, &["Take this back?", "1.50", "5 Jan 2026", "2026/17", ACCOUNTS]);
    let at = field(&facts.text, "at");
    assert_has(
        &undo(&dashboard, "2020-01-01T00:00:00.000Z"),
        422,
        &["otherwise than when you looked"],
    );
    assert_eq!(dashboard.store().value(DECEMBER), Some(stored));
    assert_has(&undo(&dashboard, &at), 200, &["is not marked as paid any more", "2026/17"]);
    assert_has(&undo(&dashboard, &at), 422, &["is not marked as paid", "last 60 s"]);

    later(&dashboard, 1_000);
    let stale = ["since this form was opened", "<bdi>payments undo</bdi>"];
    assert_has(&mark(&dashboard, &form), 422, &stale);
    assert_eq!(dashboard.store().value(DECEMBER), None);
    let again = payment(&dashboard, &[("invoice", "<b>\"'&\u{202e}")]);
    let marked = mark(&dashboard, &again);
    assert_has(&marked, 200, &["<bdi>&lt;b&gt;&quot;'&amp;\u{202e}</bdi>"]);
    assert_has(&undo(&dashboard, &at), 422, &["otherwise than when you looked"]);
    assert_has(&dashboard.get(ACCOUNTS, PAGE), 200, &["<bdi>&lt;b&gt;&quot;'&amp;\u{202e}</bdi>"]);
    assert_eq!(audited(&dashboard), ["payments mark", "payments undo", "payments mark"]);
}

#[test]
fn a_payment_that_is_entered_wrongly_is_shown_again_with_the_problem() {
    let (dashboard, _) = used();
    let rows: [Row; 12] = [
        (
            &[("amount-USD", "1.49")],
            &["a sum of 1.50 USD, and 1.49 USD was paid", "value=\"1.49\""],
        ),
        (&[("amount-EUR", "1")], &["1.50 USD, and 1.50 USD and 1.00 EUR was paid"]),
        (&[("amount-USD", "\"><script>")], &["value=\"&quot;&gt;&lt;script&gt;\""]),
        (&[("amount-USD", "")], &["write the amount"]),
        (&[("unpriced", "")], &["has 1 pledges without a price"]),
        (&[("unpriced", "-1")], &["a whole number"]),
        (&[("day", "2026-02-31")], &["write the day"]),
        (&[("day", "2026-01-05T01:00:00Z")], &["write the day"]),
        (&[("day", "2026-02-01")], &["which is to come"]),
        (&[("invoice", "")], &["needs the number of an invoice"]),
        (&[("month", "2026-01")], &["has not ended"]),
        (&[("form", "1-2")], &["not one of ours"]),
    ];
    for (changed, words) in rows {
        let answer = mark(&dashboard, &payment(&dashboard, changed));
        assert_has(&answer, 422, words);
        assert_has(&answer, 422, &["Nothing was marked: ", "Mark as paid</button>"]);
        assert!(!answer.text.contains("<script"), "{}", answer.text);
    }
    let old = payment(&dashboard, &[]);
    later(&dashboard, 3_600_001);
    assert_has(&mark(&dashboard, &old), 422, &["more than 60 minutes old", "value=\"2026/17\""]);
    assert_eq!((dashboard.store().value(DECEMBER), audited(&dashboard)), (None, vec![]));
}

#[test]
fn without_the_record_of_changes_nothing_is_marked_or_taken_back() {
    let (dashboard, _) = used();
    let form = payment(&dashboard, &[]);
    let fail = |is_failing: bool| dashboard.store().set_failing(is_failing.then_some("audit:"));
    fail(true);
    assert_has(&mark(&dashboard, &form), 503, &["did not answer in time"]);
    assert_eq!(dashboard.store().value(DECEMBER), None);
    fail(false);
    assert_has(&mark(&dashboard, &form), 200, &[]);
    let stored = dashboard.store().value(DECEMBER);
    let at: Value = serde_json::from_str(stored.as_ref().unwrap()).unwrap();
    fail(true);
    assert_has(&undo(&dashboard, at["at"].as_str().unwrap()), 503, &["did not answer in time"]);
    assert_eq!(dashboard.store().value(DECEMBER), stored);
}

#[test]
fn a_file_for_a_spreadsheet_has_no_formula() {
    let dashboard = dashboard(seeded());
    let month = |month: &str, invoice: &str| {
        let sum =
            json!({ "currencyCode": "USD", "amount": "1.50", "transactions": 2, "unpriced": 1 });
        let settlement = json!({ "paidAt": "2026-01-05T00:00:00.000Z", "sums": [sum],
            "invoice": invoice, "by": "a, \"b\"", "at": "2026-01-06T00:00:00.000Z" });
        let name = format!("settlement:live:=unit:{month}");
        dashboard.store().keep(&name, settlement.to_string().as_bytes(), b"null");
    };
    let invoices = ["=1+1", "@a,b", "-7", "17;=1+1", "17; \"@A1\"|=1", "a - b -c d=e a@b", "\t=1"];
    for (number, invoice) in invoices.iter().enumerate() {
        month(&format!("2025-{:02}", 12 - number), invoice);
    }
    let file = dashboard.get(ACCOUNTS, "/units/=unit/usage.csv");
    let line = |month: &str, invoice: &str| {
        format!(
            "'=unit,live,{month},USD,1.50,2,1,,2026-01-05T00:00:00.000Z,1.50,{invoice},\
            \"a, \"\"b\"\"\",2026-01-06T00:00:00.000Z\r\n"
        )
    };
    let headings = "\u{feff}unit,mode,month,currency,amount,transactions,unpriced,counted_at,paid_at,\
        paid_amount,invoice,marked_by,marked_at\r\n";
    let lines = [
        line("2025-12", "'=1+1"),
        line("2025-11", "\"'@a,b\""),
        line("2025-10", "'-7"),
        line("2025-09", "\"17;'=1+1\""),
        line("2025-08", "\"17; \"\"'@A1\"\"|'=1\""),
        line("2025-07", "a - b '-c d=e a@b"),
        line("2025-06", "\u{fffd}=1"),
    ];
    assert_eq!((file.status, file.text), (200, [headings, &lines.concat()].concat()));
    assert_eq!(file.headers["content-type"], "text/csv; charset=utf-8");
    assert_eq!(
        file.headers["content-disposition"],
        "attachment; filename=\"usage-live-2026-01-31.csv\""
    );

    let (used, _) = used();
    count(&used, PAGE);
    let file = used.get(ACCOUNTS, "/units/unit_dev/usage.csv?mode=live").text;
    let unpaid = "unit_dev,live,2025-12,USD,1.50,2,1,2026-01-31T12:00:00.123Z,,,,,\r\n";
    assert!(file.contains(unpaid), "{file}");
}

/// Each currency has its own sum, row and chart; a sum that differs from what was paid is marked.
#[test]
fn currencies_stay_apart_and_what_was_paid_stands_beside_the_sum() {
    let dashboard = dashboard(seeded());
    let keep = |name: &str, record: Value| {
        dashboard.store().keep(name, record.to_string().as_bytes(), b"null");
    };
    let sum = |code: &str, amount: &str| json!({ "currencyCode": code, "amount": amount, "transactions": 1, "unpriced": 0 });
    let huge = format!("1{}.00", "0".repeat(300));
    for (month, sums) in [
        ("2025-12", json!([sum("EUR", "3.00"), sum("USD", "2.00")])),
        ("2024-12", json!([sum("USD", "9.00")])),
        ("2025-01", json!([sum("EUR", &huge)])),
    ] {
        let kept = json!({ "sums": sums, "transactions": 2, "at": "2026-01-05T00:00:00.000Z" });
        keep(&format!("usage:live:unit_dev:{month}"), kept);
    }
    let settlement = json!({ "paidAt": "2026-01-05T10:30:00.000Z", "sums": [sum("USD", "1.00")],
        "invoice": "1", "by": "ada", "at": "2026-01-06T00:00:00.000Z" });
    keep(DECEMBER, settlement);
    let page = dashboard.get(ACCOUNTS, PAGE);
    let rows = rows(&page);
    assert_eq!(rows.len(), 4);
    let paid =
        |amount| format!("Paid on 5 Jan 2026, 10:30 UTC, invoice 1 {amount} was paidmarked by ada");
    assert_eq!(rows[0][1..], ["3.00 EUR", &*(paid("0.00") + "Undo …"), "1", ""]);
    assert_eq!(rows[1][1..], ["2.00 USD", &*paid("1.00"), "1", ""]);
    assert_has(&page, 200, &["USD by month: Dec 2025 2.00, paid\"", "at most, in Jan 2025"]);
    assert_eq!(page.text.matches("<svg class=\"chart\"").count(), 2);
    assert!(page.text.contains("height=\"0\"") && page.text.contains("height=\"100\""));
}
