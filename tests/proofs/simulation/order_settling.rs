//! Lets everything that shops sent be read at the end of a simulation, and then erases all buyers.

use crate::books::Books;
use crate::order_bodies::{NUMBERS, OrderId, SHOPS, VERSIONS};
use crate::simulation::Simulation;
use impact_pledge::office::audit::rule::Author;
use impact_pledge::office::connections::rule as connections;
use std::rc::Rc;

/// How often the cron runs at the end, and the time between two runs, in milliseconds. So all orders are read after an hour.
const LAST_RUNS: usize = 6;
const CRON_MS: u64 = 10 * 60_000;
const AT_ONCE: usize = 200;

impl Simulation {
    /// Reads what was sent, as the cron does every 10 minutes. What could not be read because its bytes were damaged on the
    /// way is tried again, as a person does. Then erases all buyers.
    pub fn settle_orders(&self) {
        let Some(books) = &self.books else { return };
        self.orders_reach_the_service(books);
        for _ in 0..LAST_RUNS {
            let reading = Rc::clone(books);
            books.spawn(async move {
                reading.try_unreadable_again().await;
                reading.read_missed(AT_ONCE).await;
            });
            self.advance(CRON_MS);
        }
        let rows = "SELECT json_array(delivery, outcome, detail) FROM received";
        for row in books.database.json(rows) {
            books.count(format!("an order: {}", row[1].as_str().unwrap_or_default()));
            books.note(format!("in the end {row}"));
        }
        let erasing = Rc::clone(books);
        books.spawn(async move {
            for place in 0..SHOPS.len() * NUMBERS * VERSIONS {
                let (order, version) = (place / VERSIONS, place % VERSIONS);
                let order = OrderId { shop: order / NUMBERS, number: order % NUMBERS };
                erasing.erase_received(order, version).await;
            }
        });
        self.advance(CRON_MS);
    }
}

impl Books {
    async fn try_unreadable_again(&self) {
        let sql =
            "SELECT json_array(connection, delivery) FROM received WHERE outcome = 'unreadable'";
        for row in self.database.json(sql) {
            let (connection, delivery): (String, String) = serde_json::from_value(row).unwrap();
            let clock = self.clock();
            let author = Author::new("ops", &clock, &*self.random).unwrap();
            let which = (&*connection, &*delivery);
            let told = connections::try_again(&self.database, &author, which).await;
            self.note(format!("{delivery} is tried again: {told:?}"));
            self.count("an order: unreadable, and tried again");
        }
    }
}
