//! Tests that the erasure of a person deletes what shop systems have sent, whatever became of it.

use super::pages::{order, rules};
use super::{SECRET, Shop};
use crate::dashboard::OPERATOR;
use serde_json::Value;
use support::service::Answer;

fn shop() -> Shop {
    let shop = Shop::new("woocommerce", "live", &rules());
    shop.cron(0);
    shop
}

impl Shop {
    /// Sends an order that the queue does not deliver.
    fn receives(&self, order: &Value) {
        self.down("queue");
        self.sends(order);
        self.down("none");
    }

    /// Erases the buyer of the orders in the unit, or everywhere.
    fn erases(&self, unit: &str) -> Answer {
        let fields = [("email", "Bea@buyers.example"), ("unit", unit)];
        let mut page = self.dashboard.post_confirmed(OPERATOR, "/person", &fields);
        while page.text.contains(">Continue</button>") {
            page = self.dashboard.press(OPERATOR, &page, "Continue");
        }
        assert_eq!(page.status, 200, "{}", page.text);
        page
    }

    pub fn kept(&self) -> usize {
        let names = self.dashboard.store().names();
        names.iter().filter(|name| name.starts_with("received:")).count()
    }
}

fn of_another(mut order: Value) -> Value {
    order["billing"]["email"] = "other@shop.example".into();
    order
}

#[test]
fn an_order_that_was_not_read_is_deleted_with_its_buyer() {
    let shop = shop();
    shop.receives(&order(1));
    shop.receives(&of_another(order(2)));
    shop.wait(6 * 60_000);
    let page = shop.erases("unit_dev");
    assert!(page.text.contains("are deleted: 1."), "{}", page.text);
    assert_eq!((shop.kept(), shop.outcomes()), (1, vec!["lost".into(), "waiting".into()]));
    assert!(shop.page().text.contains("The buyer was erased."));
    shop.cron(1);
    assert_eq!((shop.kept(), shop.outcomes()), (0, vec!["lost".into(), "pledged".into()]));
    assert_eq!(shop.transactions().len(), 1);
}

#[test]
fn an_order_that_may_be_pledged_now_is_erased_when_it_is_pledged() {
    let shop = shop();
    shop.receives(&order(1));
    let page = shop.erases("unit_dev");
    assert!(page.text.contains("received less than 5 minutes ago"), "{}", page.text);
    assert!(page.text.contains("Erase the person again later"), "{}", page.text);
    shop.cron(5);
    assert_eq!((shop.kept(), shop.outcomes()), (0, vec!["pledged".into()]));
    shop.wait(6 * 60_000);
    assert!(shop.erases("unit_dev").text.contains("All records were checked"));
    assert!(!shop.all().contains("bea@buyers.example"));
}

/// The create request of a frozen order may have been recorded although its answer was lost.
#[test]
fn an_order_whose_pledge_is_not_confirmed_is_not_deleted() {
    let shop = shop();
    shop.down("service");
    shop.sends(&order(1));
    shop.wait(6 * 60_000);
    let page = shop.erases("unit_dev");
    assert!(page.text.contains("the service does not answer"), "{}", page.text);
    assert_eq!((shop.kept(), shop.outcomes()), (1, vec!["waiting".into()]));
    shop.down("none");
    shop.cron(1);
    assert!(shop.erases("unit_dev").text.contains("All records were checked"));
    assert_eq!((shop.kept(), shop.outcomes()), (0, vec!["pledged".into()]));
    assert!(!shop.all().contains("bea@buyers.example"));
}

