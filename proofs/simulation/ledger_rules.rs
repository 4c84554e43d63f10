//! The rules that the ledger must keep. Those of [`MOMENTS`] hold at any moment, those of [`RULES`] are checked in the end; a
//! function for each, which returns what is wrong. Two rules are checked where they can be broken: that of a message that is
//! done, and that of two changes of a fact.

use crate::bookkeeping::{created_ms, virtual_ms};
use crate::books::Books;
use crate::callers::Exchange;
use crate::database::Database;
use crate::invariants::Wrong;
use crate::isolate::EPOCH_MS;
use crate::kv::COPY_LAG_MS;
use crate::ledger_sums::{sums_are_those_of_kv, the_ledger_is_what_kv_has, wrong_row};
use crate::payload::REFERENCE;
use crate::simulation::Simulation;
use futures_executor::block_on;
use impact_pledge::ledger::claims::RECENT_MS;
use impact_pledge::ledger::{self, Finding, FindingKind, Reached, State};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// How long KV may not list a record.
const SHOWN_AFTER_MS: u64 = 120_000;
/// How far two clocks are apart at most.
const APART_MS: u64 = 10_000;
/// What a message says of a transaction beside its ID, mode and unit.
const MEMBERS: &[&str] =
    &["createdAt", "amount", "currencyCode", "unpriced", "lookup", "key", "prices", "quantities"];

type Rule = fn(&Simulation, &Books) -> Wrong;
type Moment = fn(&Moments<'_>) -> Wrong;

const MOMENTS: &[(&str, Moment)] = &[
    ("below the watermark nothing is missing", below_the_watermark_nothing_is_missing),
    ("below the watermark rows are what KV has", below_the_watermark_rows_are_what_kv_has),
    ("a row that is removed is named", a_row_that_is_removed_is_named),
    ("no row is removed whose record is there", no_row_is_removed_whose_record_is_there),
    ("no row stays whose record never was", no_row_stays_whose_record_never_was),
    ("nothing erased returns to the ledger", nothing_erased_returns_to_the_ledger),
    ("claims say what KV has", claims_say_what_kv_has),
];

pub const RULES: &[(&str, Rule)] = &[
    ("two never work at one pass", two_never_work_at_one_pass),
    ("a message follows its record", a_message_follows_its_record),
    ("an acknowledged create sends a message", an_acknowledged_create_sends_a_message),
    ("a message has what the ledger needs", a_message_has_what_the_ledger_needs),
    ("no create waits for the ledger", no_create_waits_for_the_ledger),
    ("a pass ends at last", a_pass_ends_at_last),
    ("the ledger is what KV has", the_ledger_is_what_kv_has),
    ("sums are those of KV", sums_are_those_of_kv),
    ("a settled month changes by name alone", a_settled_month_changes_by_name_alone),
];

/// What was wrong at any moment, or is in the end.
pub fn check(simulation: &Simulation) -> Option<(&'static str, String)> {
    let books = simulation.books.as_ref()?;
    let seen = books.wrong.borrow().clone();
    let in_the_end =
        || RULES.iter().find_map(|(name, rule)| Some((*name, rule(simulation, books)?)));
    seen.or_else(in_the_end)
}

// ---- At any moment -------------------------------------------------------------------------------

/// The rows that were there when the rules were checked last.
#[derive(Default)]
pub struct Watch {
    rows: BTreeSet<String>,
}

/// A moment.
struct Moments<'m> {
    simulation: &'m Simulation,
    books: &'m Books,
    before: &'m BTreeSet<String>,
    rows: BTreeMap<String, Value>,
    state: State,
    findings: Vec<Finding>,
}

/// Checks the rules that hold at any moment.
pub fn watch(simulation: &Simulation, books: &Rc<Books>) {
    simulation.kv.arrive();
    let sqlite = books.database.sqlite();
    let before = books.watch.take().rows;
    let moment = Moments {
        simulation,
        books,
        before: &before,
        rows: rows(&books.database),
        state: block_on(ledger::state(sqlite)).unwrap(),
        findings: block_on(ledger::findings(sqlite, 1_000)).unwrap(),
    };
    for (name, rule) in MOMENTS {
        rule(&moment).into_iter().for_each(|text| books.blame(name, text));
    }
    books.watch.replace(Watch { rows: moment.rows.into_keys().collect() });
}

