//! Tests the pages of payments by month, and of fulfilment.

use super::prices::{Row, assert_has};
use super::transaction::main_of;
use super::{ACCOUNTS, OPERATOR, SUPPORT, TestDashboard, confirmation, dashboard, field};
use impact_pledge::pledges::time::parse_ms;
use serde_json::json;
use support::ledger::{Failing, SqliteLedger};
use support::service::{Answer, LIVE_UNIT, NOW_MS, changes, minimal, seeded};

const DAY_MS: u64 = 24 * 60 * 60_000;
const PAGE: &str = "/units/unit_dev/payments";
const DECEMBER: &str = "settlement:live:unit_dev:2025-12";

/// Creates a transaction of the live unit, dated this many days before 31 January 2026. Its offering may be unpriced.
fn order(dashboard: &TestDashboard, days: u64, offering: &str) -> String {
    let mut order = minimal();
    order["pledges"][0]["impact"]["offeringId"] = json!(offering);
    dashboard.service.clock.0.set(NOW_MS - days * DAY_MS);
    dashboard.service.create(LIVE_UNIT, &order).json()["id"].as_str().unwrap().to_owned()
}

/// Returns a dashboard, and the IDs of the unit's two transactions in December. The second of them has an
/// offering without a price. The unit also has transactions in November and January.
pub fn used() -> (TestDashboard, [String; 2]) {
    let dashboard = dashboard(seeded());
    for days in [0, 1, 70] {
        order(&dashboard, days, "tree");
    }
    let ids = [order(&dashboard, 40, "tree"), order(&dashboard, 41, "new")];
    dashboard.reconcile();
    (dashboard, ids)
}

/// Returns the fields of the form that marks December as paid. Their values are valid, except where
/// `changed` replaces them.
fn payment(
    dashboard: &TestDashboard,
    changed: &[(&'static str, &str)],
) -> Vec<(&'static str, String)> {
    let page = dashboard.get(ACCOUNTS, "/units/unit_dev/paid?mode=live&month=2025-12");
    assert_has(&page, 200, &["Dec 2025 of the unit", "Amount in USD"]);
    assert_eq!(rows(&page), [["USD", "1.50", "", "", "", "1.50", "2", "1"]], "what is due");
    assert_eq!(field(&page.text, "amount-USD"), "1.50");
    assert_eq!(
        field(&page.text, "accept-unpriced"),
        "",
        "a person accepts unpriced pledges knowingly"
    );
    assert!(!page.text.contains("Amount in EUR"), "{}", page.text);
    let mut fields: Vec<_> =
        ["mode", "month", "operation"].map(|name| (name, field(&page.text, name))).to_vec();
    for (name, value) in [
        ("amount-USD", "1.50"),
        ("paid-at", "2026-01-05"),
        ("invoice", "2026/17"),
        ("accept-unpriced", "1"),
    ] {
        fields.push((name, value.to_owned()));
    }
    for (name, value) in changed {
        fields.retain(|(other, _)| other != name);
        fields.push((name, (*value).to_owned()));
    }
    fields
}

fn mark(dashboard: &TestDashboard, fields: &[(&str, String)]) -> Answer {
    let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, &**value)).collect();
    dashboard.post(ACCOUNTS, "/units/unit_dev/paid", &fields)
}

/// Presses the button that undoes December's payment. Returns the page that asks.
fn undo(dashboard: &TestDashboard) -> Answer {
    let fields = [("mode", "live"), ("month", "2025-12")];
    dashboard.post(ACCOUNTS, "/units/unit_dev/unpaid", &fields)
}

fn later(dashboard: &TestDashboard, ms: u64) {
    dashboard.clock.0.set(dashboard.clock.0.get() + ms);
}

fn audited(dashboard: &TestDashboard) -> Vec<String> {
    let changes = changes(dashboard.store(), &dashboard.ledger);
    changes.into_iter().map(|change| change.command).collect()
}

