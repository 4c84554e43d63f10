//! Tests how orders are fetched: which requests are sent, what a shop's answers can do, and who may ask for what.

use super::pages::rules;
use super::{SECRET, Shop};
use impact_pledge::office::connections::rule::public_host;
use serde_json::{Value, json};

const TOKEN: &str = "ck_0123456789:cs_0123456789";

fn shop() -> Shop {
    Shop::with_token("woocommerce", "live", &rules(), Some(TOKEN))
}

/// Returns a paid order of WooCommerce.
fn order(id: u64) -> Value {
    json!({
        "id": id, "number": id.to_string(), "status": "processing", "currency": "EUR", "total": "39.90",
        "date_paid_gmt": "2026-01-31T07:00:00",
        "billing": { "email": "bea@buyers.example", "first_name": "Bea" },
        "line_items": [{ "id": 1, "name": "Mug", "product_id": 11, "quantity": 2, "total": "39.90" }],
    })
}

impl Shop {
    /// Puts orders into the shop, each with the time of its last change in seconds after the connection was made.
    fn has(&self, orders: impl IntoIterator<Item = (i64, Value)>) {
        let orders = orders.into_iter();
        let orders = orders.map(|(at, order)| (self.made.saturating_add_signed(at), order));
        self.shop.orders.replace(orders.collect());
    }

    fn asked(&self) -> Vec<String> {
        self.shop.asked.take()
    }

    fn problem(&self) -> Vec<String> {
        self.dashboard.ledger.sql("SELECT ifnull(problem, 'none') FROM fetches")
    }
}

#[test]
fn requests_are_those_of_the_documentation() {
    for (system, token, expected) in [
        (
            "woocommerce",
            TOKEN,
            "https://shop.example/wp-json/wc/v3/orders?modified_after=2026-01-31T11%3A49%3A59&dates_are_gmt=true\
             &orderby=modified&order=asc&per_page=20&page=1",
        ),
        (
            "shopify",
            "shpat_0123456789",
            "https://acme.myshopify.com/admin/api/2026-10/orders.json?status=any&order=updated_at+asc\
             &updated_at_min=2026-01-31T11%3A50%3A00Z&limit=20",
        ),
        (
            "bigcommerce",
            "bc_token_0123456789",
            "https://api.bigcommerce.com/stores/abcde/v2/orders?min_date_modified=2026-01-31T11%3A50%3A00Z\
             &sort=date_modified%3Aasc&limit=20&page=1",
        ),
        (
            "stripe",
            "rk_live_0123456789",
            "https://api.stripe.com/v1/events?types%5B%5D=checkout.session.completed\
             &types%5B%5D=checkout.session.async_payment_succeeded&types%5B%5D=charge.refunded\
             &created%5Bgte%5D=1769860200&limit=100",
        ),
    ] {
        let shop = Shop::with_token(system, "live", &rules(), Some(token));
        shop.fetch(0);
        assert_eq!(shop.asked(), [expected], "{system}");
        assert_eq!(shop.problem(), ["none"], "{system}");
    }
}

#[test]
fn orders_are_fetched_hourly_from_the_last_change_on() {
    let shop = shop();
    shop.fetch(0);
    shop.asked();
    shop.fetch(59);
    assert!(shop.asked().is_empty(), "an hour is not over");
    shop.has([(1_800, order(1))]);
    shop.fetch(1);
    assert_eq!(shop.outcomes(), ["pledged"]);
    shop.asked();
    shop.fetch(60);
    // Ten minutes and a second before the change at 12:30.
    assert!(shop.asked()[0].contains("modified_after=2026-01-31T12%3A19%3A59"));
    assert_eq!(shop.outcomes(), ["pledged"]);
}

#[test]
fn many_orders_take_several_calls_and_none_is_left_out() {
    let shop = shop();
    shop.has((0..120).map(|number| (number, order(number as u64))));
    for _ in 0..3 {
        shop.fetch(0);
    }
    assert_eq!(shop.outcomes(), ["pledged"; 120]);
    shop.asked();
    shop.fetch(5);
    assert!(shop.asked().is_empty(), "the end of the list was reached");
}

/// Such orders cannot be told apart by their time.
#[test]
fn orders_of_one_second_are_read_page_by_page() {
    for (system, token) in [("woocommerce", TOKEN), ("shopify", "shpat_0123456789")] {
        let shop = Shop::with_token(system, "live", &rules(), Some(token));
        let paid = |number| {
            let mut order = order(number);
            order["financial_status"] = json!("paid");
            order["email"] = json!("bea@buyers.example");
            (60, order)
        };
        shop.has((0..45).map(paid));
        shop.fetch(0);
        assert_eq!(shop.outcomes(), ["pledged"; 45], "{system}");
    }
}

