//! The steps of a history.

use super::model::{Order, money, name};
use super::{History, SHOPS, of, time};
use crate::credits::{payment, request};
use futures_executor::block_on;
use impact_pledge::office::credits::rule::CreditRequest;
use impact_pledge::office::payments::rule as payments;
use impact_pledge::office::payments::rule::Payment;
use impact_pledge::office::system::rows::kept;
use impact_pledge::pledges::settlement::Month;
use serde_json::json;
use support::service::{PATH, TestRequest, minimal};

impl History {
    /// Creates an order of a random shop. Returns its index.
    pub fn order(&mut self, month: usize) -> usize {
        self.order_of(self.random.below(SHOPS.len()), month)
    }

    pub fn order_of(&mut self, shop: usize, month: usize) -> usize {
        let trees = 1 + self.random.below(40);
        let day = if month == self.model.now { 10 } else { 20 };
        let key = format!("{}-{}", self.seed, self.steps.len());
        let id = self.create(SHOPS[shop].1, &key, time(month, day), trees);
        let is_late = self.model.is_paid(shop, month);
        self.did(if is_late { "late order" } else { "order" }, format!("{shop} {month} {trees}"));
        let cents = trees as i64 * 50;
        self.model.orders.push(Order {
            id,
            shop,
            month,
            cents,
            key,
            trees,
            is_late,
            ..Order::default()
        });
        self.model.orders.len() - 1
    }

    /// Creates an order in an earlier month, most often in a month that is paid. Sometimes credits the order at
    /// once.
    pub fn order_late(&mut self) {
        let paid = self.model.paid.keys().map(|(_, month)| *month);
        let paid: Vec<_> = paid.chain([self.random.below(self.model.now + 1)]).collect();
        self.order(paid[self.random.below(paid.len())]);
        if self.random.below(2) == 0 {
            self.credit();
        }
    }

    fn create(&self, api_key: &str, key: &str, at_ms: u64, trees: usize) -> String {
        let mut order = minimal();
        order["pledges"][0]["impact"]["amount"] = json!(trees);
        self.bench.service.clock.0.set(at_ms);
        let request = TestRequest::new("POST", PATH, api_key)
            .with_header("idempotency-key", key)
            .with_body(order.to_string().into_bytes());
        let created = self.bench.service.isolate().send(&request).json();
        self.reconcile();
        created["id"].as_str().unwrap().to_owned()
    }

    fn reconcile(&self) {
        self.bench.ledger.reconcile(self.bench.store(), self.bench.clock().0.get());
    }

    /// Picks an order that satisfies a condition.
    fn pick(&self, is_wanted: impl Fn(&Order) -> bool) -> Option<usize> {
        let own = self.model.orders.iter().enumerate().filter(|(_, order)| is_wanted(order));
        let own: Vec<_> = own.map(|(index, _)| index).collect();
        (!own.is_empty()).then(|| own[self.random.below(own.len())])
    }

    /// Credits a part of an order, or all of it. The operator of this test knows which orders came late.
    pub fn credit(&mut self) {
        let is_left = |order: &Order| !order.is_gone && order.left() > 0;
        let late = self
            .pick(|order| is_left(order) && order.is_late)
            .filter(|_| self.random.below(2) == 0);
        let Some(index) = late.or_else(|| self.pick(is_left)) else { return };
        let left = self.model.orders[index].left();
        let cents = if self.random.below(2) == 0 {
            left
        } else {
            1 + self.random.below(left as usize) as i64
        };
        self.credit_order(index, cents);
    }

