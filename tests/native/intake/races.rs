//! Tests two attempts to read one delivery, and other changes at the same moment.

use super::{SECRET, Shop};
use futures_executor::block_on;
use impact_pledge::office::connections::rule::{
    ApiAnswer, PledgeApi, ShopAnswer, ShopApi, ShopProblem, ShopRequest,
};
use impact_pledge::office::system::rows::receive::Verdict;
use serde_json::{Value, json};

fn shop() -> Shop {
    let rule = json!({ "offeringId": "tree", "basis": { "item": { "amount": "1" } } });
    Shop::new("shopify", "live", &json!({ "rules": [rule] }))
}

fn order() -> Value {
    json!({
        "id": 1, "name": "#1", "email": "ada@example.org", "financial_status": "paid", "currency": "EUR",
        "line_items": [{ "id": 1, "title": "Mug", "quantity": 3, "price": "5.00" }],
    })
}

fn refund() -> Value {
    json!({ "id": 1, "order_id": 1, "refund_line_items": [{ "line_item_id": 1, "quantity": 1 }], "transactions": [] })
}

impl Shop {
    /// Sends a body. Returns the ID of the delivery.
    fn delivers(&self, body: &Value) -> String {
        assert_eq!(self.send_signed(body.to_string().as_bytes(), "", SECRET), 200);
        self.wait(1_000);
        self.messages.ids.take().pop().unwrap()
    }

    fn outcomes_and_kept(&self) -> (Vec<String>, usize) {
        let names = self.dashboard.store().names();
        let kept = names.iter().filter(|name| name.starts_with("received:")).count();
        (self.dashboard.ledger.sql("SELECT outcome FROM received ORDER BY at"), kept)
    }
}

/// Returns what became of the only delivery, and that its body is gone.
fn pledged() -> (Vec<String>, usize) {
    (vec!["pledged".to_owned()], 0)
}

/// A service whose answer is lost. Meanwhile, another attempt reads the delivery.
struct TwoAttempts<'s> {
    shop: &'s Shop,
    delivery: &'s str,
}

impl ShopApi for TwoAttempts<'_> {
    async fn send(&self, _: &ShopRequest) -> Result<ShopAnswer, ShopProblem> {
        Err(ShopProblem::NoAnswer)
    }
}

impl PledgeApi for TwoAttempts<'_> {
    async fn create(&self, _: &str, _: &str, _: &str) -> Option<ApiAnswer> {
        let api = self.shop.api();
        assert_eq!(self.shop.intake(&api).read(self.delivery, 1).await, Verdict::Done);
        None
    }
}

#[test]
fn an_attempt_that_fails_does_not_hide_the_pledge_of_another() {
    let shop = shop();
    let delivery = shop.delivers(&order());
    let api = TwoAttempts { shop: &shop, delivery: &delivery };
    let verdict = block_on(shop.intake(&api).read(&delivery, 1));
    assert!(matches!(verdict, Verdict::Later(_)), "{verdict:?}");
    assert_eq!(shop.outcomes_and_kept(), pledged());
    shop.cron(5);
    assert_eq!(shop.outcomes_and_kept(), pledged());
}

/// A service after whose answer the body can not be deleted.
struct Stuck<'s>(&'s Shop);

impl ShopApi for Stuck<'_> {
    async fn send(&self, _: &ShopRequest) -> Result<ShopAnswer, ShopProblem> {
        Err(ShopProblem::NoAnswer)
    }
}

impl PledgeApi for Stuck<'_> {
    async fn create(&self, key: &str, idempotency_key: &str, body: &str) -> Option<ApiAnswer> {
        let answer = self.0.api().create(key, idempotency_key, body).await;
        self.0.dashboard.store().set_failing(Some("received:"));
        answer
    }
}

#[test]
fn a_body_that_could_not_be_deleted_is_deleted_by_the_cron() {
    let shop = shop();
    shop.cron(0);
    let delivery = shop.delivers(&order());
    let verdict = block_on(shop.intake(&Stuck(&shop)).read(&delivery, 1));
    assert!(matches!(verdict, Verdict::Later(_)), "the queue tries again, too: {verdict:?}");
    assert_eq!(shop.outcomes_and_kept(), (pledged().0, 1));
    shop.cron(5); // which fails, too
    shop.dashboard.store().set_failing(None);
    shop.cron(180);
    assert_eq!(shop.outcomes_and_kept(), pledged());
}

