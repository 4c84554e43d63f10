//! Tests the page of payments, and statements as pages and as files.

use super::prices::assert_has;
use super::{ACCOUNTS, OPERATOR, SUPPORT, TestDashboard, dashboard, field};
use impact_pledge::office::shared::page::settings::{Settings, Variables};
use serde_json::{Value, json};
use support::ledger::Failing;
use support::service::{Answer, LIVE_UNIT, NOW_MS, minimal, put_prices, seeded};

const DAY_MS: u64 = 24 * 60 * 60_000;
const STATEMENT: &str = "/units/unit_dev/statement?month=2025-12";

/// Returns a dashboard whose ledger has one transaction of 1.00 EUR for each unit and month.
fn filled(units: &[&str], months: &[(&str, u64)]) -> TestDashboard {
    let dashboard = dashboard(seeded());
    let ledger = &dashboard.ledger;
    for (shop, unit) in units.iter().enumerate() {
        ledger.sql(&format!(
            "INSERT INTO scopes (scope, mode, unit) VALUES ({}, 'live', '{unit}')",
            shop + 1
        ));
        for (month, created) in months {
            ledger.sql(&format!(
                "INSERT INTO transactions (id, scope, created, currency, cents, unpriced, changed, quantities)
                 VALUES ('ptran_{unit}_{month}', {}, {created}, 'EUR', 100, 0, 0, '[]')",
                shop + 1
            ));
        }
    }
    dashboard
}

/// Returns 14 months, each with the time of a transaction in it. They end before January 2026, the month of
/// the test's clock.
fn months() -> Vec<(&'static str, u64)> {
    let names = [
        "2026-01", "2025-12", "2025-11", "2025-10", "2025-09", "2025-08", "2025-07", "2025-06",
        "2025-05", "2025-04", "2025-03", "2025-02", "2025-01", "2024-12",
    ];
    let first = |name: &str| {
        impact_pledge::pledges::time::parse_ms(&format!("{name}-15T00:00:00Z")).unwrap()
    };
    names.iter().map(|name| (*name, first(name))).collect()
}

fn settle(dashboard: &TestDashboard, unit: &str, month: &str, amount: &str) {
    let sum = json!({ "currencyCode": "EUR", "amount": amount, "transactions": 1, "unpriced": 0 });
    let settlement = json!({ "paidAt": "2026-01-05T00:00:00.000Z", "sums": [sum],
        "invoice": "17", "by": "ada", "at": "2026-01-06T00:00:00.000Z" });
    let name = format!("settlement:live:{unit}:{month}");
    dashboard.settle(&name, &settlement);
}

/// Returns the cells of the last table, without tags. A page of one month has another with its total.
fn rows(page: &Answer) -> Vec<Vec<String>> {
    let Some((_, table)) = page.text.rsplit_once("<tbody>") else { return Vec::new() };
    let cell = |cell: &str| {
        let parts = cell.split('<').filter_map(|part| part.split_once('>'));
        parts.map(|(_, text)| text).collect::<String>().replace('\u{a0}', " ").trim().to_owned()
    };
    let cells = |row: &str| row.split("<td").map(|part| cell(&["<td", part].concat())).collect();
    table.split_once("</tbody>").unwrap().0.split("<tr>").skip(1).map(cells).collect()
}

/// Returns month and unit of each row.
fn shops(page: &Answer) -> Vec<(String, String)> {
    rows(page).into_iter().map(|row| (row[0].clone(), row[1].clone())).collect()
}