/// Stripe lists the newest event first, and at most 100 at once.
#[test]
fn events_of_stripe_are_read_in_ever_smaller_parts_of_the_time() {
    let shop = Shop::with_token("stripe", "live", &rules(), Some("rk_live_0123456789"));
    let event = |number: i64| {
        let session = json!({
            "id": format!("cs_{number}"), "object": "checkout.session", "payment_intent": format!("pi_{number}"),
            "amount_total": 3990, "currency": "eur", "livemode": true, "payment_status": "paid",
            "customer_details": { "email": "bea@buyers.example" },
        });
        (number, json!({ "type": "checkout.session.completed", "data": { "object": session } }))
    };
    shop.has((0..250).map(event));
    for _ in 0..6 {
        shop.fetch(1);
    }
    assert_eq!(shop.outcomes(), ["pledged"; 250]);
    shop.has((0..101).map(|number| (3_000, event(number).1)));
    for minutes in [60, 1, 1, 1] {
        shop.fetch(minutes);
    }
    assert!(shop.page().text.contains("within one second"));
}

/// An order that changes while pages are read moves to the end of the list.
#[test]
fn an_order_that_moves_hides_no_other() {
    let shop = shop();
    shop.has((0..60).map(|number| (number, order(number as u64))));
    shop.fetch(0);
    let mut orders = shop.shop.orders.take();
    orders[0].0 += 1_000;
    shop.shop.orders.replace(orders);
    shop.fetch(0);
    assert_eq!(shop.outcomes(), ["pledged"; 60]);
}

#[test]
fn an_order_without_a_date_or_with_one_to_come_stops_nothing() {
    let shop = shop();
    shop.has([(60, order(1)), (40_000_000, order(2))]);
    shop.fetch(0);
    shop.has([(60, order(1)), (120, order(3)), (40_000_000, order(2))]);
    shop.fetch(60);
    assert_eq!(shop.outcomes(), ["pledged"; 3]);
}

#[test]
fn the_page_says_why_nothing_was_fetched() {
    for (status, words) in [
        (401, "refuses the token"),
        (404, "no such API at this address"),
        (429, "fewer requests"),
        (301, "a redirect, which is not followed"),
        (500, "answers 500"),
    ] {
        let shop = shop();
        shop.shop.status.set(Some(status));
        shop.fetch(0);
        let page = shop.page().text;
        assert!(
            page.contains("Missed orders could not be fetched") && page.contains(words),
            "{status}"
        );
        shop.shop.status.set(None);
        shop.fetch(60);
        assert!(!shop.page().text.contains("could not be fetched"), "{status}");
    }
}

#[test]
fn orders_are_fetched_since_a_time_of_the_last_60_days() {
    let shop = shop();
    shop.has([(-30 * 86_400, order(1)), (60, order(2))]);
    shop.fetch(0);
    assert_eq!(shop.outcomes(), ["pledged"], "orders from before the connection");
    assert_eq!(shop.fetch_since(40).status, 200);
    shop.fetch(0);
    assert_eq!(shop.outcomes(), ["pledged"; 2]);
    let page = shop.fetch_since(61);
    assert!(page.text.contains("within the last 60 days"), "{}", page.text);
}

/// The time that somebody sets while orders are fetched is kept.
#[test]
fn a_time_that_is_set_meanwhile_wins() {
    let shop = shop();
    shop.fetch(0);
    let before = shop.dashboard.ledger.sql("SELECT version FROM fetches");
    shop.fetch_since(3);
    let sql = "SELECT version || ' ' || due || ' ' || (since % 86400000) FROM fetches";
    assert_eq!((before, shop.dashboard.ledger.sql(sql)), (vec!["0".into()], vec!["1 0 0".into()]));
}

#[test]
fn without_a_token_nothing_is_fetched() {
    let shop = Shop::new("woocommerce", "live", &rules());
    shop.has([(60, order(1))]);
    shop.fetch(60);
    assert!(shop.asked().is_empty());
    assert!(shop.page().text.contains("they are missing until somebody saves them"));
    assert!(shop.fetch_since(1).text.contains("has no token"));
    let changed = shop.changes("", &[("token", TOKEN)]);
    assert_eq!(changed.status, 200, "{}", changed.text);
    shop.fetch(0);
    assert_eq!(shop.asked().len(), 1);
    shop.changes("", &[("drop-token", "true")]);
    shop.fetch(120);
    assert!(shop.asked().is_empty());
}

#[test]
fn requests_go_to_public_hosts_only() {
    for (store, expected) in [
        ("shop.example", Some(("shop.example", ""))),
        ("shop.example/de", Some(("shop.example", "/de"))),
        ("xn--mnchen-3ya.example", Some(("xn--mnchen-3ya.example", ""))),
        ("localhost", None),
        ("127.0.0.1", None),
        ("10.0.0.1/a", None),
        ("0x7f.1", None),
        ("127.0x1", None),
        ("127.0.0.0x7f", None),
        ("shop.0x", None),
        ("shop.1a", None),
        ("shop.x1", Some(("shop.x1", ""))),
        ("[::1]", None),
        ("shop.local", None),
        ("metadata.google.internal", None),
        ("shop.example:8443", None),
        ("ada@shop.example", None),
        ("shop.example/../a", None),
        ("shop.example/?a", None),
        ("shop.example/a#b", None),
        ("shop..example", None),
        (".example", None),
        ("", None),
    ] {
        assert_eq!(public_host(store), expected, "{store}");
    }
}

