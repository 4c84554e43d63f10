//! Simulates people who write, publish, edit and withdraw updates. Also simulates the cron that heals the
//! records in KV from which timelines read updates. Several people change the updates of one record at the same
//! time. Some send a request more than once, with the same operation ID. A request may be killed between any
//! two of its steps.

use crate::books::Books;
use crate::changes::UpdateAttempt;
use crate::kv::{CACHE_MS, COPY_LAG_MS, OPERATOR};
use crate::rule::Wrong;
use crate::simulation::Simulation;
use crate::times::{APART_MS, LATEST_WRITE_MS, virtual_ms};
use impact_pledge::office::audit::rule::Author;
use impact_pledge::office::shared::rule::error::OperatorError;
use impact_pledge::office::shared::rule::operation_id::OperationId;
use impact_pledge::office::updates::rows::updates::{Pledges, UpdateRow};
use impact_pledge::office::updates::rule as updates;
use impact_pledge::office::updates::rule::NewUpdate;
use impact_pledge::pledges::scope::Mode;
use impact_pledge::pledges::settlement::Month;
use impact_pledge::pledges::store::{Key as _, UpdatesKey};
use serde_json::Value;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The maximum number of people who change updates at the same time, and of requests for one change. All of the
/// requests are sent within a period picked from `WITHIN_MS`.
const TOGETHER: u64 = 3;
const ASKED: u64 = 2;
const WITHIN_MS: &[u64] = &[500, 2_000, 100_000];
const OFFERINGS: &[&str] = &["tree", "plastic-kg"];
/// Of 1,000 changes, the number that add an update.
const ADDITIONS: u64 = 300;
/// The maximum number of records that a cron heals at once.
const HEALED: usize = 10;

/// A change that a person wants to make. All changes except `Add` name the update, and the revision that the
/// person saw.
#[derive(Clone, Debug)]
enum Change {
    Add,
    Edit(String, u64),
    Publish(String, u64),
    Withdraw(String, u64),
}

impl Books {
    /// Starts people who change the updates of the same pledges.
    pub fn change_updates(self: &Rc<Self>) {
        let pledges = Pledges {
            mode: self.random.pick(&[Mode::Test, Mode::Live]),
            month: Month::parse("2026-01").unwrap(),
            offering: self.random.pick(OFFERINGS).to_owned(),
        };
        let within_ms = self.random.pick(WITHIN_MS);
        for _ in 0..=self.random.below(TOGETHER) {
            let id = OperationId::new(&self.clock(), &*self.random);
            let id = OperationId::parse(id.as_str()).unwrap(); // as a form sends it
            let change = self.draw_change(&pledges);
            for _ in 0..=self.random.below(ASKED) {
                let (books, id, change, pledges) =
                    (Rc::clone(self), id.clone(), change.clone(), pledges.clone());
                self.spawn_killable(async move {
                    books.sleep(books.random.below(within_ms)).await;
                    books.attempt(books.change_update(id, &pledges, &change)).await;
                });
            }
        }
    }

    fn draw_change(&self, pledges: &Pledges) -> Change {
        let rows =
            self.database.json("SELECT json_array(id, revision, mode, offering) FROM updates");
        let is_own = |row: &&Value| row[2] == pledges.mode.name() && row[3] == *pledges.offering;
        let own: Vec<_> = rows.iter().filter(is_own).collect();
        if own.is_empty() || self.random.chance(ADDITIONS) {
            return Change::Add;
        }
        let row = self.random.pick(&own);
        let (id, revision) = (row[0].as_str().unwrap().to_owned(), row[1].as_u64().unwrap());
        match self.random.below(5) {
            0 => Change::Edit(id, revision),
            1 => Change::Withdraw(id, revision),
            _ => Change::Publish(id, revision),
        }
    }