#[test]
fn the_last_ended_months_of_all_shops_have_their_dues_and_payments() {
    let dashboard = filled(&["a", "b:c"], &months());
    settle(&dashboard, "a", "2025-12", "1.00");
    settle(&dashboard, "b:c", "2025-11", "2.00");
    settle(&dashboard, "gone", "2025-10", "3.00");
    dashboard.store().take_reads();
    dashboard.store().take_lists();
    let calls = dashboard.ledger.calls.get();
    let all = dashboard.get(ACCOUNTS, "/payments?state=all");
    let calls = dashboard.ledger.calls.get() - calls;
    assert!(calls <= 7, "{calls} queries");
    assert_eq!(
        (dashboard.store().take_lists().len(), dashboard.store().take_reads().len()),
        (0, 1)
    );
    let shown = rows(&all);
    assert_eq!(shown.len(), 2 * 12 + 1, "January 2026 has not ended, December 2024 is too old");
    let paid = "Paid on 5 Jan 2026, invoice 17marked by adaUndo …";
    let unpaid = "unpaid Mark as paid …";
    let statement = "Statement";
    assert_eq!(shown[0], ["Dec 2025", "a", "1", "1.00 EUR", "", "1.00 EUR", paid, statement]);
    assert_eq!(shown[1], ["Dec 2025", "b:c", "1", "1.00 EUR", "", "1.00 EUR", unpaid, statement]);
    let differs = "Paid on 5 Jan 2026, invoice 17 paid 2.00marked by adaUndo …Changed since it was marked as paid";
    assert_eq!(shown[3][6], differs);
    assert_eq!(shown[6][..4], ["Oct 2025", "gone", "0", "0.00 EUR"]);
    assert_has(&all, 200, &["/units/b:c/statement?mode=live&amp;month=2025-11"]);
    let open = shops(&dashboard.get(ACCOUNTS, "/payments"));
    assert_eq!(open.len(), 22);
    assert!(!open.contains(&("Dec 2025".to_owned(), "a".to_owned())));
    let paid = shops(&dashboard.get(ACCOUNTS, "/payments?state=paid"));
    let expected = [("Dec 2025", "a"), ("Nov 2025", "b:c"), ("Oct 2025", "gone")];
    assert_eq!(paid, expected.map(|(month, unit)| (month.to_owned(), unit.to_owned())));
    let old = shops(&dashboard.get(ACCOUNTS, "/payments?month=2024-12&unit=a"));
    assert_eq!(old, [("Dec 2024".to_owned(), "a".to_owned())]);
    let running = dashboard.get(ACCOUNTS, "/payments?month=2026-01&unit=a");
    assert_eq!(rows(&running)[0][6], "in progress");
    assert_has(&dashboard.get(ACCOUNTS, "/payments?mode=test"), 200, &["No months match"]);
    assert_eq!(dashboard.get(SUPPORT, "/payments").status, 403);
}

/// Credits can be booked in a month without transactions.
#[test]
fn a_month_that_has_only_credits_is_listed() {
    let dashboard = filled(&["a"], &months()[3..4]);
    dashboard.ledger.sql(
        "INSERT INTO credits (id, number, operation, mode, unit, order_month, booked_month, currency, charge_cents, cents,
           quantities, reason, author, at, change)
         VALUES ('ptran_a_2025-10', 1, 'x', 'live', 'a', '2025-10', '2025-11', 'EUR', 100, 100, '[]', 'wrong', 'ada', 0, 'audit:x')",
    );
    let shown = rows(&dashboard.get(ACCOUNTS, "/payments"));
    assert_eq!(shown.len(), 2, "{shown:?}");
    let credited = "1.001.00 carried to a later month";
    assert_eq!(shown[0][..6], ["Nov 2025", "a", "0", "0.00 EUR", credited, "0.00 EUR"]);
    assert!(shown[0][6].starts_with("nothing due"), "{shown:?}");
    let statement = dashboard.get(ACCOUNTS, "/units/a/statement?month=2025-11&mode=live");
    let rows = ["Sum", "Credits", "Carried to a later month", "Due"];
    let places = rows.map(|row| statement.text.find(&format!(">{row}<")));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{}", statement.text);
    assert_has(&statement, 200, &[">-1.00<", ">1.00<"]);
}