/// When the last whole pass began.
pub fn completed_ms(books: &Books) -> Option<u64> {
    block_on(ledger::state(books.database.sqlite())).unwrap().completed.map(virtual_ms)
}

/// The rows of all transactions by their IDs.
pub fn rows(database: &Database) -> BTreeMap<String, Value> {
    let rows = database.json(
        "SELECT json_object('id', t.id, 'mode', mode, 'unit', unit, 'created', created, 'currency', currency,
  'cents', cents, 'amount', amount, 'unpriced', unpriced, 'email', email, 'key', k.id, 'prices', prices,
  'erased', erased, 'changed', changed, 'quantities', json(quantities))
FROM transactions t JOIN shops USING (shop) LEFT JOIN keys k USING (key)",
    );
    rows.into_iter().map(|row| (row["id"].as_str().unwrap().to_owned(), row)).collect()
}

impl Moments<'_> {
    /// When the last whole pass began, in milliseconds of virtual time.
    fn completed_ms(&self) -> Option<u64> {
        self.state.completed.map(virtual_ms)
    }

    /// Since when the last whole pass has all that was written before, by any clock.
    fn settled_ms(&self) -> Option<u64> {
        Some(self.completed_ms()?.saturating_sub(SHOWN_AFTER_MS + APART_MS))
    }

    fn is_named(&self, id: &str) -> bool {
        self.findings.iter().any(|finding| finding.name.ends_with(id))
    }

    fn is_gone(&self, id: &str) -> bool {
        let is_its = |finding: &&Finding| finding.kind == FindingKind::Gone && finding.name == id;
        self.findings.iter().any(|finding| is_its(&finding))
    }

    /// Whether KV did what it must not: a list left the record out that had to show it, or a cache kept it for too long.
    fn is_excused(&self, id: &str, since_ms: u64) -> bool {
        let (kv, name) = (&self.simulation.kv, format!("transaction:{id}"));
        let is_hidden = kv.hidden_ms(&name).is_some_and(|ms| ms + APART_MS >= since_ms);
        is_hidden || kv.late_until_ms(&name) + APART_MS >= since_ms
    }
}

/// Neither what was acknowledged, nor what was there when the pass began.
fn below_the_watermark_nothing_is_missing(moment: &Moments<'_>) -> Wrong {
    let (watermark, completed_ms) = (moment.state.watermark()?, moment.completed_ms()?);
    let exchanges = moment.simulation.exchanges.borrow();
    let acknowledged = exchanges.iter().filter_map(|exchange| {
        let json = exchange.created()?.json();
        Some((json["id"].as_str()?.to_owned(), created_ms(&json["createdAt"])?))
    });
    let versions = moment.simulation.kv.versions.borrow();
    let there = versions.range("transaction:".to_owned()..).filter_map(|(name, versions)| {
        let first = versions.first()?;
        let is_there = first.arrived_ms + COPY_LAG_MS + APART_MS <= completed_ms;
        let created = created_ms(&first.held.as_ref().filter(|_| is_there)?.json()["createdAt"])?;
        Some((name.strip_prefix("transaction:")?.to_owned(), created))
    });
    let mut missing = acknowledged.chain(there).filter(|(id, created)| {
        *created < watermark && !moment.rows.contains_key(id) && !moment.is_named(id)
    });
    let (id, created) = missing.find(|(id, _)| !moment.is_excused(id, completed_ms))?;
    Some(format!("{id} is, which was created at {} ms", virtual_ms(created)))
}

/// Those that were not changed since, of records that were not either.
fn below_the_watermark_rows_are_what_kv_has(moment: &Moments<'_>) -> Wrong {
    let (settled_ms, completed_ms) = (moment.settled_ms()?, moment.completed_ms()?);
    let versions = moment.simulation.kv.versions.borrow();
    moment.rows.iter().find_map(|(id, row)| {
        let last = versions.get(&format!("transaction:{id}"))?.last()?;
        let changed_ms = virtual_ms(row["changed"].as_u64()?);
        let is_quiet = last.arrived_ms + COPY_LAG_MS + APART_MS <= completed_ms
            && changed_ms <= settled_ms
            && !moment.is_named(id)
            && !moment.is_excused(id, completed_ms);
        wrong_row(row, last.held.as_ref().filter(|_| is_quiet)?)
    })
}