    async fn change_update(self: &Rc<Self>, id: OperationId, pledges: &Pledges, change: &Change) {
        let ending = self.announce_attempt(Some(pledges.clone()));
        let (clock, store) = (self.clock(), self.namespace(OPERATOR));
        let author = Author::new("ops", &clock, &*self.random).unwrap().with_operation(id.clone());
        let (ledger, new) = (&self.database, news(&id));
        let told = match change {
            Change::Add => updates::add(&store, ledger, &author, (pledges, None), &new).await,
            Change::Edit(id, seen) => {
                updates::edit(&store, ledger, &author, (id, *seen), &new).await
            }
            Change::Publish(id, seen) => {
                updates::publish(&store, ledger, &author, (id, *seen)).await
            }
            Change::Withdraw(id, seen) => {
                updates::withdraw(&store, ledger, &author, (id, *seen)).await
            }
        };
        self.note(format!("{change:?} by {id}: {told:?}"));
        let (is_sure, outcome) = match &told {
            Ok(done) if done.outcome.is_compiled => (true, "made"),
            Ok(_) => (false, "made, but not shown yet"),
            Err(OperatorError::Invalid(_) | OperatorError::Repeated(_)) => (true, "refused"),
            Err(_) => (false, "unsure"),
        };
        self.count(format!("an update: {outcome}"));
        self.updates.borrow_mut()[ending.1].is_sure = is_sure;
        if let Ok(done) = told {
            let seen = match change {
                Change::Add => 0,
                Change::Edit(_, seen) | Change::Publish(_, seen) | Change::Withdraw(_, seen) => {
                    *seen
                }
            };
            self.hear(&id, seen, done.outcome.row);
        }
    }

    /// Records the answer to a change. Checks that nobody else has changed the same revision.
    fn hear(&self, id: &OperationId, seen: u64, row: UpdateRow) {
        let mut heard = self.heard_updates.borrow_mut();
        let key = (row.id.clone(), seen);
        let (operation, _) = heard.entry(key).or_insert_with(|| (id.to_string(), row.clone()));
        if *operation != id.as_str() {
            let text = format!("{operation} and {id} changed {} of revision {seen}", row.id);
            self.blame("of two changes of a revision one is made", text);
        }
    }

    /// Starts the cron that heals records.
    pub fn heal(self: &Rc<Self>) {
        let books = Rc::clone(self);
        self.spawn_killable(async move { books.attempt(books.heal_records()).await });
    }

    pub async fn heal_records(self: &Rc<Self>) {
        let ending = self.announce_attempt(None);
        let (clock, store) = (self.clock(), self.namespace(OPERATOR));
        let told = updates::heal(&store, &self.database, &clock, HEALED).await;
        self.note(format!("the cron heals records of updates: {told:?}"));
        if let Ok(compared) = told {
            self.count(if compared.written > 0 {
                "a record is healed"
            } else {
                "no record to heal"
            });
            self.updates.borrow_mut()[ending.1].is_sure = true;
        }
    }

    /// Records that an attempt begins to change a record; all records if `pledges` is `None`.
    fn announce_attempt(self: &Rc<Self>, pledges: Option<Pledges>) -> Ending {
        let number = self.updates.borrow().len();
        let attempt = UpdateAttempt { pledges, is_sure: false, ended_ms: None };
        self.updates.borrow_mut().push(attempt);
        Ending(Rc::clone(self), number)
    }

    /// Returns the time from which a comparison of a record with its rows is reliable; `None` while an attempt
    /// runs. Before that time, a write whose answer was lost may still arrive, and a cache may still have an
    /// old record.
    fn settled_ms(&self, of: &Pledges) -> Option<u64> {
        let attempts = self.updates.borrow();
        let is_its = |it: &&UpdateAttempt| it.pledges.as_ref().is_none_or(|pledges| pledges == of);
        let ends = attempts.iter().filter(is_its).map(|it| Some((it.ended_ms?, it.is_sure)));
        let ends: Option<Vec<_>> = ends.collect();
        let unsure = ends?.into_iter().filter(|(_, is_sure)| !is_sure);
        let late = |(ended_ms, _)| ended_ms + LATEST_WRITE_MS + CACHE_MS + COPY_LAG_MS + APART_MS;
        let cached_ms = self.kv.late_until_ms(&record_name(of));
        Some(unsure.map(late).max().unwrap_or_default().max(cached_ms + APART_MS))
    }
}

/// Records the end of an attempt when this guard is dropped, also if the attempt is killed.
struct Ending(Rc<Books>, usize);

impl Drop for Ending {
    fn drop(&mut self) {
        let Ending(books, number) = self;
        books.updates.borrow_mut()[*number].ended_ms = Some(books.now_ms());
    }
}