/// Returns the cells of a table's rows, without tags.
pub fn rows(page: &Answer) -> Vec<Vec<String>> {
    let table = page.text.split_once("<tbody>").unwrap().1.split_once("</tbody>").unwrap().0;
    let cell = |cell: &str| {
        let parts = cell.split('<').filter_map(|part| part.split_once('>'));
        parts.map(|(_, text)| text).collect::<String>().replace('\u{a0}', " ").trim().to_owned()
    };
    let cells = |row: &str| row.split("<td").map(|part| cell(&["<td", part].concat())).collect();
    table.split("<tr>").skip(1).map(cells).collect()
}

#[test]
fn months_are_summed_with_what_is_paid_and_up_to_when_they_are_complete() {
    let (dashboard, _) = used();
    dashboard.store().take_reads();
    dashboard.store().take_lists();
    let page = dashboard.get(ACCOUNTS, PAGE);
    assert_has(&page, 200, &["role=\"img\"", "Complete up to", "31 Jan 2026, 11:58 UTC"]);
    let expected = [
        ["Jan 2026", "2", "3.00 USD", "", "3.00 USD", "in progress", "Statement"],
        [
            "Dec 2025",
            "1 unpriced 2",
            "1.50 USD",
            "",
            "1.50 USD",
            "unpaid Mark as paid …",
            "Statement",
        ],
        ["Nov 2025", "1", "1.50 USD", "", "1.50 USD", "unpaid Mark as paid …", "Statement"],
    ];
    assert_eq!(rows(&page), expected);
    let aria = "aria-label=\"USD by month: Nov 2025 1.50; Dec 2025 1.50; Jan 2026 3.00\"";
    assert_has(
        &page,
        200,
        &[aria, "height=\"100\"", "height=\"50\"", "Highest: 3.00 USD (Jan 2026)."],
    );
    assert_eq!(page.text.matches("<rect").count(), 5, "three bars, and two of the legend");
    assert!(!page.text.contains(" style="), "the policy allows none");
    let lists: Vec<String> =
        dashboard.store().take_lists().into_iter().map(|list| list.prefix).collect();
    assert_eq!((lists, dashboard.store().reads()), (Vec::new(), 1), "a read of the epoch");
    let link = "/orders?unit=unit_dev&amp;mode=live&amp;month=2025-12&amp;state=unpriced";
    assert!(page.text.contains(link), "{}", page.text);
    let none = dashboard.get(ACCOUNTS, "/units/unit_dev/payments?mode=test");
    assert_has(&none, 200, &["This unit has no transactions in test mode"]);
    assert!(!none.text.contains("<svg class=\"chart\"") && !none.text.contains("payments.csv"));
    assert_has(
        &dashboard.get(ACCOUNTS, "/units/unit_dev/payments?mode=dead"),
        422,
        &["must be live or test"],
    );
    assert_has(
        &dashboard.get(ACCOUNTS, "/units/%3Cscript%3E%20/payments"),
        422,
        &["&lt;script&gt;"],
    );
}

#[test]
fn without_a_ledger_pages_say_how_to_bind_it_and_before_its_first_pass_that_orders_may_be_missing()
{
    let (mut dashboard, _) = used();
    dashboard.ledger = SqliteLedger::default();
    for path in [PAGE, "/payments", "/fulfilment", "/orders"] {
        assert_has(&dashboard.get(OPERATOR, path), 200, &["Transactions may be missing"]);
    }
    dashboard.ledger.set_failing(Failing::Unbound);
    for path in [
        PAGE,
        "/units/unit_dev/payments.csv",
        "/payments",
        "/payments.csv",
        "/fulfilment",
        "/orders",
    ] {
        let page = dashboard.get(OPERATOR, path);
        assert_has(&page, 500, &["This needs the ledger", "LEDGER_DB", "docs/ledger.md"]);
    }
}