#[test]
fn a_body_that_cannot_be_read_is_deleted_if_it_has_the_address() {
    let shop = shop();
    let texts = [
        r#"{ "mail": "BEA@buyers.example" }"#,
        r#"{ "mail": "bea\u0040buyers.example" }"#,
        "email=bea%40buyers.example&id=7",
        r#"{ "mail": "other@shop.example" }"#,
    ];
    for text in texts {
        assert_eq!(shop.send(text.as_bytes(), ""), 200);
        shop.wait(1_000);
        shop.read(1);
    }
    assert_eq!((shop.kept(), shop.outcomes()), (4, vec!["unreadable".to_owned(); 4]));
    shop.erases("unit_dev");
    let outcomes: Vec<_> = ["lost", "lost", "lost", "unreadable"].map(str::to_owned).into();
    assert_eq!(
        (shop.kept(), shop.outcomes()),
        (1, outcomes),
        "what is erased cannot be tried again"
    );
}

/// The cron deletes all that is kept of a connection that was ended.
#[test]
fn an_erasure_before_the_cron_finds_what_an_ended_connection_has_received() {
    let shop = shop();
    shop.sends(&serde_json::json!({ "mail": "bea@buyers.example" }));
    shop.receives(&order(1));
    shop.wait(6 * 60_000);
    shop.changes("/end", &[]);
    assert_eq!(shop.kept(), 2);
    shop.erases("unit_dev");
    assert_eq!(shop.kept(), 0);
    shop.cron(1);
    assert_eq!(shop.outcomes(), ["ended", "ended"]);
}

#[test]
fn an_erasure_in_all_units_finds_buyers_without_a_transaction() {
    let shop = shop();
    let mut unpaid = order(1);
    unpaid["status"] = "pending".into();
    unpaid["date_paid_gmt"] = Value::Null;
    shop.sends(&unpaid);
    shop.sends(&of_another(unpaid));
    shop.receives(&order(2));
    shop.wait(6 * 60_000);
    let found = shop.dashboard.post_new(OPERATOR, "/person", &[("email", "bea@buyers.example")]);
    assert!(found.text.contains("Erase permanently"), "{}", found.text);
    shop.erases("");
    let outcomes = ["skipped", "skipped", "lost"].map(str::to_owned).to_vec();
    assert_eq!((shop.kept(), shop.outcomes()), (1, outcomes));
    assert!(!shop.all().contains("bea@buyers.example"));
}

#[test]
fn an_erasure_in_another_unit_deletes_nothing() {
    let shop = shop();
    shop.receives(&order(1));
    shop.wait(6 * 60_000);
    shop.dashboard.store().keep("unit:unit_two", b"{}", b"null");
    shop.erases("unit_two");
    assert_eq!(shop.kept(), 1);
}

#[test]
fn more_than_a_hundred_orders_are_erased_in_steps() {
    let shop = shop();
    for number in 1..=250 {
        let order = if number % 2 == 0 { order(number) } else { of_another(order(number)) };
        shop.receives(&order);
    }
    shop.wait(6 * 60_000);
    shop.erases("unit_dev");
    assert_eq!(shop.kept(), 125);
}

/// The create request of an order is kept until it has an answer. If nobody sends it again, it goes.
#[test]
fn a_request_that_nobody_sends_again_is_deleted() {
    for is_ended in [true, false] {
        let shop = shop();
        shop.down("service");
        shop.sends(&order(1));
        shop.down("none");
        let requests = || shop.dashboard.ledger.sql("SELECT count(request) FROM shop_orders");
        assert_eq!(requests(), ["1"]);
        if is_ended {
            shop.changes("/end", &[]);
        } else {
            let store = shop.dashboard.store();
            let names = store.names().into_iter().filter(|name| name.starts_with("received:"));
            names.for_each(|name| store.remove(&name));
        }
        shop.cron(if is_ended { 1 } else { 31 * 24 * 60 });
        assert_eq!(requests(), ["0"]);
    }
}

/// A database that was lost has no rows of what was received before.
#[test]
fn the_first_cron_of_a_database_reads_all_that_is_kept() {
    let shop = Shop::new("woocommerce", "live", &rules());
    shop.down("queue");
    let body = order(1).to_string();
    assert_eq!(shop.send_signed(body.as_bytes(), "", SECRET), 200);
    shop.cron(5 * 60);
    assert_eq!((shop.kept(), shop.outcomes()), (0, vec!["pledged".to_owned()]));
}
