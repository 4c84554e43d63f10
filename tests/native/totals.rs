//! Tests the public totals: which units have one, what it counts, and who may read it.

use crate::credits::{Bench, ENDED_MS, bench, request};
use futures_executor::block_on;
use impact_pledge::office::shops::rule::units;
use impact_pledge::office::totals::rule as totals;
use impact_pledge::office::totals::rule::Totals;
use impact_pledge::pledges::service::LIFETIME_MS;
use serde_json::{Value, json};
use support::ledger::Failing;
use support::memory::MemoryStore;
use support::service::{NOW_MS, TestRequest, TestService, UNIT, minimal};

const DAY: u64 = 86_400_000;
const PATH: &str = "/impact/unit_dev";
const NOTHING: Totals = Totals { written: 0, removed: 0 };
const WRITTEN: Totals = Totals { written: 1, removed: 0 };

impl Bench {
    fn switch(&self, is_on: bool) {
        let members = serde_json::from_value(json!({ "name": "N", "publicTotal": is_on })).unwrap();
        let (store, author) = (self.store(), self.operator.author());
        block_on(units::set(store, &self.ledger, &author, "unit_dev", members)).unwrap();
    }

    /// Runs the cron.
    fn write(&self) -> Totals {
        block_on(totals::write(self.store(), &self.ledger, self.clock(), 5)).unwrap()
    }

    /// Creates this many orders of this many trees.
    fn orders(&self, number: usize, trees: u32) -> Vec<String> {
        (0..number).map(|_| self.order(NOW_MS, json!(trees))).collect()
    }

    fn stored(&self) -> Option<Value> {
        let text = self.store().value("total:unit_dev")?;
        let mut total: Value = serde_json::from_str(&text).unwrap();
        total.as_object_mut().unwrap().remove("version").unwrap();
        Some(total)
    }

    /// Returns what everyone gets, from an isolate that has cached nothing.
    fn public(&self) -> (u16, Value) {
        let answer = self.service.isolate().send(&TestRequest::new("GET", PATH, ""));
        (answer.status, answer.json())
    }
}

fn trees(quantity: u64) -> Value {
    let totals = json!([{ "offeringId": "tree", "quantity": quantity }]);
    json!({ "since": "2026-01", "until": "2026-02-02", "totals": totals })
}

#[test]
fn a_shop_that_publishes_its_total_has_one_of_its_live_orders_without_credits() {
    let bench = bench();
    let orders = bench.orders(12, 11);
    bench.service.clock.0.set(NOW_MS);
    let mut test = minimal();
    test["pledges"][0]["impact"]["amount"] = json!(5_000);
    bench.service.create(UNIT, &test);
    bench.order(ENDED_MS, json!(5_000)); // of the day that has not ended
    assert_eq!((bench.write(), bench.stored()), (NOTHING, None), "not switched on");
    assert_eq!(bench.public().0, 404);
    bench.switch(true);
    assert_eq!((bench.write(), bench.stored()), (WRITTEN, Some(trees(130)))); // of 132
    assert_eq!(bench.public(), (200, trees(130)));
    assert_eq!(bench.write(), NOTHING, "once a day");
    bench.credit(&request(&orders[0], None)).unwrap();
    bench.at(ENDED_MS + DAY);
    bench.ledger.reconcile(bench.store(), ENDED_MS + DAY);
    assert_eq!(bench.write(), WRITTEN);
    let stored = bench.stored().unwrap();
    assert_eq!(stored["until"], "2026-02-03");
    assert_eq!(stored["totals"][0]["quantity"], 5_100); // of 121 and 5,000
}

#[test]
fn small_numbers_are_not_published() {
    let bench = bench();
    bench.switch(true);
    bench.orders(9, 1_000);
    assert_eq!((bench.write(), bench.stored()), (WRITTEN, None), "nine orders");
    assert_eq!(bench.public().0, 404);
    bench.ledger.sql("DELETE FROM public_totals");
    let tenth = bench.order(NOW_MS, json!(1));
    bench.write();
    assert_eq!(bench.stored(), Some(trees(9_000)));
    bench.credit(&request(&tenth, None)).unwrap();
    bench.ledger.sql("DELETE FROM public_totals");
    bench.write();
    assert_eq!(bench.stored(), None, "one of the ten was credited");
}