#[test]
fn a_month_of_all_units_has_their_totals_and_what_is_unpaid() {
    let (dashboard, _) = used();
    let page = dashboard.get(ACCOUNTS, "/payments?month=2025-12");
    let total = ["USD", "1.50", "", "", "", "1.50", "2", "1"];
    assert_eq!(rows(&page), [total]);
    assert_has(&page, 200, &["href=\"/units/unit_dev/payments?mode=live\"", "Complete up to"]);
    let running = dashboard.get(ACCOUNTS, "/payments?month=2026-01");
    assert_has(&running, 200, &["in progress", "<strong>3.00</strong>"]);
    assert!(!dashboard.get(ACCOUNTS, "/payments").text.contains("<h2>Total"), "of several months");
    assert_has(&dashboard.get(ACCOUNTS, "/payments?mode=test"), 200, &["No months match"]);
    for wrong in ["month=2025-13", "month=%3Cscript%3E", "mode=dead"] {
        for path in ["/payments", "/payments.csv"] {
            let page = dashboard.get(ACCOUNTS, &format!("{path}?{wrong}"));
            assert!(page.status == 422 && !page.text.contains("<script"), "{}", page.text);
        }
    }
    let file = dashboard.get(ACCOUNTS, "/payments.csv?month=2025-12");
    let line =
        "2025-12,unit_dev,live,2,1,1.50,0.00,0.00,1.50,USD,,,,,,2026-01-31T11:58:00.123Z\r\n";
    assert!(file.text.ends_with(line), "{}", file.text);
    let name = "attachment; filename=\"payments-live-2025-12.csv\"";
    assert_eq!(file.headers["content-disposition"], name);
    let lines = |query: &str| {
        let file = dashboard.get(ACCOUNTS, &format!("/payments.csv?{query}"));
        file.text.lines().skip(1).count()
    };
    assert_eq!(["", "state=all", "state=paid"].map(lines), [2, 2, 0], "months that have ended");
    assert_eq!(dashboard.get(SUPPORT, "/payments.csv").status, 403);
}

#[test]
fn ten_thousand_shops_are_one_page_and_one_file() {
    let dashboard = dashboard(seeded());
    let ledger = &dashboard.ledger;
    ledger.sql(
        "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 10000)
         INSERT INTO scopes (scope, mode, unit) SELECT n, 'live', printf('<b>%05d', n) FROM n",
    );
    ledger.sql(
        "INSERT INTO transactions (id, scope, created, currency, cents, unpriced, changed, quantities)
         SELECT printf('ptran_%042d', scope), scope, 1769860800000, 'EUR', 1, 0, 0, '[]' FROM scopes",
    );
    let page = dashboard.get(ACCOUNTS, "/payments?month=2026-01");
    assert_has(&page, 200, &["100.00", "Next 50", "&lt;b&gt;00050"]);
    assert!(!page.text.contains("00051") && !page.text.contains("<b>"));
    let file = dashboard.get(ACCOUNTS, "/payments.csv?month=2026-01");
    assert_eq!((file.status, file.text.lines().count()), (200, 10_001));
    assert_has(&dashboard.get(ACCOUNTS, "/orders"), 200, &["Older"]);
    for text in ["order-1", "ada@example.org"] {
        let page = dashboard.search(OPERATOR, &[("text", text)]);
        assert_has(&page, 200, &["No unit, team, key or transaction matches this"]);
    }
}

#[test]
fn quantities_of_a_month_are_shown_by_offering_and_as_a_file() {
    let dashboard = dashboard(seeded());
    order(&dashboard, 0, "tree");
    order(&dashboard, 0, "=1+1,<script>");
    order(&dashboard, 0, &"o".repeat(1_000_000));
    dashboard.reconcile();
    let page = dashboard.get(ACCOUNTS, "/fulfilment");
    let rows = rows(&page);
    assert_eq!((rows.len(), &*rows[2][2]), (3, "3"));
    assert_has(&page, 200, &["=1+1,&lt;script&gt;", "oooo", "Complete up to", "Jan 2026"]);
    assert!(main_of(&page.text).len() < 7_000 && !page.text.contains("<script"));
    assert_has(&page, 200, &["/fulfilment?mode=live&amp;month=2026-02"]);
    assert!(!page.text.contains("mode=test"), "only pledges in live mode are to be done");
    let next = dashboard.get(ACCOUNTS, "/fulfilment?month=2026-02");
    assert_has(&next, 200, &["Nothing was pledged"]);
    assert_eq!(dashboard.get(SUPPORT, "/fulfilment").status, 403);
    let file = dashboard.get(ACCOUNTS, "/fulfilment.csv");
    assert!(file.text.contains("2026-01,live,\"'=1+1,<script>\",1,3,"), "{}", file.text);
    assert!(file.text.contains(&"o".repeat(180)), "a file has all that the ledger has of a text");
}