#[test]
fn pages_follow_each_other_without_gaps_and_their_links_can_be_shared() {
    let names: Vec<_> = (0..120).map(|index| format!("u{index:03}")).collect();
    let units: Vec<_> = names.iter().map(|name| &**name).collect();
    let dashboard = filled(&units, &months()[1..3]);
    settle(&dashboard, "u001", "2025-12", "1.00");
    let (mut path, mut found, mut pages) = ("/payments?state=open".to_owned(), Vec::new(), 0);
    loop {
        let page = dashboard.get(ACCOUNTS, &path);
        let own = shops(&page);
        assert!(page.status == 200 && (1..=50).contains(&own.len()), "{path}");
        found.extend(own);
        pages += 1;
        let Some((_, next)) = page.text.split_once("rel=\"next\" href=\"") else { break };
        path = next.split_once('"').unwrap().0.replace("&amp;", "&");
        assert!(path.starts_with("/payments?state=open&after=live:u"), "{path}");
    }
    let month = |name: &str| (name.to_owned(), "u001".to_owned());
    assert_eq!((pages, found.len()), (5, 239));
    assert!(!found.contains(&month("Dec 2025")) && found.contains(&month("Nov 2025")));
    let mut sorted = found.clone();
    sorted.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.cmp(&b.1)));
    assert_eq!(found, sorted, "December is before November, then by unit");
}

#[test]
fn wrong_filters_are_refused() {
    let dashboard = filled(&["a"], &[]);
    for wrong in
        ["state=x", "mode=x", "month=2025-13", "after=x", "after=live:2025-12", "unit=%20a%20b"]
    {
        let page = dashboard.get(ACCOUNTS, &format!("/payments?{wrong}"));
        assert_eq!(page.status, 422, "{wrong}");
    }
}

// ---- Statements ----------------------------------------------------------------------------------

/// Returns the dashboard of a shop with two transactions in December. One of them has an offering without a
/// price.
fn charged() -> TestDashboard {
    let mut dashboard = dashboard(seeded());
    let time = "2025-12-01T00:00:00.000Z";
    let list = json!({ "currencyCode": "USD", "unitPrices": { "tree": "0.50" }, "prices": time });
    put_prices(
        dashboard.store(),
        impact_pledge::pledges::scope::Mode::Live,
        list.to_string().as_bytes(),
    );
    let by = json!({ "created": time, "by": "ada@example.org" }).to_string();
    let name = format!("prices:live:{time}");
    dashboard.store().keep(&name, list.to_string().as_bytes(), by.as_bytes());
    for (days, offering) in [(40, "tree"), (41, "<new>")] {
        let mut order = minimal();
        order["pledges"][0]["impact"]["offeringId"] = json!(offering);
        dashboard.service.clock.0.set(NOW_MS - days * DAY_MS);
        assert_eq!(dashboard.service.create(LIVE_UNIT, &order).status, 200);
    }
    dashboard.settings = Settings::parse(Variables {
        operators: OPERATOR,
        accounts: ACCOUNTS,
        support: SUPPORT,
        billing_name: "Forest & Co",
        billing_address: "1 Road\nLondon\u{202e}",
        tax_text: "VAT GB1",
        bank_details: "IBAN GB2",
        ..Variables::default()
    });
    dashboard.reconcile();
    dashboard
}

#[test]
fn a_statement_names_both_sides_and_the_amount_of_its_form() {
    let dashboard = charged();
    let profile: Value = json!({ "name": "Small Hours", "billingName": "Small Hours <Ltd>",
        "billingAddress": "2 Lane\nParis", "taxText": "VAT FR3" });
    dashboard.store().keep("profile:unit_dev", profile.to_string().as_bytes(), b"null");
    let page = dashboard.get(ACCOUNTS, STATEMENT);
    let words = [
        "<h1>Statement unit_dev-2025-12-live</h1>",
        "Forest &amp; Co",
        "1 Road",
        "VAT GB1",
        "IBAN GB2",
        "Small Hours &lt;Ltd&gt;",
        "2 Lane",
        "VAT FR3",
        "Pledges without a price, charged 0.00: 1.",
        "/units/unit_dev/transactions.csv?mode=live&amp;month=2025-12",
    ];
    assert_has(&page, 200, &words);
    let expected = [
        ["&lt;new&gt;", "3", "none", "0.00"],
        ["tree", "3", "0.50", "1.50"],
        ["Sum", "", "", "1.50"],
        ["Due", "", "", "1.50"],
    ];
    assert_eq!(rows(&page), expected);
    let form = dashboard.get(ACCOUNTS, "/units/unit_dev/paid?mode=live&month=2025-12");
    let amount = field(&form.text, "amount-USD");
    assert_has(&page, 200, &[&format!("<strong>{amount}</strong>")]);
    assert!(!page.text.contains("not set") && !page.text.contains("Preliminary"));
    assert_eq!(dashboard.get(SUPPORT, STATEMENT).status, 403);
}

