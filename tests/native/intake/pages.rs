//! Tests the pages of connections, and what a connection keeps secret.

use super::{SECRET, Shop};
use crate::dashboard::OPERATOR;
use serde_json::{Value, json};
use support::service::Answer;

/// A tree for each order.
pub fn rules() -> Value {
    json!({ "rules": [{ "offeringId": "tree", "basis": { "order": { "amount": "1" } } }] })
}

fn shop() -> Shop {
    Shop::new("woocommerce", "live", &rules())
}

/// Returns a paid order of WooCommerce.
pub fn order(id: u32) -> Value {
    json!({
        "id": id, "number": format!("W-{id}"), "status": "processing", "currency": "EUR", "total": "39.90",
        "date_paid_gmt": "2026-01-31T07:00:00",
        "billing": { "email": "bea@buyers.example", "first_name": "Bea" },
        "line_items": [{ "id": 1, "name": "Mug", "product_id": 11, "sku": "MUG", "quantity": 2, "total": "39.90" }],
    })
}

impl Shop {
    pub fn sends(&self, order: &Value) -> u16 {
        let status = self.send(order.to_string().as_bytes(), "");
        self.wait(1_000);
        self.read(1);
        status
    }

    pub fn page(&self) -> Answer {
        self.dashboard.get(OPERATOR, &format!("/connections/{}", self.connection))
    }

    pub fn changes(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let path = format!("/connections/{}{path}", self.connection);
        self.dashboard.post_confirmed(OPERATOR, &path, fields)
    }

    /// Returns the name of the record of the connection's API key.
    fn key_name(&self) -> String {
        let sql = "SELECT content ->> '$.key' FROM published WHERE name LIKE 'connection:%'";
        format!("key:{}", self.dashboard.ledger.sql(sql)[0])
    }

    pub fn outcomes(&self) -> Vec<String> {
        self.dashboard.ledger.sql("SELECT outcome FROM received ORDER BY at")
    }

    /// Returns everything that is stored, and what the dashboard shows.
    pub fn all(&self) -> String {
        let tables = ["published", "shop_orders", "received", "audit", "operations"];
        let rows = tables.iter().flat_map(|table| {
            let columns = self
                .dashboard
                .ledger
                .sql(&format!("SELECT name FROM pragma_table_info('{table}')"));
            let columns = columns.iter().map(|name| format!("quote({name})")).collect::<Vec<_>>();
            self.dashboard.ledger.sql(&format!("SELECT {} FROM {table}", columns.join(" || ")))
        });
        let store = self.dashboard.store();
        let records = store.names().into_iter().map(|name| store.value(&name).unwrap_or_default());
        rows.chain(records).chain([self.page().text]).collect()
    }
}