#[test]
fn a_month_is_marked_once_by_its_sum_and_a_form_that_is_sent_again_changes_nothing() {
    let (dashboard, [id, _]) = used();
    let confirm = |asked: &Answer| dashboard.confirm(ACCOUNTS, asked);
    let form = payment(&dashboard, &[]);
    let [asked, other] = [0, 1].map(|_| mark(&dashboard, &form));
    assert_has(&asked, 200, &["Mark 2025-12 of unit_dev (live) as paid?", "1.50 USD", "2026/17"]);
    assert_eq!(dashboard.store().copy(DECEMBER), None);
    let marked = confirm(&asked);
    assert_has(&marked, 200, &["is marked as paid", "1.50 USD", "5 Jan 2026", "2026/17"]);
    let stored = dashboard.store().value(DECEMBER).unwrap();
    assert!(stored.contains("\"paidAt\":\"2026-01-05T00:00:00.000Z\""), "{stored}");
    dashboard.service.clock.0.set(NOW_MS + 20_000);
    let paid = dashboard.service.isolate().get(LIVE_UNIT, &id).json();
    assert_eq!(paid["charge"]["paidAt"], "2026-01-05T00:00:00.000Z");

    later(&dashboard, 1_000);
    assert_has(&confirm(&asked), 200, &["This was already done", "is marked as paid"]);
    for late in [confirm(&other), mark(&dashboard, &form)] {
        assert_has(&late, 422, &["is already marked as paid: 1.50 USD paid on 5 Jan 2026"]);
    }
    let page = dashboard.get(ACCOUNTS, PAGE);
    let cell = "Paid on 5 Jan 2026, invoice 2026/17marked by joan@example.orgUndo …";
    let row = ["Dec 2025", "1 unpriced 2", "1.50 USD", "", "1.50 USD", cell, "Statement"];
    assert_eq!(rows(&page)[1], row);
    assert_has(&page, 200, &["<rect class=\"paid\"", "Dec 2025 1.50, paid"]);

    let [undoing, other_undo] = [0, 1].map(|_| undo(&dashboard));
    let facts = ["as unpaid?", "1.50 USD", "5 Jan 2026", "2026/17", ACCOUNTS];
    assert_has(&undoing, 200, &facts);
    assert_eq!(dashboard.store().value(DECEMBER), Some(stored));
    later(&dashboard, 1);
    assert_has(&confirm(&undoing), 200, &["is marked as unpaid", "2026/17"]);
    assert_has(&confirm(&other_undo), 422, &["is not marked as paid"]);

    later(&dashboard, 1_000);
    let stale = ["after this form was opened", "joan@example.org marked the month as unpaid at"];
    assert_has(&confirm(&other), 422, &stale);
    let again = ["This was already done", "nothing more was changed"];
    assert_has(&confirm(&asked), 200, &again);
    assert_eq!(dashboard.store().copy(DECEMBER), None);
    let hostile = mark(&dashboard, &payment(&dashboard, &[("invoice", "<b>\"'&")]));
    assert_has(&confirm(&hostile), 200, &["<bdi>&lt;b&gt;&quot;'&amp;</bdi>"]);
    let changed = ["have changed since you opened this page", "&lt;b&gt;&quot;'&amp;"];
    assert_has(&confirm(&other_undo), 422, &changed);
    assert_has(&dashboard.get(ACCOUNTS, PAGE), 200, &["<bdi>&lt;b&gt;&quot;'&amp;</bdi>"]);
    assert_eq!(audited(&dashboard), ["payments mark", "payments undo", "payments mark"]);
}

