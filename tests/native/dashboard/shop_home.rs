//! Tests the start page that the people of a shop see.

use super::OPERATOR;
use super::members::{EVA, Shops, VIC, ZOE, shops};
use super::prices::assert_has;
use support::ledger::Failing;
use support::service::minimal;

const DAY_MS: u64 = 86_400_000;

/// Creates a live transaction of the shop `north`, this many days ago.
fn create(shops: &Shops, reference: &str, days: u64) {
    let now_ms = shops.dashboard.clock.0.get();
    let mut order = minimal();
    order["reference"] = reference.into();
    shops.dashboard.service.clock.0.set(now_ms - days * DAY_MS);
    assert_eq!(shops.dashboard.service.create("service_sk_live_north_key", &order).status, 200);
    shops.dashboard.service.clock.0.set(now_ms);
}

#[test]
fn a_shop_sees_its_newest_transactions_this_month_and_its_unpaid_months() {
    let shops = shops();
    create(&shops, "in-december", 40);
    shops.dashboard.reconcile();
    for person in [EVA, VIC] {
        let page = shops.dashboard.get(person, "/");
        assert_has(&page, 200, &["Newest transactions", "in-december", "order-of-north"]);
        assert_has(
            &page,
            200,
            &["This month so far", "for 1 live transaction", "Not marked as paid"],
        );
        let of_all = ["This year: <a href=\"/units/north/impact\">", "/units/north/payments"];
        assert_has(&page, 200, &of_all);
        let of_managers = ["2 live, 2 in all", "2 people", "1 connected", "/units/north/prices"];
        for words in of_managers {
            assert_eq!(page.text.contains(words), person == EVA, "{person}: {words}");
        }
        assert_has(&page, 200, &["/units/north/statement?mode=live&amp;month=2025-12"]);
        assert!(!page.text.contains("south"), "nothing of another shop");
        assert!(!page.text.contains("Steps to your first live transaction"));
    }
    let erase = shops.dashboard.get(EVA, "/person");
    assert_has(&erase, 200, &["id=\"unit\" name=\"unit\" value=\"north\""]);
    let other = shops.dashboard.get(ZOE, "/");
    assert_has(&other, 200, &["order-of-south"]);
    assert!(!other.text.contains("north") && !other.text.contains("Not marked as paid"));
}

#[test]
fn a_month_whose_charges_are_credited_whole_is_neither_unpaid_nor_to_be_settled() {
    let shops = shops();
    create(&shops, "in-december", 40);
    shops.dashboard.reconcile();
    let ledger = &shops.dashboard.ledger;
    let is_shown = || {
        let shop = shops.dashboard.get(EVA, "/").text.contains("Not marked as paid");
        let operator = shops.dashboard.get(OPERATOR, "/").text.contains("1 unit in Dec 2025");
        (shop, operator)
    };
    assert_eq!(is_shown(), (true, true));
    for (number, left) in [(1, "1"), (2, "0")] {
        ledger.sql(&format!(
            "INSERT INTO credits (id, number, operation, mode, unit, order_month, booked_month, currency, charge_cents,
               cents, quantities, reason, change, author, at)
             SELECT id, {number}, {number}, 'live', 'north', '2025-12', '2025-12', currency, cents,
               iif({number} = 1, cents - 1, 1), '[]', 'r', 'c', 'a', 0
             FROM transactions WHERE created < 1767225600000"
        ));
        assert_eq!(is_shown(), (left == "1", left == "1"), "{left} cents are due");
    }
}

#[test]
fn a_shop_without_a_live_transaction_sees_what_is_left_to_do() {
    let shops = shops();
    let ledger = &shops.dashboard.ledger;
    ledger.sql("DELETE FROM transactions");
    let page = shops.dashboard.get(EVA, "/");
    assert_has(
        &page,
        200,
        &["Steps to your first live transaction", "/units/north/preview?of=mail"],
    );
    assert_has(&page, 200, &["Prices in USD: done, for ", "A live API key: done."]);
    let store = shops.dashboard.store();
    let names = store.names();
    let is_left = |name: &&String| !name.starts_with("key:") && !name.starts_with("catalogue:");
    names.iter().filter(|name| !is_left(name)).for_each(|name| store.remove(name));
    let page = shops.dashboard.get(EVA, "/");
    assert_has(&page, 200, &["There are no prices yet", "Create a live API key on"]);
    assert_has(&page, 200, &["This month so far: no live transactions"]);
}

/// The quantities of a large shop are summed on the page *Impact* alone: the start page counts the orders by sums of days.
#[test]
fn a_shop_with_many_orders_sees_their_number() {
    let shops = shops();
    create(&shops, "first", 0);
    shops.dashboard.reconcile();
    shops.dashboard.ledger.sql(
        "WITH RECURSIVE numbers(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < 20000)
        INSERT INTO transactions (id, scope, created, currency, cents, unpriced, changed, quantities)
        SELECT 'ptran_' || n, scope, created, currency, cents, 0, changed, quantities
        FROM numbers CROSS JOIN (SELECT t.* FROM transactions t JOIN scopes USING (scope)
          WHERE unit = 'north' AND mode = 'live' ORDER BY created DESC LIMIT 1)",
    );
    let home = shops.dashboard.get(EVA, "/");
    let orders = home.text.split("/units/north/impact\">").nth(1).unwrap_or_default();
    assert!(orders.starts_with("2000") && orders.contains(" orders</a>"), "{}", home.text);
    let impact = shops.dashboard.get(EVA, "/units/north/impact");
    assert_has(&impact, 200, &["Since Jan 2026, our orders have pledged"]);
}