#[test]
fn a_statement_says_what_is_missing_or_may_change() {
    let mut dashboard = charged();
    let running = dashboard.get(ACCOUNTS, "/units/unit_dev/statement?month=2026-01");
    assert_eq!(dashboard.get(ACCOUNTS, "/units/unit_dev/statement").text, running.text);
    assert_has(&running, 200, &["Preliminary", "No transactions in this month"]);
    dashboard.settings = Settings::parse(Variables { accounts: ACCOUNTS, ..Variables::default() });
    let bare = dashboard.get(ACCOUNTS, STATEMENT);
    assert_has(&bare, 200, &["BILLING_NAME", "no billing address yet", "Small Hours Coffee"]);
    let paid_sums: [(&[(&str, &str)], bool); 4] = [
        (&[("USD", "1.50")], false),
        (&[("USD", "1.00")], true),
        (&[("USD", "1.50"), ("GBP", "0.00")], false),
        (&[("USD", "1.50"), ("GBP", "2.00")], true), // its transactions are gone
    ];
    for (sums, has_changed) in paid_sums {
        let sum = |(code, amount): &(&str, &str)| json!({ "currencyCode": code, "amount": amount, "transactions": 1, "unpriced": 0 });
        let settlement = json!({ "paidAt": "2026-01-05T00:00:00.000Z", "invoice": "17", "by": "ada",
            "sums": sums.iter().map(sum).collect::<Vec<_>>(), "at": "2026-01-06T00:00:00.000Z" });
        dashboard.settle("settlement:live:unit_dev:2025-12", &settlement);
        let paid = dashboard.get(ACCOUNTS, STATEMENT);
        assert_has(
            &paid,
            200,
            &["Paid on", "invoice <bdi>17</bdi>", &format!("{} USD", sums[0].1)],
        );
        assert_eq!(paid.text.contains("changed since this month"), has_changed, "{sums:?}");
    }
    for wrong in ["month=x", "month=2025-12&mode=x"] {
        let page = dashboard.get(ACCOUNTS, &format!("/units/unit_dev/statement?{wrong}"));
        assert_eq!(page.status, 422, "{wrong}");
    }
    dashboard.ledger.set_failing(Failing::Unbound);
    for path in [STATEMENT, "/payments", "/units/unit_dev/transactions.csv?month=2025-12"] {
        assert_has(&dashboard.get(ACCOUNTS, path), 500, &["This needs the ledger"]);
    }
}

#[test]
fn the_transactions_of_a_statement_are_a_file_of_bounded_size() {
    let dashboard = charged();
    let path = "/units/unit_dev/transactions.csv?month=2025-12";
    let file = dashboard.get(ACCOUNTS, path);
    assert_eq!((file.status, file.text.lines().count()), (200, 3));
    assert!(file.text.contains(",order-1,<new>,3,0.00,USD,1,"), "{}", file.text);
    let name = "attachment; filename=\"transactions-unit_dev-live-2025-12.csv\"";
    assert_eq!(file.headers["content-disposition"], name);
    let hostile = dashboard.get(ACCOUNTS, "/units/a%2F..;b:c%25/transactions.csv?month=2025-12");
    let name = "attachment; filename=\"transactions-a----b-c--live-2025-12.csv\"";
    assert_eq!(hostile.headers["content-disposition"], name);
    dashboard.ledger.sql(
        "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 2000)
         INSERT INTO transactions (id, scope, created, currency, cents, unpriced, changed, quantities)
         SELECT 'ptran_' || n, (SELECT scope FROM scopes WHERE mode = 'live'), 1765800000000, 'USD', 1, 0, 0, '[]' FROM n",
    );
    assert_has(
        &dashboard.get(ACCOUNTS, path),
        422,
        &["has 2002 transactions", "transactions export"],
    );
    assert_eq!(dashboard.get(SUPPORT, path).status, 403);
}