#[test]
fn a_payment_that_is_entered_wrongly_is_shown_again_with_the_problem() {
    let (dashboard, _) = used();
    let rows: [Row; 10] = [
        (&[("amount-USD", "1.49")], &["a sum of 1.50 USD, not of 1.49 USD", "value=\"1.49\""]),
        (&[("amount-EUR", "1")], &["1.50 USD, not of 1.00 EUR and 1.50 USD"]),
        (&[("amount-USD", "\"><script>")], &["value=\"&quot;&gt;&lt;script&gt;\""]),
        (&[("amount-USD", "")], &["fill in “Amount”", "id=\"amount-USD-problem\""]),
        (&[("accept-unpriced", "")], &["has 1 unpriced pledge"]),
        (&[("accept-unpriced", "-1")], &["a whole number", "value=\"-1\""]),
        (&[("paid-at", "2026-02-31")], &["enter a day", "value=\"2026-02-31\""]),
        (&[("paid-at", "2026-02-01")], &["which is in the future"]),
        (&[("invoice", "")], &["fill in “Invoice number”"]),
        (&[("month", "2026-01")], &["cannot be marked before"]),
    ];
    for (changed, words) in rows {
        let answer = mark(&dashboard, &payment(&dashboard, changed));
        assert_has(&answer, 422, words);
        assert_has(&answer, 422, &["role=\"alert\"", "Mark as paid</button>"]);
        assert!(!answer.text.contains("<script"), "{}", answer.text);
    }
    let old = mark(&dashboard, &payment(&dashboard, &[]));
    later(&dashboard, 3_600_001);
    let refused = dashboard.confirm(ACCOUNTS, &old);
    assert_has(&refused, 422, &["more than 60 minutes old", "value=\"2026/17\""]);
    assert_eq!((dashboard.store().value(DECEMBER), audited(&dashboard)), (None, vec![]));
}

/// Damaged records are missing from the sums. A person learns that before the month is marked as paid.
#[test]
fn the_question_before_a_payment_says_that_records_are_damaged() {
    let (dashboard, _) = used();
    let form = payment(&dashboard, &[]);
    let name = format!("transaction:{}", order(&dashboard, 0, "tree"));
    let metadata = dashboard.store().metadata(&name)[0].to_string().replace("1.50", "many");
    dashboard.store().keep(&name, b"{}", metadata.as_bytes());
    dashboard.reconcile();
    let asked = mark(&dashboard, &form);
    assert_has(&asked, 200, &["Damaged records of the unit are missing", "as paid?", &name]);
}

/// A spreadsheet program would run a text such as the invoice number `=1+1` as a formula. A CSV file never
/// contains such a text.
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
    let invoices = [
        "=1+1",
        "@a,b",
        "-7",
        "17;=1+1",
        "17; \"@A1\"|=1",
        "a - b -c d=e a@b",
        "\t=1",
        "\u{feff}=1+1",
        "\u{200b}\u{2060} @A1",
    ];
    for (number, invoice) in invoices.iter().enumerate() {
        month(&format!("2025-{:02}", 12 - number), invoice);
    }
    dashboard.ledger.reconcile(dashboard.store(), dashboard.clock.0.get());
    let file = dashboard.get(ACCOUNTS, "/units/=unit/payments.csv");
    let line = |month: &str, invoice: &str| {
        format!(
            "{month},'=unit,live,0,0,0.00,0.00,0.00,0.00,USD,1.50,2026-01-05T00:00:00.000Z,{invoice},\
            \"a, \"\"b\"\"\",2026-01-06T00:00:00.000Z,2026-01-31T11:58:00.123Z\r\n"
        )
    };
    let headings = "\u{feff}month,unit,mode,transactions,unpriced,amount,credited,carried,due,currency,\
        paid_amount,paid_at,invoice,marked_by,marked_at,complete_up_to\r\n";
    let lines = [
        line("2025-12", "'=1+1"),
        line("2025-11", "\"'@a,b\""),
        line("2025-10", "'-7"),
        line("2025-09", "\"17;'=1+1\""),
        line("2025-08", "\"17; \"\"'@A1\"\"|'=1\""),
        line("2025-07", "a - b '-c d=e a@b"),
        line("2025-06", "\u{fffd}=1"),
        line("2025-05", "\u{feff}'=1+1"),
        line("2025-04", "\u{200b}\u{2060} '@A1"),
    ];
    assert_eq!((file.status, file.text), (200, [headings, &lines.concat()].concat()));
    assert_eq!(file.headers["content-type"], "text/csv; charset=utf-8");
    assert_eq!(
        file.headers["content-disposition"],
        "attachment; filename=\"payments--unit-live-2026-01-31.csv\""
    );

    let (used, _) = used();
    let file = used.get(ACCOUNTS, "/units/unit_dev/payments.csv?mode=live").text;
    let unpaid =
        "2025-12,unit_dev,live,2,1,1.50,0.00,0.00,1.50,USD,,,,,,2026-01-31T11:58:00.123Z\r\n";
    assert!(file.contains(unpaid), "{file}");
}

