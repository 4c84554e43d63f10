//! Simulates shop systems that send orders and refunds: in any order, several times, and two versions of an order at once.
//! They repeat what the service did not take. Also simulates the queue's consumer, the cron, and people who erase buyers.

use crate::books::Books;
use crate::isolate::{SimulatedRequest, SkewedClock, Upload};
use crate::kv::{Calls, OPERATOR};
use crate::ledger_queue::{KILLED, UNHEARD};
use crate::namespace::Namespace;
use crate::order_api::OrderApi;
use crate::order_bodies::{
    NUMBERS, OrderId, REFUNDS, SHOPS, Sent, Status, UNIT, VERSIONS, email, scope,
};
use crate::order_state::Delivery;
use crate::random::Random;
use base64ct::{Base64, Encoding as _};
use futures_util::future::{Either, select};
use hmac::{Hmac, KeyInit as _, Mac as _};
use impact_pledge::office::audit::rule::Author;
use impact_pledge::office::connections::rule as connections;
use impact_pledge::office::connections::rule::{Intake, NewConnection, Received};
use impact_pledge::office::shared::rule::error::OperatorError;
use impact_pledge::office::system::rows::receive::{Delivered, Verdict};
use impact_pledge::pledges::orders::System;
use impact_pledge::pledges::scope::Mode;
use impact_pledge::pledges::service::Clock as _;
use impact_pledge::pledges::store::{PriceListKey, PriceListVersionKey, Registered, Store as _};
use serde_json::json;
use sha2::Sha256;
use std::cell::RefCell;
use std::pin::pin;
use std::rc::Rc;
use support::service::SECRET;

/// When the prices of the shops' unit were set.
const PRICES_SET: &str = "2026-01-01T00:00:00.000Z";
/// Workers KV accepts one write of a record a second.
const WRITTEN_MS: u64 = 2_000;
const SIGNING_SECRET: &str = "whsec_of_the_shops_1234";
/// The periods within which the deliveries of one event are sent, in milliseconds. Each event has one of them.
const WITHIN_MS: &[u64] = &[10, 2_000, 60_000];
/// The maximum number of deliveries of one event.
const DELIVERED: u64 = 3;
/// Of 1,000 events, the number in which another version of the order is sent at the same time.
const COMPETES: u64 = 200;
/// Of 1,000 refunds of orders that were not sent yet, the number that are sent all the same.
const EARLY: u64 = 100;
/// The maximum number of attempts of a shop system, and the maximum pause between two of them.
const ATTEMPTS: usize = 3;
const PAUSE_MS: u64 = 90_000;
/// The possible numbers of deliveries that one cron reads.
const CAUGHT_UP: &[usize] = &[1, 3, 200];

impl Books {
    /// Sets the prices of the unit, and connects its shops. Nothing may fail yet.
    pub async fn connect_shops(self: &Rc<Self>) {
        let (store, clock) = (self.namespace(OPERATOR), self.clock());
        let of = PriceListKey::of_unit(Mode::Live, UNIT);
        let prices = json!({ "currencyCode": "EUR", "unitPrices": { "tree": "0.50" }, "prices": PRICES_SET });
        let prices = prices.to_string().into_bytes();
        let set: Registered =
            serde_json::from_value(json!({ "created": PRICES_SET, "by": "ops" })).unwrap();
        store
            .put(&PriceListVersionKey { of, time: PRICES_SET }, prices.clone(), &set)
            .await
            .unwrap();
        store.put(&of, prices, &Default::default()).await.unwrap();
        let rule = json!({
            "offeringId": "tree", "basis": { "item": { "amount": "1" } }, "detail": { "nounSingular": "tree" },
        });
        for shop in SHOPS {
            self.sleep(WRITTEN_MS).await;
            let new = NewConnection {
                scope: scope(),
                system: System::Shopify,
                store: (*shop).to_owned(),
                secret: SIGNING_SECRET.to_owned(),
                settings: serde_json::from_value(json!({ "rules": [rule] })).unwrap(),
                token: None,
            };
            let author = Author::new("ops", &clock, &*self.random).unwrap();
            let made = connections::add(&store, &self.database, &author, &new).await.unwrap();
            self.orders.connections.borrow_mut().push(made.outcome.connection);
        }
        self.read_missed(1).await; // the cron had run before
    }

    // ---- What shop systems send --------------------------------------------------------------------

    /// Starts the deliveries of one event of a random order.
    pub fn send_order(self: &Rc<Self>) {
        let order =
            OrderId { shop: self.random.index(SHOPS.len()), number: self.random.index(NUMBERS) };
        let is_paid = |it: &Delivery| it.order == order && it.sent.is_paid();
        let was_paid = self.orders.deliveries.borrow().iter().any(is_paid);
        let of_status = |status| {
            let has_refunds = was_paid && status == Status::Paid;
            let refunds = (0..REFUNDS.len()).filter(|_| has_refunds && self.random.chance(200));
            let refunds = refunds.collect();
            Sent::Order { version: self.random.index(VERSIONS), status, refunds }
        };
        let sent = match self.random.below(10) {
            0 => of_status(Status::Pending),
            1 if was_paid => of_status(Status::Cancelled),
            2..5 if was_paid || self.random.chance(EARLY) => {
                Sent::Refund(self.random.index(REFUNDS.len()))
            }
            _ => of_status(Status::Paid),
        };
        let within_ms = self.random.pick(WITHIN_MS);
        let other = self.random.chance(COMPETES).then(|| of_status(Status::Paid));
        let again = (0..self.random.below(DELIVERED)).map(|_| sent.clone());
        for sent in again.chain(other).chain([sent.clone()]) {
            let books = Rc::clone(self);
            self.spawn_killable(async move {
                books.sleep(books.random.below(within_ms)).await;
                for _ in 0..ATTEMPTS {
                    if books.deliver(order, &sent).await == 200 {
                        break;
                    }
                    books.sleep(books.random.below(PAUSE_MS)).await;
                }
            });
        }
    }