    pub fn credit_order(&mut self, index: usize, cents: i64) {
        let (id, amount) = (self.model.orders[index].id.clone(), money(cents));
        let request = request(&id, Some((&amount, &[])));
        let is_late = self.model.is_uncharged(index);
        let made = match self.bench.credit(&request) {
            Err(error) => {
                assert!(error.is_at("charged"), "{error}: {self}");
                let stated = CreditRequest { was_charged: Some(!is_late), ..request };
                self.bench.credit(&stated).unwrap()
            }
            made => {
                assert!(!is_late, "nobody asked whether the order was charged: {self}");
                made.unwrap()
            }
        };
        self.did(
            if is_late { "credit of a late order" } else { "credit" },
            format!("{index} {amount}"),
        );
        let booked = self.model.credit(index, cents);
        assert_eq!(made.outcome.booked_month.to_string(), name(booked), "{self}");
    }

    pub fn mark(&mut self) {
        let shop = self.random.below(SHOPS.len());
        let open = self.model.markable(shop);
        if !open.is_empty() {
            self.mark_month(shop, open[self.random.below(open.len())]);
        }
    }

    /// Marks all months that can be marked, oldest first.
    pub fn mark_all(&mut self) {
        for shop in 0..SHOPS.len() {
            while let Some(month) = self.model.markable(shop).first() {
                self.mark_month(shop, *month);
            }
        }
    }

    fn mark_month(&mut self, shop: usize, month: usize) {
        let sums = self.model.dues(shop)[&month];
        let payment = self.payment(shop, month, sums.due());
        let author = self.bench.operator.author();
        let ledger = &self.bench.ledger;
        self.reconcile();
        let marked = block_on(payments::mark(self.bench.store(), ledger, &author, &payment));
        marked.map_err(|error| format!("{error}: {self}")).unwrap();
        self.model.mark(shop, month, sums);
        self.did("mark", format!("{shop} {month} {}", money(sums.due())));
        self.later();
    }

    pub fn payment(&self, shop: usize, month: usize, cents: i64) -> Payment {
        let payment = payment(&name(month), &money(cents));
        Payment { of: of(shop, month), ..payment }
    }

    pub fn undo(&mut self) {
        let paid: Vec<_> = self.model.paid.keys().copied().collect();
        if paid.is_empty() {
            return;
        }
        let (shop, month) = paid[self.random.below(paid.len())];
        let (author, of) = (self.bench.operator.author(), of(shop, month));
        let ledger = &self.bench.ledger;
        let undone = payments::undo(self.bench.store(), ledger, &author, &of, None);
        block_on(undone).unwrap();
        self.model.undo(shop, month);
        self.did("undo", format!("{shop} {month}"));
    }

    pub fn keep_from(&mut self, month: usize) {
        let first = Month::parse(&name(month)).filter(|_| month > 0);
        block_on(kept::keep_from(&self.bench.ledger, first)).unwrap();
        self.reconcile();
        self.model.kept_from = month;
        self.did("keep-from", name(month));
    }

    pub fn delete(&mut self) {
        let Some(index) = self.pick(|order| !order.is_gone) else { return };
        let order = &mut self.model.orders[index];
        order.is_gone = true;
        self.bench.store().remove(&format!("transaction:{}", order.id));
        self.reconcile();
        self.did("delete", index.to_string());
    }

    /// Repeats an interrupted create request in the current month. Its transaction moves to this month.
    pub fn repeat_in_this_month(&mut self) {
        let now = self.model.now;
        let is_wanted = |order: &Order| !order.is_gone && order.month < now;
        let Some(index) = self.pick(is_wanted) else { return };
        let Order { id, shop, key, trees, .. } = self.model.orders[index].clone();
        let replays =
            self.bench.store().names().into_iter().filter(|it| it.starts_with("idempotency:"));
        replays.for_each(|name| self.bench.store().remove(&name));
        let repeated = self.create(SHOPS[shop].1, &key, time(now, 10), trees);
        assert_eq!(repeated, id);
        let order = &mut self.model.orders[index];
        (order.month, order.is_late) = (now, false);
        self.did("move", format!("{index} {now}"));
    }

    pub fn next_month(&mut self) {
        self.model.now += 1;
        self.bench.at(time(self.model.now, 10));
        self.reconcile();
        self.did("month", name(self.model.now));
    }
}