/// Each currency has its own sum, row and chart. A sum that differs from the amount paid is marked, with a link to the later
/// transactions.
#[test]
fn currencies_have_separate_sums_beside_the_amounts_paid() {
    let dashboard = dashboard(seeded());
    let ledger = &dashboard.ledger;
    ledger.sql("INSERT INTO scopes (scope, mode, unit) VALUES (1, 'live', 'unit_dev')");
    let put = |id: u8, month: &str, code: &str, amount: &str, changed: u64| {
        let created = parse_ms(&format!("{month}-15T00:00:00Z")).unwrap();
        ledger.sql(&format!(
            "INSERT INTO transactions (id, scope, created, currency, amount, unpriced, changed, quantities)
             VALUES ('ptran_{id:042}', 1, {created}, '{code}', '{amount}', 0, {changed}, '[]')"
        ));
    };
    put(1, "2025-12", "EUR", "3e0", 0);
    put(2, "2025-12", "USD", "1e0", 0);
    put(3, "2025-12", "USD", "1e0", NOW_MS);
    put(4, "2024-12", "USD", "9e0", 0);
    put(5, "2025-01", "EUR", "1e300", 0);
    let sum =
        json!([{ "currencyCode": "USD", "amount": "1.00", "transactions": 1, "unpriced": 0 }]);
    let settlement = json!({ "paidAt": "2026-01-05T10:30:00.000Z", "sums": sum,
        "invoice": "1", "by": "ada", "at": "2026-01-06T00:00:00.000Z" });
    dashboard.settle(DECEMBER, &settlement);
    let page = dashboard.get(ACCOUNTS, PAGE);
    let rows = rows(&page);
    assert_eq!(rows.len(), 4);
    let paid =
        |amount| format!("Paid on 5 Jan 2026, 10:30 UTC, invoice 1 paid {amount}marked by ada");
    let first = [paid("0.00"), "Undo …Changed since it was marked as paid".to_owned()].concat();
    assert_eq!(rows[0][1..], ["1", "3.00 EUR", "", "3.00 EUR", &first, "Statement"]);
    assert_eq!(rows[1][1..], ["2", "2.00 USD", "", "2.00 USD", &*paid("1.00"), ""]);
    assert_has(&page, 200, &["USD by month: Dec 2025 2.00, paid\"", " (Jan 2025)."]);
    assert_eq!(page.text.matches("<svg class=\"chart\"").count(), 2);
    assert!(page.text.contains("height=\"0\"") && page.text.contains("height=\"100\""));
    let since = page
        .text
        .split_once("href=\"/orders?unit=unit_dev&amp;mode=live&amp;month=2025-12&amp;since=");
    let since = since.unwrap().1.split_once('"').unwrap().0;
    let list = format!("/orders?unit=unit_dev&mode=live&month=2025-12&since={since}");
    let list = dashboard.get(ACCOUNTS, &list);
    assert_has(&list, 200, &["changed since", "6 Jan 2026"]);
    assert_eq!(self::rows(&list).len(), 1);
}

/// People of a shop see that the operator marked a month as paid, but not the address of the person who did.
#[test]
fn a_shop_does_not_see_who_marked_a_month_as_paid() {
    use super::members::{EVA, VIC, shops};
    let shops = shops();
    let sum = json!({ "currencyCode": "USD", "amount": "0.50", "transactions": 1, "unpriced": 0 });
    let settlement = json!({ "paidAt": "2026-02-05T00:00:00.000Z", "sums": [sum], "invoice": "17",
        "by": OPERATOR, "at": "2026-02-06T00:00:00.000Z" });
    let (name, record) = ("settlement:live:north:2026-01", settlement.to_string());
    shops.dashboard.store().keep(name, record.as_bytes(), b"null");
    shops.dashboard.clock.0.set(NOW_MS + 10 * DAY_MS);
    shops.dashboard.reconcile();
    for path in ["/units/north/payments", "/units/north/payments.csv"] {
        for person in [EVA, VIC] {
            let page = shops.dashboard.get(person, path);
            assert_has(&page, 200, &["the operator", "17"]);
            assert!(!page.text.contains(OPERATOR), "{path}: {}", page.text);
        }
        assert_has(&shops.dashboard.get(ACCOUNTS, path), 200, &[OPERATOR]);
    }
    for path in
        ["/units/north/statement?month=2026-01", "/units/north/transactions.csv?month=2026-01", "/"]
    {
        let page = shops.dashboard.get(EVA, path);
        assert_has(&page, 200, &[]);
        assert!(!page.text.contains(OPERATOR), "{path}: {}", page.text);
    }
}