#[test]
fn the_page_has_the_url_and_what_became_of_each_order() {
    let shop = shop();
    shop.sends(&order(1));
    let mut unpaid = order(2);
    unpaid["status"] = "pending".into();
    unpaid["date_paid_gmt"] = Value::Null;
    shop.sends(&unpaid);
    let page = shop.page().text;
    for text in [
        &*format!("https://YOUR-SERVICE/orders/{}", shop.connection),
        "W-1",
        ">Pledged<",
        ">Not pledged<",
        "not paid",
        "WooCommerce sends each order once",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    let list = shop.dashboard.get(OPERATOR, "/units/unit_dev/connections").text;
    assert!(list.contains(&shop.connection) && list.contains("shop.example"), "{list}");
}

#[test]
fn a_secret_is_stored_and_shown_nowhere() {
    let shop = shop();
    shop.changes("", &[("secret", "another_secret_of_the_shop")]);
    let refused = shop.changes("", &[("secret", "a_third_secret"), ("settings", "{")]);
    assert_eq!(refused.status, 422);
    assert!(!refused.text.contains("a_third_secret"), "{}", refused.text);
    let all = shop.all();
    for secret in [SECRET, "another_secret_of_the_shop", "a_third_secret"] {
        assert!(!all.contains(secret), "{secret}");
    }
}

#[test]
fn two_secrets_are_accepted_until_the_old_one_is_dropped() {
    let shop = shop();
    let new = "another_secret_of_the_shop";
    let body = order(1).to_string();
    let with = |secret| shop.send_signed(body.as_bytes(), "", secret);
    assert_eq!((with(SECRET), with(new)), (200, 401));
    shop.changes("", &[("secret", new)]);
    assert_eq!((with(SECRET), with(new)), (200, 200));
    let page = shop.changes("", &[("drop-old", "yes")]);
    assert!(page.text.contains("One secret is accepted"), "{}", page.text);
    assert_eq!((with(SECRET), with(new)), (401, 200));
}

#[test]
fn an_order_can_be_tried_without_pledging_it() {
    let shop = shop();
    let (order, rules) = (order(1).to_string(), rules().to_string());
    let names = shop.dashboard.store().names();
    let page = shop.changes("/preview", &[("order", &order), ("rules", &rules)]);
    assert!(
        page.text.contains("This would be pledged") && page.text.contains("W-1"),
        "{}",
        page.text
    );
    let page = shop.changes("/preview", &[("order", "{}"), ("rules", &rules)]);
    assert!(page.text.contains("Nothing would be pledged"), "{}", page.text);
    let page = shop.changes("/preview", &[("order", &order), ("rules", r#"{"rules":[{}]}"#)]);
    assert!(page.text.contains("rules/0/offeringId"), "{}", page.text);
    assert_eq!(shop.dashboard.store().names(), names);
}

#[test]
fn a_delivery_can_be_tried_again_with_other_rules() {
    let shop = shop();
    let none = json!({ "rules": [{ "offeringId": "tree", "basis": { "item": { "amount": "1", "skus": ["CUP"] } } }] });
    shop.changes("", &[("settings", &none.to_string())]);
    shop.sends(&order(1));
    assert_eq!(shop.outcomes(), ["skipped"]);
    shop.changes("", &[("settings", &rules().to_string())]);
    let page = shop.page();
    let answer = shop.dashboard.press(OPERATOR, &page, "Try again");
    assert!(answer.text.contains("within 5 minutes"), "{}", answer.text);
    shop.cron(5);
    assert_eq!(shop.outcomes(), ["pledged"]);
    assert_eq!(shop.transactions().len(), 1);
}

#[test]
fn a_connection_that_was_ended_or_whose_key_was_revoked_takes_no_orders() {
    let ended = shop();
    let page = ended.changes("/end", &[]);
    assert!(page.text.contains("The connection was ended"), "{}", page.text);
    let revoked = shop();
    let fields = [("key", &*revoked.key_name()), ("unit", "unit_dev")];
    revoked.dashboard.post_confirmed(OPERATOR, "/keys/revoke", &fields);
    for shop in [&ended, &revoked] {
        shop.wait(60_000); // the caches have expired
        assert_eq!(shop.sends(&order(1)), 404);
        assert!(shop.transactions().is_empty());
    }
}

/// Nobody reads an order again whose connection was ended, whatever became of it.
#[test]
fn what_is_kept_of_a_connection_that_was_ended_is_deleted() {
    let shop = shop();
    let mut unpaid = order(1);
    unpaid["status"] = "pending".into();
    unpaid["date_paid_gmt"] = Value::Null;
    shop.sends(&unpaid);
    shop.sends(&json!({ "id": 2, "status": "refunded", "line_items": [] }));
    shop.sends(&json!({ "email": "bea@buyers.example" }));
    assert_eq!((shop.kept(), shop.outcomes().len()), (3, 3), "{:?}", shop.outcomes());
    shop.changes("/end", &[]);
    shop.cron(5);
    assert_eq!((shop.kept(), shop.outcomes()), (0, vec!["ended".to_owned(); 3]));
}

#[test]
fn a_page_links_a_unit_to_its_page_by_its_name() {
    let shop = shop();
    let name = |name| {
        let fields = [("name", name)];
        shop.dashboard.post_confirmed(OPERATOR, "/units/unit_dev/profile", &fields);
    };
    name("Northwind");
    shop.down("service");
    shop.sends(&order(1));
    shop.wait(20 * 60_000);
    for page in [shop.page(), shop.dashboard.get(OPERATOR, "/")] {
        assert!(
            page.text.contains(r#"<a href="/units/unit_dev" title="unit_dev">"#),
            "{}",
            page.text
        );
        assert!(!page.text.contains("/transactions/unit_dev"), "{}", page.text);
    }
}

/// The key is revoked while an order waits for the queue.
#[test]
fn an_order_that_was_received_before_the_end_of_its_connection_is_not_pledged() {
    for is_ended in [true, false] {
        let shop = shop();
        shop.wait(600_000); // Workers KV shows its key everywhere
        shop.send(order(1).to_string().as_bytes(), "");
        if is_ended {
            shop.changes("/end", &[]);
        } else {
            shop.dashboard.store().remove(&shop.key_name());
        }
        shop.wait(60_000);
        shop.read(1);
        assert_eq!(shop.outcomes(), ["ended"]);
        assert!(shop.transactions().is_empty());
    }
}

/// The service that pledges an order may not see yet the key that the service which received it saw.
#[test]
fn an_order_waits_while_workers_kv_does_not_show_the_key_of_a_new_connection() {
    let shop = shop();
    let (name, store) = (shop.key_name(), shop.dashboard.store());
    shop.send(order(1).to_string().as_bytes(), "");
    let record = store.value(&name).unwrap();
    store.remove(&name);
    shop.wait(60_000);
    shop.read(1);
    assert_eq!(shop.outcomes(), ["waiting"]);
    store.keep(&name, record.as_bytes(), b"null");
    shop.wait(60_000);
    shop.read(1);
    assert_eq!(shop.outcomes(), ["pledged"]);
}
