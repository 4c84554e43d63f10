//! Simulates D1's Time Travel: at the end of a simulation, the rows of payments and memberships are set back to an earlier
//! time. Then the operator accepts the loss, and the crons publish the rows.

use crate::books::Books;
use crate::kv::OPERATOR;
use crate::simulation::Simulation;
use impact_pledge::office::system::rule::own_rows;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The time until every location shows the last writes, in milliseconds.
const SHOWN_MS: u64 = 400_000;
/// The number of times that a cron runs afterwards, and the pause between two runs.
const RUNS: usize = 4;
const PAUSE_MS: u64 = 60_000;
/// Two changes that are committed within this many milliseconds may have times in the wrong order: the clocks of two people
/// differ, and a change is committed up to half a minute after its time. The audit log is not set back here, so it does not say
/// which one is newer.
const SKEW_MS: u64 = 60_000;
/// The rows that are set back.
const OWN: &str = "(name LIKE 'settlement:%' OR name LIKE 'member:%')";

impl Books {
    /// Keeps the rows of payments and memberships as they are now, unless earlier ones are kept.
    pub fn keep_earlier(&self) {
        if self.has_earlier.replace(true) {
            return;
        }
        self.note("the rows of this time will come back");
        let sqlite = self.database.sqlite();
        sqlite.sql("DROP TABLE IF EXISTS temp.earlier");
        sqlite.sql(&format!("CREATE TEMP TABLE earlier AS SELECT * FROM published WHERE {OWN}"));
    }

    /// Returns whether each payment and membership is there.
    fn facts(&self) -> BTreeMap<String, bool> {
        let sql = format!(
            "SELECT json_array(name, json(iif(content IS NULL, 'false', 'true'))) FROM published WHERE {OWN}"
        );
        self.database
            .json(&sql)
            .into_iter()
            .map(|row| serde_json::from_value(row).unwrap())
            .collect()
    }

    /// Whether no two changes of a record are so close to each other that their times may be in the wrong order.
    fn is_clear(&self, name: &str) -> bool {
        let all = self.database.published.borrow();
        let times: Vec<_> = all.get(name).into_iter().flatten().map(|it| it.committed_ms).collect();
        times.windows(2).all(|pair| pair[1] - pair[0] > SKEW_MS)
    }

    fn set_back(&self) {
        self.database.is_set_back.set(true);
        let sqlite = self.database.sqlite();
        sqlite.sql(&format!("DELETE FROM published WHERE {OWN}"));
        sqlite.sql("INSERT INTO published SELECT * FROM earlier");
        self.note("the database is set back");
        self.count("a reset");
    }

    /// Takes newer records from Workers KV, as the operator's command does that accepts a loss.
    async fn accept(&self) {
        let (clock, store) = (self.clock(), self.namespace(OPERATOR));
        let at = (&clock, &*self.random);
        let told = own_rows::end_without(&store, &self.database, at).await;
        self.note(format!("the operator accepts the loss: {told:?}"));
    }
}

impl Simulation {
    /// Sets the rows back, accepts the loss, and checks that payments and memberships are as they were before the reset: in
    /// the ledger and in KV. What was removed since must not come back.
    pub fn travel_in_time(&self, books: &Rc<Books>) {
        if !books.has_earlier.get() {
            return;
        }
        self.advance(SHOWN_MS);
        let before = books.facts();
        books.set_back();
        let accepting = Rc::clone(books);
        books.spawn(async move { accepting.accept().await });
        self.advance(PAUSE_MS);
        for _ in 0..RUNS {
            let publishing = Rc::clone(books);
            books.spawn(async move { publishing.republish().await });
            self.advance(PAUSE_MS);
        }
        let after = books.facts();
        let in_kv = |name: &String| {
            let copy = self.kv.last(name);
            copy.is_some_and(|copy| copy.json()["removed"] != true)
        };
        for (name, is_there) in before.into_iter().filter(|(name, _)| books.is_clear(name)) {
            let found = [after.get(&name).copied().unwrap_or_default(), in_kv(&name)];
            if found != [is_there; 2] {
                let text =
                    format!("{name} was there: {is_there}; now in the ledger and in KV: {found:?}");
                books.blame("what changed after a time is so after a reset to it", text);
            }
        }
    }
}
