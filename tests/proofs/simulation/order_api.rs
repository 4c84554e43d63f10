//! The service as the consumer of orders reaches it. An answer may be lost, or come too late.

use crate::books::Books;
use crate::callers::{Action, Ask, Exchange, ORDERS};
use crate::isolate::{Isolate, SimulatedRequest, Upload};
use crate::kv::Calls;
use crate::ledger_queue::SimulatedLedgerQueue;
use crate::namespace::Namespace;
use futures_util::future::{Either, select};
use impact_pledge::office::connections::rule::{
    ApiAnswer, PledgeApi, ShopAnswer, ShopApi, ShopProblem, ShopRequest,
};
use std::cell::RefCell;
use std::pin::pin;
use std::rc::Rc;
use support::service::PATH;

/// How long the consumer waits for an answer, in milliseconds.
const CREATE_MS: u64 = 30_000;
/// Of 1,000 answers, the number that do not reach the consumer.
const LOST: u64 = 100;
const HOST: &str = "https://pledge.example";

pub struct OrderApi(pub Rc<Books>);

/// These shops have no tokens.
impl ShopApi for OrderApi {
    async fn send(&self, _: &ShopRequest) -> Result<ShopAnswer, ShopProblem> {
        Err(ShopProblem::NoAnswer)
    }
}

impl PledgeApi for OrderApi {
    async fn create(&self, key: &str, idempotency_key: &str, body: &str) -> Option<ApiAnswer> {
        let OrderApi(books) = self;
        books.orders.creates.borrow_mut().push((idempotency_key.to_owned(), body.to_owned()));
        let isolate = books.orders.pick_isolate(&books.random);
        let exchanges = Rc::clone(&books.orders.exchanges.borrow());
        let (exchange, time) = (exchanges.borrow().len(), Rc::clone(&books.kv.time));
        let calls = Rc::new(Calls { exchange, time, list: RefCell::default() });
        let action = Action::Order { name: idempotency_key.to_owned() };
        exchanges.borrow_mut().push(Exchange {
            ask: Ask { key: ORDERS, unit: None, host: HOST, action },
            isolate: isolate.number,
            location: isolate.location,
            ahead_ms: isolate.clock.ahead_ms,
            begun_ms: books.now_ms(),
            ended_ms: None,
            answer: None,
            is_cut: true, // until it is answered
            is_audit: false,
            calls: Rc::clone(&calls),
        });
        let request = request(&isolate, &calls, (key, idempotency_key, body));
        let store = books.service_store(&isolate, calls);
        let ledger = books.service_queue(&isolate, &store);
        let serving = pin!(isolate.serve(&store, &request, None, Some(&ledger)));
        let Either::Left((answer, _)) = select(serving, books.kv.time.sleep(CREATE_MS)).await
        else {
            return None;
        };
        let heard = ApiAnswer { status: answer.status, body: answer.body.clone()? };
        let exchange = &mut exchanges.borrow_mut()[exchange];
        (exchange.ended_ms, exchange.is_cut) = (Some(books.now_ms()), false);
        exchange.answer = Some(answer);
        if books.chance(LOST) {
            books.count("an order: the answer is lost");
            return None;
        }
        Some(heard)
    }
}

fn request(
    isolate: &Isolate,
    calls: &Rc<Calls>,
    (key, idempotency_key, body): (&str, &str, &str),
) -> SimulatedRequest {
    let bodies = Rc::clone(&isolate.bodies);
    let held = bodies.begin(crate::callers::KEYS[ORDERS].owner(), calls);
    let calls = Rc::clone(calls);
    SimulatedRequest {
        method: "POST",
        url: [HOST, PATH].concat(),
        headers: vec![
            ("authorization", format!("Bearer {key}")),
            ("idempotency-key", idempotency_key.to_owned()),
            ("content-type", "application/json".to_owned()),
        ],
        body: body.as_bytes().to_vec(),
        upload: Upload { calls, takes_ms: 0, is_broken: false, bodies, held },
    }
}

impl Books {
    /// Returns KV as a request to the service sees it.
    pub fn service_store(&self, isolate: &Isolate, calls: Rc<Calls>) -> Namespace {
        let Isolate { location, is_newer, .. } = *isolate;
        let page_length = usize::MAX;
        Namespace { kv: Rc::clone(&self.kv), location, calls, is_newer, page_length }
    }

    /// Returns the ledger's queue as a request to the service sees it. Its KV calls do not count as calls of the request.
    pub fn service_queue(
        self: &Rc<Self>,
        isolate: &Isolate,
        store: &Namespace,
    ) -> SimulatedLedgerQueue {
        let Calls { exchange, time, .. } = &*store.calls;
        let calls = Calls { exchange: *exchange, time: Rc::clone(time), list: RefCell::default() };
        let store = Namespace { calls: Rc::new(calls), ..store.clone() };
        SimulatedLedgerQueue { books: Rc::clone(self), isolate: isolate.number, store }
    }
}