fn a_row_that_is_removed_is_named(moment: &Moments<'_>) -> Wrong {
    let mut removed = moment.before.iter().filter(|id| !moment.rows.contains_key(*id));
    removed.find(|id| !moment.is_gone(id)).cloned()
}

fn no_row_is_removed_whose_record_is_there(moment: &Moments<'_>) -> Wrong {
    let kv = &moment.simulation.kv;
    let mut removed = moment.before.iter().filter(|id| !moment.rows.contains_key(*id));
    let is_there = |id: &&String| {
        let name = format!("transaction:{id}");
        kv.last(&name).is_some() && kv.late_until_ms(&name) == 0
    };
    removed.find(is_there).cloned()
}

/// Once a whole pass has begun two minutes after its create, and after its message came.
fn no_row_stays_whose_record_never_was(moment: &Moments<'_>) -> Wrong {
    let (watermark, settled_ms) = (moment.state.watermark()?, moment.settled_ms()?);
    let versions = moment.simulation.kv.versions.borrow();
    let is_phantom = |(id, row): &(&String, &Value)| {
        let is_old = row["created"].as_u64() < Some(watermark);
        let is_quiet = row["changed"].as_u64().map(virtual_ms) <= Some(settled_ms);
        is_old && is_quiet && !versions.contains_key(&format!("transaction:{id}"))
    };
    moment.rows.iter().find(is_phantom).map(|(id, _)| id.clone())
}

/// A row that is erased has nothing personal. A row is erased once the ledger was told, or a whole pass began two minutes
/// after the erasure.
fn nothing_erased_returns_to_the_ledger(moment: &Moments<'_>) -> Wrong {
    let is_personal =
        |row: &Value| !row["email"].is_null() || row["quantities"].to_string().contains(REFERENCE);
    let mut erased = moment.rows.values().filter(|row| !row["erased"].is_null());
    if let Some(row) = erased.find(|row| is_personal(row)) {
        return Some(format!("an erased row is {row}"));
    }
    let settled_ms = moment.settled_ms();
    moment.books.erasures.borrow().iter().find_map(|erasure| {
        let row = moment.rows.get(&erasure.id)?;
        let is_settled = erasure
            .done_ms
            .is_some_and(|ms| Some(ms) <= settled_ms && !moment.is_excused(&erasure.id, ms));
        let is_wrong = (is_settled || erasure.told_ms.is_some()) && row["erased"].is_null();
        (is_wrong && !moment.is_named(&erasure.id)).then(|| format!("it is {row}"))
    })
}

/// Of each fact whose claim, when the last whole pass began, counted no more than its record.
fn claims_say_what_kv_has(moment: &Moments<'_>) -> Wrong {
    let (kv, settled_ms) = (&moment.simulation.kv, moment.settled_ms()?);
    let claims = "SELECT json_array(kind || ':' || name, state) FROM claims WHERE state <> 'gone'";
    let claims = moment.books.database.json(claims);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let claims: BTreeMap<_, _> = claims.iter().map(|row| (text(&row[0]), text(&row[1]))).collect();
    let versions = kv.versions.borrow();
    let is_fact = |name: &&String| name.starts_with("settlement:") || name.starts_with("member:");
    let told = moment.books.told.borrow();
    let is_quiet = |name: &&String| {
        let mut own = told.iter().filter(|told| told.name == **name);
        let last = versions.get(*name).and_then(|versions| versions.last());
        last.is_none_or(|last| last.arrived_ms <= settled_ms)
            && !kv.is_written(name)
            && own.all(|told| told.ended_ms.is_some_and(|ms| ms + RECENT_MS <= settled_ms))
    };
    let mut names = claims.keys().chain(versions.keys().filter(is_fact)).filter(is_quiet);
    names.find_map(|name| {
        let (claim, is_there) = (claims.get(name).map(String::as_str), kv.last(name).is_some());
        let is_right = claim == is_there.then_some("kept");
        (!is_right).then(|| format!("{name} is {claim:?}, and whether KV has it: {is_there}"))
    })
}

// ---- In the end ----------------------------------------------------------------------------------

fn two_never_work_at_one_pass(_: &Simulation, books: &Books) -> Wrong {
    books.database.taken.borrow().clone()
}