#[test]
fn a_shop_that_stops_publishes_nothing_even_before_its_record_is_removed() {
    let bench = bench();
    bench.switch(true);
    bench.orders(10, 10);
    bench.write();
    let reader = bench.service.isolate();
    let status = || reader.send(&TestRequest::new("GET", PATH, "")).status;
    assert_eq!(status(), 200);
    bench.switch(false);
    assert!(bench.stored().is_some());
    assert_eq!(bench.public().0, 404);
    reader.clock.0.set(reader.clock.0.get() + LIFETIME_MS);
    assert_eq!(status(), 404, "caches keep a profile for 10 s");
    assert_eq!((bench.write(), bench.stored()), (Totals { written: 0, removed: 1 }, None));
    assert_eq!(bench.write(), NOTHING);
    bench.switch(true);
    assert_eq!((bench.write(), bench.public().0), (WRITTEN, 200));
    let author = bench.operator.author();
    block_on(units::remove(bench.store(), &bench.ledger, &author, "unit_dev")).unwrap();
    assert_eq!(bench.public().0, 404, "a removed unit");
    assert_eq!((bench.write(), bench.stored()), (Totals { written: 0, removed: 1 }, None));
}

#[test]
fn a_total_that_cannot_be_written_does_not_hold_up_the_others() {
    let bench = bench();
    bench.switch(true);
    bench.orders(10, 10);
    bench.ledger.sql(
        "INSERT INTO names (kind, id, name, folded, has_total) VALUES ('unit', 'a', '', '', 1)",
    );
    bench.ledger.set_failing_after(6, Failing::Before); // while the total of `a` is summed
    let write = || block_on(totals::write(bench.store(), &bench.ledger, bench.clock(), 1));
    assert!(write().is_err());
    bench.ledger.set_failing(Failing::Not);
    bench.at(ENDED_MS + 1);
    assert_eq!((write().unwrap(), bench.stored()), (WRITTEN, Some(trees(100))), "now `unit_dev`");
}

#[test]
fn a_database_that_has_lost_credits_writes_no_total() {
    let bench = bench();
    bench.switch(true);
    bench.orders(10, 10);
    bench.store().keep("epoch", br#"{"epoch":"another"}"#, b"null");
    assert!(block_on(totals::write(bench.store(), &bench.ledger, bench.clock(), 5)).is_err());
    assert_eq!(bench.stored(), None);
}

/// An outsider must not learn which units exist: the answers and the number of reads are the same.
#[test]
fn a_unit_without_a_total_looks_like_one_that_does_not_exist() {
    let store = MemoryStore::default();
    store.keep("profile:silent", br#"{"name":"N"}"#, b"null");
    store.keep("total:silent", trees(100).to_string().as_bytes(), b"null");
    store.keep("profile:damaged", b"{", b"null");
    store.keep("total:damaged", trees(100).to_string().as_bytes(), b"null");
    let service = TestService::new(store, "https://shop.example");
    let mut answers = ["unknown", "silent", "damaged"].map(|unit| {
        let answer = service.send(&TestRequest::new("GET", &format!("/impact/{unit}"), ""));
        let reads = service.store.take_reads();
        assert_eq!(reads, [format!("profile:{unit}")]);
        (answer.status, answer.headers, answer.text)
    });
    assert_eq!(answers[0].0, 404);
    assert_eq!(answers[0].1["access-control-allow-origin"], "*");
    assert!(!answers[0].1.contains_key("vary"));
    answers.sort_by(|one, other| one.2.cmp(&other.2));
    assert_eq!(answers[0], answers[2]);
    for unit in ["", "..", "a/b", "%2f", "a%20b", "%ff", &"u".repeat(600)] {
        let answer = service.send(&TestRequest::new("GET", &format!("/impact/{unit}"), ""));
        assert_eq!((answer.status, &answer.text), (404, &answers[0].2), "{unit}");
        assert!(service.store.take_reads().iter().all(|name| name.len() < 200), "{unit}");
    }
}