    async fn deliver(self: &Rc<Self>, order: OrderId, sent: &Sent) -> u16 {
        let isolate = self.orders.pick_isolate(&self.random);
        let time = Rc::clone(&self.kv.time);
        let calls = Rc::new(Calls { exchange: OPERATOR, time, list: RefCell::default() });
        let (body, connection) =
            (sent.body(order), self.orders.connections.borrow()[order.shop].clone());
        let mut mac = Hmac::<Sha256>::new_from_slice(SIGNING_SECRET.as_bytes()).unwrap();
        mac.update(&body);
        let signature = Base64::encode_string(&mac.finalize().into_bytes());
        let bodies = Rc::clone(&isolate.bodies);
        let held = bodies.begin(("orders", SHOPS[order.shop]), &calls);
        let upload = Upload {
            calls: Rc::clone(&calls),
            takes_ms: self.random.below(20),
            is_broken: false,
            bodies,
            held,
        };
        let request = SimulatedRequest {
            method: "POST",
            url: format!("https://pledge.example/orders/{connection}"),
            headers: vec![("x-shopify-hmac-sha256", signature)],
            body,
            upload,
        };
        let number = self.orders.deliveries.borrow().len();
        self.note(format!("delivery {number}: {order:?} {sent:?} to isolate {}", isolate.number));
        let delivery =
            Delivery { order, sent: sent.clone(), status: None, calls: Rc::clone(&calls) };
        self.orders.deliveries.borrow_mut().push(delivery);
        let store = self.service_store(&isolate, calls);
        let ledger = self.service_queue(&isolate, &store);
        let answer = isolate.serve(&store, &request, None, Some(&ledger)).await;
        self.note(format!("delivery {number} is answered {}, {:?}", answer.status, answer.log));
        self.count(format!("a delivery: {}", answer.status));
        self.orders.deliveries.borrow_mut()[number].status = Some(answer.status);
        answer.status
    }

    // ---- The queue's consumer, and the cron ----------------------------------------------------------

    /// Reads a delivery of a shop system.
    pub async fn read_order(self: &Rc<Self>, received: &str, message: &Delivered) {
        let (store, clock, api) =
            (self.namespace(OPERATOR), self.clock(), OrderApi(Rc::clone(self)));
        let intake = self.intake(&store, &clock, &api);
        let reading = pin!(intake.read(received, message.attempt));
        let ends_ms = if self.chance(KILLED) { self.random.below(3_000) } else { u64::MAX >> 1 };
        match select(reading, self.kv.time.sleep(ends_ms)).await {
            Either::Left((Verdict::Done, _)) if self.chance(UNHEARD) => self.again(message, 0),
            Either::Left((Verdict::Done, _)) => {}
            Either::Left((Verdict::Later(seconds), _)) => {
                self.again(message, u64::from(seconds) * 1_000);
            }
            Either::Right(_) => {
                self.count("a consumer ended");
                self.again(message, self.random.below(60_000));
            }
        }
    }

    fn intake<'i>(
        &'i self,
        store: &'i Namespace,
        clock: &'i SkewedClock,
        api: &'i OrderApi,
    ) -> Intake<'i, Namespace, SkewedClock, Random, OrderApi> {
        Intake { store, ledger: &self.database, clock, entropy: &*self.random, api }
    }

    /// Starts a cron that reads what the queue did not deliver.
    pub fn catch_up(self: &Rc<Self>) {
        let books = Rc::clone(self);
        let most = self.random.pick(CAUGHT_UP);
        self.spawn_killable(async move { books.read_missed(most).await });
    }

    pub async fn read_missed(self: &Rc<Self>, most: usize) {
        let (store, clock, api) =
            (self.namespace(OPERATOR), self.clock(), OrderApi(Rc::clone(self)));
        let done = self.intake(&store, &clock, &api).catch_up(most).await;
        self.note(format!("a cron reads at most {most} orders: {done:?}"));
        self.count(if done.is_ok() { "orders: caught up" } else { "orders: the cron fails" });
    }

    // ---- Erasures ------------------------------------------------------------------------------------

    /// Starts to erase what is kept of a random buyer's orders.
    pub fn erase_buyer(self: &Rc<Self>) {
        let order =
            OrderId { shop: self.random.index(SHOPS.len()), number: self.random.index(NUMBERS) };
        let (books, version) = (Rc::clone(self), self.random.index(VERSIONS));
        self.spawn_killable(async move { books.erase_received(order, version).await });
    }

    pub async fn erase_received(&self, order: OrderId, version: usize) {
        let (store, clock) = (self.namespace(OPERATOR), self.clock());
        let address = email(order, version);
        let erasing = Received {
            store: &store,
            ledger: &self.database,
            secret: &SECRET,
            address: &address,
            scopes: &[scope()],
            now_ms: clock.now_ms(),
        };
        self.orders.erased.borrow_mut().insert((order, version));
        let told = erase(&erasing).await;
        self.note(format!("what is kept of {address} is erased: {told:?}"));
    }
}

async fn erase(erasing: &Received<'_, Namespace>) -> Result<usize, OperatorError> {
    let mut deleted = erasing.begin().await?;
    let mut after = String::new();
    loop {
        let step = erasing.step(&after).await?;
        deleted += step.deleted;
        match step.next {
            Some(next) => after = next,
            None => return Ok(deleted),
        }
    }
}