/// A message is handed over once its record was written, and of no other.
fn a_message_follows_its_record(simulation: &Simulation, books: &Books) -> Wrong {
    let exchanges = simulation.exchanges.borrow();
    books.handed.borrow().iter().find_map(|handed| {
        let name = format!("transaction:{}", handed.message["id"].as_str().unwrap_or_default());
        let calls = exchanges[handed.exchange].calls.list.borrow();
        let is_written = calls.iter().any(|call| {
            let is_over = call.ended_ms.is_some_and(|ended_ms| ended_ms <= handed.at_ms);
            call.operation == "put" && call.name == name && call.fault.is_none() && is_over
        });
        (!is_written).then(|| format!("#{} hands over {}", handed.exchange, handed.message))
    })
}

fn an_acknowledged_create_sends_a_message(simulation: &Simulation, books: &Books) -> Wrong {
    let handed = books.handed.borrow();
    let exchanges = simulation.exchanges.borrow();
    exchanges.iter().enumerate().find_map(|(number, exchange)| {
        let count = handed.iter().filter(|handed| handed.exchange == number).count();
        let is_made =
            |exchange: &Exchange| exchange.created().is_some_and(|answer| !answer.is_replayed);
        let is_right = if is_made(exchange) { count == 1 } else { count <= 1 };
        (!is_right).then(|| format!("#{number} sends {count}"))
    })
}

/// And no more: nothing that repeats it, opens it, or names its recipient.
fn a_message_has_what_the_ledger_needs(_: &Simulation, books: &Books) -> Wrong {
    let is_wrong = |message: &Value| {
        let summary = message["summary"].as_object();
        let names = summary.into_iter().flat_map(serde_json::Map::keys);
        let lookup = message["summary"]["lookup"].as_object();
        let hashes: Vec<_> = lookup.into_iter().flat_map(serde_json::Map::keys).collect();
        names.into_iter().any(|name| !MEMBERS.contains(&&**name))
            || message.as_object().is_none_or(|members| members.len() != 4)
            || hashes != ["email"]
            || message.to_string().contains('@')
    };
    let handed = books.handed.borrow();
    handed.iter().find(|handed| is_wrong(&handed.message)).map(|handed| handed.message.to_string())
}

/// A create has no call for the ledger; that its calls are all it waits for, another rule says.
fn no_create_waits_for_the_ledger(simulation: &Simulation, _: &Books) -> Wrong {
    let exchanges = simulation.exchanges.borrow();
    exchanges.iter().enumerate().find_map(|(number, exchange)| {
        let calls = exchange.calls.list.borrow();
        let call = calls.iter().find(|call| call.name.starts_with("ledger-unsent:"))?;
        Some(format!("#{number} has a {} of {}", call.operation, call.name))
    })
}

fn a_pass_ends_at_last(_: &Simulation, books: &Books) -> Wrong {
    let passes = books.passes.borrow();
    let reached = passes.last()?;
    (*reached != Some(Ok(Reached::Complete))).then(|| format!("the last one reached {reached:?}"))
}

/// By a row that was changed later, or a finding.
fn a_settled_month_changes_by_name_alone(_: &Simulation, books: &Books) -> Wrong {
    let (now, none) = (rows(&books.database), Value::Null);
    let findings = block_on(ledger::findings(books.database.sqlite(), 1_000)).unwrap();
    let counted = ["created", "cents", "amount", "currency", "unpriced", "mode", "unit"];
    let settlements = books.settlements.borrow();
    settlements.iter().find_map(|settlement| {
        let is_later = |time: u64| time + APART_MS >= EPOCH_MS + settlement.at_ms;
        settlement.rows.iter().find_map(|(id, before)| {
            let row = now.get(id).unwrap_or(&none);
            let is_same = counted.iter().all(|member| row[member] == before[member]);
            let is_changed = row["changed"].as_u64().is_some_and(is_later);
            let mut gone = findings.iter().filter(|finding| finding.kind == FindingKind::Gone);
            let is_named = gone.any(|finding| finding.name == *id && is_later(finding.found));
            let is_right = is_same || is_changed || is_named;
            (!is_right).then(|| format!("{id} of {} {} is {row}", settlement.mode, settlement.unit))
        })
    })
}