/// A person who opens payments from a list of months returns to this list from each payment.
#[test]
fn the_pages_of_a_payment_lead_back_to_the_list_with_its_filter() {
    let (dashboard, _) = used();
    let list = "mode=live&month=2025-12&state=open";
    let page = dashboard.get(ACCOUNTS, &format!("/payments?{list}"));
    let address = "/units/unit_dev/paid?mode=live&amp;month=2025-12&amp;list=";
    let (_, address) = page.text.split_once(&format!("href=\"{address}")).unwrap();
    let address = ["/units/unit_dev/paid?mode=live&month=2025-12&list=", address].concat();
    let opened = dashboard.get(ACCOUNTS, address.split('"').next().unwrap());
    assert_eq!(field(&opened.text, "list"), list);
    let back = format!("href=\"/payments?{}\"", list.replace('&', "&amp;"));
    let with_list = |mut form: Vec<(&'static str, String)>| {
        form.push(("list", list.to_owned()));
        form
    };
    let refused = mark(&dashboard, &with_list(payment(&dashboard, &[("paid-at", "never")])));
    assert_has(&refused, 422, &[&back]);
    assert_eq!(field(&refused.text, "list"), list, "a form that is sent again");
    let asked = mark(&dashboard, &with_list(payment(&dashboard, &[])));
    let (path, mut fields) = confirmation(&asked);
    fields.push(("back".to_owned(), "yes".to_owned()));
    let again = dashboard.send_form(ACCOUNTS, (path, fields));
    assert_has(&again, 200, &[&back, "Amount in USD", "value=\"2026/17\""]);
    assert_has(&dashboard.confirm(ACCOUNTS, &asked), 200, &["is marked as paid", &back]);
    let opened = [("mode", "live"), ("month", "2025-12"), ("list", "state=paid\"><b>")];
    let undone = dashboard.post_confirmed(ACCOUNTS, "/units/unit_dev/unpaid", &opened);
    assert_has(&undone, 200, &["href=\"/payments?state=paid&quot;&gt;&lt;b&gt;\""]);
}

/// Readers compare the amounts in a column by their thousands.
#[test]
fn large_amounts_have_commas_between_thousands_on_pages_and_none_in_files() {
    let dashboard = dashboard(seeded());
    let mut order = minimal();
    order["pledges"] = json!([{ "impact": { "amount": 2_469_134, "offeringId": "tree" } }]);
    dashboard.service.create(LIVE_UNIT, &order);
    dashboard.reconcile();
    let month = "mode=live&month=2026-01";
    for (path, cells) in [
        ("/payments", &["1,234,567.00 <bdi>USD", "<strong>1,234,567.00</strong>"][..]),
        ("/units/unit_dev/payments", &["1,234,567.00 <bdi>USD"]),
        ("/units/unit_dev/statement", &["1,234,567.00"]),
        ("/fulfilment", &["2,469,134"]),
        ("/orders", &["1,234,567.00 "]),
    ] {
        let page = dashboard.get(ACCOUNTS, &format!("{path}?{month}"));
        assert_has(&page, 200, cells);
        let shown = main_of(&page.text).split("<form").next().unwrap();
        assert!(!shown.contains("1234567") && !shown.contains(">2469134"), "{path}: {shown}");
    }
    let file = dashboard.get(ACCOUNTS, &format!("/payments.csv?{month}")).text;
    assert!(file.contains(",1234567.00,"), "{file}");
}