/// Returns the fields of the form that marks several months, with values for those that a person fills in.
fn several(page: &Answer, invoices: &[(&str, &str)]) -> Vec<(String, String)> {
    let (_, form) = page.text.split_once("action=\"/payments/several\"").unwrap();
    let names = form.split("name=\"").skip(1).map(|rest| rest.split_once('"').unwrap().0);
    let value = |name: &str| match name.split_once('.') {
        Some(("invoice", of)) => invoices.iter().find(|(own, _)| *own == of).unwrap().1.to_owned(),
        _ if name == "paid-at" => "2026-02-05".to_owned(),
        _ => field(&page.text, name),
    };
    names.map(|name| (name.to_owned(), value(name))).collect()
}

fn send_several(dashboard: &TestDashboard, fields: &[(String, String)]) -> Answer {
    let fields: Vec<_> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
    dashboard.post(ACCOUNTS, "/payments/several", &fields)
}

#[test]
fn several_months_are_marked_as_paid_each_as_a_change_of_its_own() {
    let dashboard = super::members::shops().dashboard;
    dashboard.clock.0.set(NOW_MS + 10 * DAY_MS);
    dashboard.reconcile();
    let list = dashboard.get(ACCOUNTS, "/payments?month=2026-01");
    assert_has(&list, 200, &["href=\"/payments/several?month=2026-01\""]);
    let printed = dashboard.get(ACCOUNTS, "/payments/statements?month=2026-01");
    assert_has(&printed, 200, &["north-2026-01-live", "south-2026-01-live"]);
    assert_eq!(printed.text.matches("<div class=\"statement\">").count(), 2, "a sheet for each");
    assert_has(&dashboard.get(ACCOUNTS, "/payments/statements?month=x"), 422, &[]);
    let page = dashboard.get(ACCOUNTS, "/payments/several?month=2026-01");
    let (north, south) = ("live:north:2026-01", "live:south:2026-01");
    for of in [north, south] {
        let box_of = format!("name=\"mark.{of}\" value=\"yes\" checked");
        assert_has(&page, 200, &[&box_of, &format!("name=\"amount.{of}\" value=\"USD=")]);
    }
    let invoices = [(north, "N-1"), (south, "S-1")];
    let whole = several(&page, &invoices);
    let without = |lacking: &str| -> Vec<_> {
        whole.iter().filter(|(name, _)| !name.starts_with(lacking)).cloned().collect()
    };
    for (lacking, problem) in [
        ("mark.", "Choose at least one month"),
        ("invoice.live:south", "Enter the invoice number"),
        ("paid-at", "Enter the day"),
    ] {
        let again = send_several(&dashboard, &without(lacking));
        assert_has(&again, 422, &[problem]);
        if lacking != "invoice.live:south" {
            assert_has(&again, 422, &["value=\"N-1\"", "value=\"S-1\""]);
        }
    }
    let marked = || dashboard.changes().iter().filter(|it| it.starts_with("payments mark")).count();
    assert_eq!(marked(), 0, "an incomplete form marks nothing");

    dashboard.clock.0.set(NOW_MS); // meanwhile, what is due for one of them grows
    let mut order = minimal();
    order["reference"] = "late".into();
    dashboard.make("service_sk_live_south_key", &order);
    dashboard.clock.0.set(NOW_MS + 10 * DAY_MS);
    dashboard.reconcile();
    for _ in 0..2 {
        let outcome = send_several(&dashboard, &whole);
        assert_has(
            &outcome,
            200,
            &["1 of 2 months were not marked as paid", "has a sum of 3.00 USD"],
        );
        assert_eq!(outcome.text.matches(">Marked as paid<").count(), 1);
        assert_eq!(marked(), 1, "sent twice, marked once");
    }
    let left = dashboard.get(ACCOUNTS, "/payments/several?month=2026-01");
    assert!(!left.text.contains(north) && left.text.contains(south));
    let outcome = send_several(&dashboard, &several(&left, &invoices));
    assert_has(&outcome, 200, &["1 month marked as paid."]);
    assert_eq!(marked(), 2);
    let none = dashboard.get(ACCOUNTS, "/payments/several?month=2026-01");
    assert_has(&none, 200, &["No unpaid month matches."]);
    assert_eq!(dashboard.get(SUPPORT, "/payments/several").status, 403);
}