#[test]
fn a_part_that_cannot_be_read_says_so_and_the_others_are_shown() {
    let shops = shops();
    let ledger = &shops.dashboard.ledger;
    ledger.set_failing_after(1, Failing::Before); // the first call reads what the person may do
    let page = shops.dashboard.get(EVA, "/");
    let names = [
        "The first steps",
        "This month so far",
        "This year",
        "The unpaid months",
        "People",
        "Shop systems",
        "The newest transactions",
    ];
    for name in names {
        assert_has(
            &page,
            200,
            &[&format!("{name} could not be read</span>"), "Statements and payments"],
        );
    }
}

#[test]
fn a_shop_gets_the_badge_of_its_public_total() {
    let shops = shops();
    let page = || shops.dashboard.get(EVA, "/units/north/impact");
    let store = shops.dashboard.store();
    let total = r#"{"since":"2026-01","until":"2026-01-30","totals":[{"offeringId":"tree<\"","quantity":1200}]}"#;
    store.keep("total:north", total.as_bytes(), b"null");
    assert_has(
        &page(),
        200,
        &["Public total", "switch on the public total on <a href=\"/units/north\">"],
    );
    assert!(!page().text.contains("1,200"), "not switched on");
    store.keep("profile:north", br#"{"name":"North","publicTotal":true}"#, b"null");
    let badge = "&lt;impact-badge src=&quot;https://YOUR-API/impact/north&quot; offering=&quot;tree&amp;lt;&amp;quot;&quot; \
                 other=&quot;{} of tree&amp;lt;&amp;quot;&quot;&gt;&lt;/impact-badge&gt;";
    assert_has(
        &page(),
        200,
        &["From the start of Jan 2026 to ", "30 Jan 2026", "<strong>1,200</strong>", badge],
    );
    store.remove("total:north");
    assert_has(&page(), 200, &["There is nothing to show yet."]);
    store.keep("total:north", b"{}", b"null");
    assert_has(&page(), 200, &["The public total could not be read"]);
}

/// A year counts live pledges since January, less credits, and only updates about what the shop itself pledged.
#[test]
fn a_shop_sees_what_it_pledged_this_year_and_what_its_buyers_were_told() {
    let shops = shops();
    let (dashboard, ledger) = (&shops.dashboard, &shops.dashboard.ledger);
    ledger.sql("DELETE FROM transactions");
    let mut order = minimal();
    for (amount, days) in [(1_000, 0), (412, 3), (7, 40)] {
        order["pledges"][0]["impact"]["amount"] = amount.into();
        let now_ms = dashboard.clock.0.get();
        dashboard.service.clock.0.set(now_ms - days * DAY_MS);
        assert_eq!(dashboard.service.create("service_sk_live_north_key", &order).status, 200);
        dashboard.service.clock.0.set(now_ms);
    }
    let names = dashboard.store().names();
    for id in &shops.ids[..2] {
        names
            .iter()
            .filter(|name| name.ends_with(id))
            .for_each(|name| dashboard.store().remove(name));
    }
    dashboard.reconcile();
    ledger.sql(
        "INSERT INTO credits (id, number, operation, mode, unit, order_month, booked_month, currency, charge_cents, cents,
           quantities, reason, change, author, at)
         SELECT id, 1, 1, 'live', 'north', '2026-01', '2026-01', currency, cents, 0, '[[\"tree\",12000000]]', 'r', 'c', 'a', 0
         FROM transactions ORDER BY created DESC LIMIT 1",
    );
    let update = |id: &str, offering: &str, state: &str, text: &str| {
        let content = serde_json::json!({ "id": id, "stage": "done", "date": "2026-01-20", "texts": { "en": text } });
        ledger.sql(&format!(
            "INSERT INTO updates (id, mode, month, offering, state, day, content, revision, operation, author, at, changer, changed)
             VALUES ('{id}', 'live', '2026-01', '{offering}', '{state}', '2026-01-20', '{content}', 1, '', 'a', 0, 'a', 0)"
        ));
    };
    update("upd_1", "tree", "published", "We <planted> them.");
    update("upd_2", "tree", "draft", "A draft.");
    update("upd_3", "reef", "published", "Of others.");
    for person in [EVA, VIC, OPERATOR] {
        let page = dashboard.get(person, "/units/north/impact");
        assert_has(
            &page,
            200,
            &["<strong>1,400</strong>", "Since Jan 2026, our orders have pledged 1,400 tree."],
        );
        assert_has(
            &page,
            200,
            &["We &lt;planted&gt; them.", "unit=north&amp;mode=live&amp;from=2026-01-01"],
        );
        assert!(
            !page.text.contains("A draft.") && !page.text.contains("Of others."),
            "{}",
            page.text
        );
    }
    assert_has(&dashboard.get(EVA, "/"), 200, &[">1,400 tree</a>"]);
    assert_has(
        &dashboard.get(ZOE, "/units/south/impact"),
        200,
        &["Nothing was pledged yet.", "Nothing yet about"],
    );
    let list = dashboard.get(EVA, "/orders.csv?unit=north&mode=live&from=2026-01-01");
    assert_eq!(list.text.lines().count(), 3, "two orders of this year: {}", list.text);
    ledger.set_failing_after(1, Failing::Before);
    assert_eq!(dashboard.get(EVA, "/units/north/impact").status, 503);
}