fn news(id: &OperationId) -> NewUpdate {
    NewUpdate {
        stage: "done".to_owned(),
        date: "2026-01-20".to_owned(),
        place: format!("where {id} is"),
        texts: vec![("en".to_owned(), "We planted.".to_owned())],
        ..NewUpdate::default()
    }
}

fn record_name(Pledges { mode, month, offering }: &Pledges) -> String {
    UpdatesKey::new(*mode, offering, *month).name()
}

// ---- Rules -----------------------------------------------------------------------------------------

/// The record of updates of some pledges, as the ledger knows it.
struct RecordRow {
    pledges: Pledges,
    /// Whether the record counts as up to date.
    is_compiled: bool,
    checked_ms: u64,
}

fn record_rows(books: &Books) -> Vec<RecordRow> {
    let rows = books.database.json(
        "SELECT json_array(mode, month, offering, compiled IS revision, checked) FROM update_records",
    );
    let row = |row: Value| RecordRow {
        pledges: Pledges {
            mode: serde_json::from_value(row[0].clone()).unwrap(),
            month: Month::parse(row[1].as_str().unwrap()).unwrap(),
            offering: row[2].as_str().unwrap().to_owned(),
        },
        is_compiled: row[3] == 1,
        checked_ms: row[4].as_u64().map_or(0, virtual_ms),
    };
    rows.into_iter().map(row).collect()
}

/// Compares a record in KV with the published updates of the ledger.
fn wrong_record(simulation: &Simulation, books: &Books, of: &Pledges) -> Wrong {
    let rows = books.database.json(
        "SELECT json_array(mode, month, offering, json(content)) FROM updates WHERE state = 'published'",
    );
    let month = of.month.to_string();
    let is_own =
        |row: &&Value| row[0] == of.mode.name() && row[1] == month && row[2] == *of.offering;
    let by_id = |update: &Value| (update["id"].to_string(), update.clone());
    let expected: BTreeMap<_, _> = rows.iter().filter(is_own).map(|row| by_id(&row[3])).collect();
    let record = simulation.kv.last(&record_name(of));
    let shown = record.iter().flat_map(|record| record.json()["updates"].as_array());
    let shown: BTreeMap<_, _> = shown.flatten().map(by_id).collect();
    let names = |updates: &BTreeMap<String, Value>| updates.keys().cloned().collect::<Vec<_>>();
    (shown != expected)
        .then(|| format!("{} has {:?}, not {:?}", record_name(of), names(&shown), names(&expected)))
}

/// Checks that a record which counts as up to date contains the published updates. Skips records that are still
/// being written.
pub fn records_that_are_compiled_have_the_updates(simulation: &Simulation, books: &Books) -> Wrong {
    record_rows(books).into_iter().filter(|row| row.is_compiled).find_map(|row| {
        let settled_ms = books.settled_ms(&row.pledges)?;
        (row.checked_ms >= settled_ms)
            .then(|| wrong_record(simulation, books, &row.pledges))
            .flatten()
    })
}

/// Checks that in the end, healing has corrected all records.
pub fn kv_has_the_published_updates(simulation: &Simulation, books: &Books) -> Wrong {
    record_rows(books).into_iter().find_map(|row| {
        let outdated = || format!("{} is outdated", record_name(&row.pledges));
        (!row.is_compiled).then(outdated).or_else(|| wrong_record(simulation, books, &row.pledges))
    })
}

/// Checks that an operation adds at most one update, and that the last confirmed change is in effect.
pub fn an_update_is_what_people_heard(_: &Simulation, books: &Books) -> Wrong {
    let twice = "SELECT content FROM updates WHERE revision = 1
GROUP BY content ->> '$.place.name' HAVING count(*) > 1";
    if let Some(text) = books.database.sqlite().sql(twice).into_iter().next() {
        return Some(text);
    }
    let heard = books.heard_updates.borrow();
    heard.values().find_map(|(_, told)| {
        let row = format!(
            "SELECT json_array(revision, state, json(content)) FROM updates WHERE id = '{}'",
            told.id
        );
        let row = books.database.json(&row).pop().unwrap_or_default();
        let content = serde_json::to_value(&told.update).unwrap();
        let is_right = row[0].as_u64() > Some(told.revision)
            || (row[0] == told.revision && row[1] == told.state.name() && row[2] == content);
        (!is_right).then(|| format!("{told:?} is {row}"))
    })
}