/// Somebody credits a cent of the order before each call of the ledger, while a refund of the shop is read.
#[test]
fn a_refund_is_credited_although_somebody_credits_the_order_at_the_same_moment() {
    let credit = "INSERT INTO credits SELECT id, (SELECT count(*) + 1 FROM credits), 'person', 'live', 'unit_dev', '2026-01',
  '2026-01', 'USD', 150, NULL, 1, NULL, '[]', 'a cent', 'audit:1', 'ada@example.org', 1769860800123 FROM shop_orders";
    meanwhile(credit, ["1", "50"]);
}

/// Somebody credits more of the order than leaves enough for the refund.
#[test]
fn a_refund_credits_what_is_left_although_somebody_credits_the_order_at_the_same_moment() {
    let credit = "INSERT INTO credits SELECT id, (SELECT count(*) + 1 FROM credits), 'person', 'live', 'unit_dev', '2026-01',
  '2026-01', 'USD', 150, NULL, 140, NULL, '[]', 'most of it', 'audit:1', 'ada@example.org', 1769860800123 FROM shop_orders WHERE NOT EXISTS (SELECT 1 FROM credits)";
    meanwhile(credit, ["10", "140"]);
}

/// Makes a credit before each call of the ledger, while a refund of 50 cents is read.
fn meanwhile(credit: &'static str, expected: [&str; 2]) {
    let mut calls = 0;
    loop {
        let shop = shop();
        let delivery = shop.delivers(&order());
        let api = shop.api();
        assert_eq!(block_on(shop.intake(&api).read(&delivery, 1)), Verdict::Done);
        let delivery = shop.delivers(&refund());
        shop.dashboard.ledger.set_meanwhile(calls, credit);
        let _ = block_on(shop.intake(&api).read(&delivery, 1));
        shop.cron(5);
        let credits = shop.dashboard.ledger.sql("SELECT cents FROM credits ORDER BY cents");
        if credits == ["50"] {
            break; // there were fewer calls
        }
        assert_eq!(credits, expected, "before call {calls}");
        assert_eq!(
            shop.outcomes_and_kept(),
            (vec!["pledged".to_owned(), "credited".to_owned()], 0)
        );
        calls += 1;
    }
    assert!(calls > 5, "{calls}");
}

/// Two equal deliveries, of which the second is read while the service answers the first: only one has pledged the order.
#[test]
fn two_equal_deliveries_at_the_same_moment_are_listed_as_one_pledge() {
    let shop = shop();
    let (first, second) = (shop.delivers(&order()), shop.delivers(&order()));
    let api = Meanwhile { shop: &shop, delivery: &second };
    assert_eq!(block_on(shop.intake(&api).read(&first, 1)), Verdict::Done);
    assert_eq!(shop.outcomes_and_kept(), (vec!["known".to_owned(), "pledged".to_owned()], 0));
    assert_eq!(shop.dashboard.ledger.sql("SELECT count(detail) FROM received"), ["0"]);
    assert_eq!(shop.transactions().len(), 1);
}

/// A service that answers. Before its answer is read, another delivery is.
struct Meanwhile<'s> {
    shop: &'s Shop,
    delivery: &'s str,
}

impl ShopApi for Meanwhile<'_> {
    async fn send(&self, _: &ShopRequest) -> Result<ShopAnswer, ShopProblem> {
        Err(ShopProblem::NoAnswer)
    }
}

impl PledgeApi for Meanwhile<'_> {
    async fn create(&self, key: &str, idempotency_key: &str, body: &str) -> Option<ApiAnswer> {
        let api = self.shop.api();
        let answer = api.create(key, idempotency_key, body).await;
        assert_eq!(self.shop.intake(&api).read(self.delivery, 1).await, Verdict::Done);
        answer
    }
}