#[test]
fn a_token_must_fit_its_system() {
    for (system, store, token, words) in [
        ("woocommerce", "shop.example", "ck_0123456789", "with a colon between them"),
        ("woocommerce", "localhost", TOKEN, "from a public host"),
        ("woocommerce", "shop.example", "short", "8 to 255"),
        ("shopify", "shop.example", "shpat_0123456789", "acme.myshopify.com"),
        ("bigcommerce", "shop.example", "bc_token_0123456789", "the hash of the store"),
        ("bigcommerce", "abcde", "", "a token is needed"),
    ] {
        let shop = Shop::new("woocommerce", "live", &rules());
        let settings = rules().to_string();
        let fields = [
            ("mode", "live"),
            ("system", system),
            ("store", store),
            ("secret", SECRET),
            ("token", token),
            ("settings", &settings),
        ];
        let path = "/units/unit_dev/connections";
        let page = shop.dashboard.post_confirmed(crate::dashboard::OPERATOR, path, &fields);
        assert_eq!(page.status, 422, "{system} {store} {token}");
        assert!(page.text.contains(words), "{system} {store} {token}: {}", page.text);
    }
}

/// After ten deliveries an hour apart, ten hours would be silence, but a day is the least.
#[test]
fn a_connection_that_gets_silent_or_waits_is_on_the_start_page() {
    let shop = Shop::new("woocommerce", "live", &rules());
    let home = || shop.dashboard.get(crate::dashboard::OPERATOR, "/").text;
    for number in 0..10 {
        assert_eq!(shop.sends(&order(number)), 200);
        shop.wait(3_600_000);
    }
    assert!(!home().contains("Nothing has been received since"));
    shop.wait(22 * 3_600_000);
    assert!(!home().contains("Nothing has been received since"), "23 hours");
    shop.wait(2 * 3_600_000);
    assert!(home().contains("Nothing has been received since 2026-01-31"), "25 hours: {}", home());
    assert!(shop.page().text.contains("check the webhook"));
    shop.down("service");
    assert_eq!(shop.sends(&order(11)), 200);
    assert!(!home().contains("could not be read yet"));
    shop.wait(16 * 60_000);
    assert!(home().contains("1 order could not be read yet"), "{}", home());
}

/// Shopify grants an app an access token for its ID and its secret.
#[test]
fn an_app_of_shopify_signs_in_with_its_id_and_secret() {
    let token = "the_client_id:shpss_0123456789";
    let mut shop = Shop::with_token("shopify", "live", &rules(), Some(token));
    shop.shop.token = "shpss_0123456789".to_owned();
    shop.fetch(0);
    let asked = shop.asked();
    assert_eq!(asked[0], "https://acme.myshopify.com/admin/oauth/access_token");
    assert!(asked[1].starts_with("https://acme.myshopify.com/admin/api/"), "{asked:?}");
    assert_eq!(shop.problem(), ["none"]);
    shop.shop.token = "another".to_owned();
    shop.fetch(60);
    assert!(shop.page().text.contains("refuses the token"));
}

/// An order whose products cannot be fetched is listed, and the others are pledged.
#[test]
fn an_order_of_bigcommerce_without_products_stops_no_other() {
    let shop = Shop::with_token("bigcommerce", "live", &rules(), Some("bc_token_0123456789"));
    let paid = |id: u64, products: Value| {
        json!({
            "id": id, "status_id": 11, "default_currency_code": "EUR", "total_inc_tax": "39.90", "products": products,
            "billing_address": { "email": "bea@buyers.example" },
        })
    };
    let mug = json!([{ "id": 1, "product_id": 11, "name": "Mug", "quantity": 2 }]);
    shop.has([
        (60, paid(1, mug.clone())),
        (61, paid(2, json!("none"))),
        (62, paid(3, mug.clone())),
    ]);
    shop.fetch(0);
    let mut outcomes = shop.outcomes();
    outcomes.sort();
    assert_eq!(outcomes, ["pledged", "pledged", "unreadable"]);
    shop.has([(61, paid(2, mug))]);
    let delivery = "SELECT delivery FROM received WHERE outcome = 'unreadable'";
    let delivery = shop.dashboard.ledger.sql(delivery)[0].clone();
    shop.changes("/retry", &[("delivery", &delivery)]);
    shop.cron(5);
    assert_eq!(shop.outcomes(), ["pledged"; 3]);
}
