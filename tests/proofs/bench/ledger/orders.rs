//! Generates orders of many shops. The orders are the same in every run. Most of them belong to a few
//! shops.

use futures_executor::block_on;
use impact_pledge::office::orders::rows::entry;
use impact_pledge::office::orders::rows::entry::{Entry, Origin};
use impact_pledge::office::shared::rows::port::Ledger;
use impact_pledge::office::system::rows::upkeep;
use impact_pledge::office::system::rows::upkeep::Limits;
use impact_pledge::pledges::scope::{Mode, Scope};
use impact_pledge::pledges::store::Recorded;
use impact_pledge::pledges::time::date_time;
use impact_pledge::pledges::types::TransactionId;
use serde_json::{Value, json};
use std::cell::Cell;
use support::ledger::SqliteLedger;
use support::memory::MemoryStore;
use support::service::{FixedClock, SECRET};

/// The time at which the first order is created: 2026-01-01T00:00:00Z, in milliseconds. The orders are spread
/// over the following year (`YEAR_MS`).
const START_MS: u64 = 1_767_225_600_000;
const YEAR_MS: u64 = 365 * 86_400_000;
const OFFERINGS: u64 = 40;
/// The number of orders that are written in one batch.
const MANY: usize = 4_000;

/// The numbers of orders and shops.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub orders: u64,
    pub shops: u64,
}

impl Size {
    /// Fills a database with the orders, as the queue's consumer does. Then stores the totals of their days,
    /// as the cron does.
    pub fn fill(self, ledger: &SqliteLedger) {
        let mut random = Random(1);
        let mut entries = Vec::with_capacity(MANY);
        for number in 0..self.orders {
            entries.extend(self.order(number, &mut random).entry());
            if entries.len() == MANY || number + 1 == self.orders {
                let now = self.created_ms(number) + 2_000;
                block_on(entry::write(ledger, &entries, Origin::Message, now)).unwrap();
                entries.clear();
            }
        }
        store_days(ledger, ledger, self.created_ms(self.orders));
    }

    /// Returns when the nth order was created.
    pub fn created_ms(self, number: u64) -> u64 {
        START_MS + number * (YEAR_MS / self.orders)
    }

    /// Returns the nth order.
    pub fn order(self, number: u64, random: &mut Random) -> Order {
        let shop = self.shop(random);
        let mode = if random.below(20) == 0 { Mode::Test } else { Mode::Live };
        let scope = Scope { mode, unit: format!("unit_{shop}") };
        let is_rare = shop == 0 && number < self.orders / 4 && random.below(1_000) == 0;
        let key = key(shop, if is_rare { RARE } else { random.below(10) / 9 });
        let reference = format!("order-{number}");
        let unique = u128::from(random.next()) << 64 | u128::from(random.next());
        let id = TransactionId::new(&SECRET, &scope, &reference, unique.to_le_bytes());
        let buyer = random.below(1 + self.orders / 3); // a buyer has about three orders
        let hashes = SECRET.hashes(&scope, &reference, &format!("buyer-{buyer}@shop.example"));
        let is_hostile = mode == Mode::Test && random.below(1_000) == 0;
        let created_at = date_time(self.created_ms(number));
        let mut summary = json!({
            "createdAt": created_at, "amount": format!("{}.50", 1 + random.below(40)),
            "currencyCode": if shop % 3 == 2 { "EUR" } else { "USD" },
            "lookup": hashes, "key": key, "prices": "2026-01-01T00:00:00Z",
            "quantities": quantities(random),
        });
        if random.below(200) == 0 {
            summary["unpriced"] = json!(1);
        }
        if is_hostile {
            summary["amount"] = json!(format!("{}7.25", "9".repeat(300)));
            summary["quantities"] = json!([["offering-00", "12e306"], ["offering-01", "5e-324"]]);
        }
        Order(json!({ "id": id, "mode": mode, "unit": scope.unit, "summary": summary }))
    }

    /// Picks a shop. The nth shop has 1/n as many orders as the first.
    fn shop(self, random: &mut Random) -> u64 {
        let share = random.below(1 << 32) as f64 / (1_u64 << 32) as f64;
        (((self.shops + 1) as f64).powf(share) - 1.0) as u64
    }
}

/// The index of the API key that each shop used rarely, and not recently.
pub const RARE: u64 = 9;

/// Returns the ID of an API key of a shop.
pub fn key(shop: u64, number: u64) -> String {
    format!("{shop:06x}{number:06x}")
}

/// Runs the ledger's cron two hours after this time, to store the totals of the days. No reconciliation pass
/// is due then. `ledger` is `sqlite` itself, or a wrapper that passes statements on to it.
pub fn store_days(ledger: &dyn Ledger, sqlite: &SqliteLedger, ms: u64) {
    let now_ms = ms + 2 * 3_600_000;
    sqlite.sql(&format!("UPDATE reconciliation SET completed = {now_ms}"));
    let limits = Limits { calls: 1_000, milliseconds: u64::MAX };
    let (store, clock) = (MemoryStore::default(), FixedClock(Cell::new(now_ms)));
    block_on(upkeep::keep_up(ledger, &store, &clock, "the benchmark", limits)).unwrap();
}

/// Returns one to five offerings with amounts.
fn quantities(random: &mut Random) -> Value {
    let first = random.below(OFFERINGS);
    let mut pairs: Vec<_> = (0..1 + random.below(5))
        .map(|step| (first + 7 * step) % OFFERINGS)
        .map(|offering| (format!("offering-{offering:02}"), 500_000 * (1 + random.below(20))))
        .collect();
    pairs.sort();
    json!(pairs)
}

/// A queue message about an order.
#[derive(Clone, Debug)]
pub struct Order(pub Value);

impl Order {
    /// Returns the ledger's row for the order.
    pub fn entry(&self) -> Option<Entry> {
        let recorded: Recorded = serde_json::from_value(self.0.clone()).unwrap();
        let quantities = recorded.summary.quantities.clone().unwrap();
        Entry::new(&recorded, quantities)
    }
}

/// The random number generator SplitMix64.
#[derive(Debug)]
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
