//! The rules for the ledger that hold at any time. Each rule is a function that returns a violation, if there
//! is any. All rules are checked after each step of the simulation, and again at the end.

use crate::books::Books;
use crate::credit_rules::{
    a_settled_month_has_the_credits_that_it_states, no_credit_changes,
    no_order_is_credited_beyond_itself, no_refused_credit_is_there,
};
use crate::kv::{COPY_LAG_MS, LIST_LAG_MS};
use crate::ledger_rows::{Rows, Watch, credit_rows, rows};
use crate::ledger_sums::wrong_row;
use crate::payload::REFERENCE;
use crate::published_rules::{
    a_confirmed_copy_is_in_kv, no_record_goes_back, two_people_do_not_make_one_change,
};
use crate::rule::Wrong;
use crate::simulation::Simulation;
use crate::times::{APART_MS, created_ms, virtual_ms};
use crate::updates::records_that_are_compiled_have_the_updates;
use futures_executor::block_on;
use impact_pledge::office::system::rows::findings;
use impact_pledge::office::system::rows::findings::{Finding, FindingKind};
use impact_pledge::office::system::rows::state;
use impact_pledge::office::system::rows::state::State;
use serde_json::Value;
use std::collections::BTreeMap;
use std::rc::Rc;

/// How long a record may be missing from KV's lists, in milliseconds. The ledger's reconciliation relies on
/// this limit.
const SHOWN_AFTER_MS: u64 = 120_000;
/// The maximum time until a list of the simulated KV shows a write, in milliseconds.
const SHOWN_MS: u64 = COPY_LAG_MS + LIST_LAG_MS;
type Moment = fn(&Moments<'_>) -> Wrong;

const MOMENTS: &[(&str, Moment)] = &[
    ("below the watermark nothing is missing", below_the_watermark_nothing_is_missing),
    ("below the watermark rows are what KV has", below_the_watermark_rows_are_what_kv_has),
    ("a row that is removed is named", a_row_that_is_removed_is_named),
    ("no row is removed whose record is there", no_row_is_removed_whose_record_is_there),
    ("no row is removed that is younger than the pass", no_row_is_removed_that_is_younger),
    ("no row goes back", no_row_goes_back),
    ("no row stays whose record never was", no_row_stays_whose_record_never_was),
    ("nothing erased returns to the ledger", nothing_erased_returns_to_the_ledger),
    ("two people do not make one change", |moment| two_people_do_not_make_one_change(moment.books)),
    ("no record goes back", |moment| no_record_goes_back(moment.books)),
    ("a confirmed copy is in KV", |moment| {
        a_confirmed_copy_is_in_kv(&moment.simulation.kv, moment.books)
    }),
    ("records that are compiled have the updates", |moment| {
        records_that_are_compiled_have_the_updates(moment.simulation, moment.books)
    }),
    ("no order is credited beyond itself", |moment| {
        no_order_is_credited_beyond_itself(&moment.simulation.kv, &moment.credits)
    }),
    ("no credit changes", |moment| no_credit_changes(&moment.before.credits, &moment.credits)),
    ("a settled month has the credits that it states", |moment| {
        a_settled_month_has_the_credits_that_it_states(moment.books, &moment.credits)
    }),
    ("no refused credit is there", |moment| {
        no_refused_credit_is_there(moment.books, &moment.credits)
    }),
];

/// The state at the current check.
struct Moments<'m> {
    simulation: &'m Simulation,
    books: &'m Books,
    before: &'m Watch,
    rows: BTreeMap<String, Value>,
    state: State,
    findings: Vec<Finding>,
    credits: Rows,
}

/// Checks all rules of this module.
pub fn watch(simulation: &Simulation, books: &Rc<Books>) {
    simulation.kv.arrive();
    let sqlite = books.database.sqlite();
    let (mut before, rows) = (books.watch.take(), rows(&books.database));
    let emptied = books.database.emptied.get();
    if before.emptied != emptied {
        let Watch { credits, .. } = before;
        before = Watch { emptied, credits, ..Watch::default() };
        books.forget();
    }
    before.removed.extend(before.rows.keys().filter(|id| !rows.contains_key(*id)).cloned());
    before.removed.retain(|id| !rows.contains_key(id));
    let moment = Moments {
        simulation,
        books,
        before: &before,
        rows,
        state: block_on(state::state(sqlite)).unwrap(),
        findings: block_on(findings::findings(sqlite, 1_000)).unwrap(),
        credits: credit_rows(&books.database),
    };
    for (name, rule) in MOMENTS {
        rule(&moment).into_iter().for_each(|text| books.blame(name, text));
    }
    books.check_removed();
    let created = |(id, row): (&String, &Value)| Some((id.clone(), row["created"].as_u64()?));
    let (rows, credits) =
        (moment.rows.iter().filter_map(created).collect(), moment.credits.clone());
    books.watch.replace(Watch { rows, credits, ..before });
}

impl Moments<'_> {
    /// Returns when the last complete pass began, in milliseconds of virtual time.
    fn completed_ms(&self) -> Option<u64> {
        self.state.completed.map(virtual_ms)
    }

    /// Returns the time up to which the last complete pass saw every write, even if clocks differ.
    fn settled_ms(&self) -> Option<u64> {
        Some(self.completed_ms()?.saturating_sub(SHOWN_AFTER_MS + APART_MS))
    }

    fn is_named(&self, id: &str) -> bool {
        self.findings.iter().any(|finding| finding.name.ends_with(id))
    }

    fn is_gone(&self, id: &str) -> bool {
        let is_its = |finding: &Finding| finding.kind == FindingKind::Gone && finding.name == id;
        self.findings.iter().any(is_its)
    }

    /// Whether a fault of KV excuses a violation: either a list left out a record that it should have shown, or
    /// a cache kept an old version of the record for too long.
    fn is_excused(&self, id: &str, since_ms: u64) -> bool {
        let (kv, name) = (&self.simulation.kv, format!("transaction:{id}"));
        let is_since = |ms: u64| ms > 0 && ms + APART_MS >= since_ms;
        kv.hidden_ms(&name).is_some_and(is_since) || is_since(kv.late_until_ms(&name))
    }
}

/// Checks that no row is missing below the watermark (the time up to which the ledger is complete). Covers
/// acknowledged transactions, and records that existed when the last complete pass began.
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
        let is_there = first.arrived_ms + SHOWN_MS + APART_MS <= completed_ms;
        let created = created_ms(&first.held.as_ref().filter(|_| is_there)?.json()["createdAt"])?;
        Some((name.strip_prefix("transaction:")?.to_owned(), created))
    });
    let mut missing = acknowledged.chain(there).filter(|(id, created)| {
        *created < watermark && !moment.rows.contains_key(id) && !moment.is_named(id)
    });
    let (id, created) = missing.find(|(id, _)| !moment.is_excused(id, completed_ms))?;
    Some(format!("{id} is missing, which was created at {} ms", virtual_ms(created)))
}

/// Checks that a row equals its record in KV if neither the row nor the record has changed since the last
/// complete pass.
fn below_the_watermark_rows_are_what_kv_has(moment: &Moments<'_>) -> Wrong {
    let (settled_ms, completed_ms) = (moment.settled_ms()?, moment.completed_ms()?);
    let versions = moment.simulation.kv.versions.borrow();
    moment.rows.iter().find_map(|(id, row)| {
        let last = versions.get(&format!("transaction:{id}"))?.last()?;
        let changed_ms = virtual_ms(row["changed"].as_u64()?);
        let is_quiet = last.arrived_ms + SHOWN_MS + APART_MS <= completed_ms
            && changed_ms <= settled_ms
            && !moment.is_named(id)
            && !moment.is_excused(id, completed_ms);
        let now = (changed_ms, last.arrived_ms);
        let mut right = moment.before.right.borrow_mut();
        if !is_quiet || right.get(id) == Some(&now) {
            return None;
        }
        right.insert(id.clone(), now); // a wrong row ends the simulation
        wrong_row(row, last.held.as_ref()?)
    })
}

/// Checks that every removed row is named in a finding. Findings are kept forever, because nothing else shows
/// that the row existed.
fn a_row_that_is_removed_is_named(moment: &Moments<'_>) -> Wrong {
    moment.before.removed.iter().find(|id| !moment.is_gone(id)).cloned()
}

fn no_row_is_removed_whose_record_is_there(moment: &Moments<'_>) -> Wrong {
    let kv = &moment.simulation.kv;
    let is_there = |id: &&String| {
        let name = format!("transaction:{id}");
        kv.last(&name).is_some() && kv.late_until_ms(&name) == 0
    };
    moment.before.removed.iter().find(is_there).cloned()
}

/// Checks that a pass removes no row that was created less than two minutes before the pass began. The row's
/// record may not be visible yet.
fn no_row_is_removed_that_is_younger(moment: &Moments<'_>) -> Wrong {
    let young = format!(
        "SELECT json_array(name, detail, pass) FROM findings
WHERE kind = 'gone' AND detail ->> '$.created' >= pass - {SHOWN_AFTER_MS}"
    );
    Some(moment.books.database.json(&young).first()?.to_string())
}

/// Checks that a row never changes back to an earlier create request. The exception is a row whose last
/// record in KV is from that request.
fn no_row_goes_back(moment: &Moments<'_>) -> Wrong {
    moment.rows.iter().find_map(|(id, row)| {
        let (before, now) = (moment.before.rows.get(id)?, row["created"].as_u64()?);
        let record = moment.simulation.kv.last(&format!("transaction:{id}"))?;
        let is_back = now < *before && created_ms(&record.json()["createdAt"]) != Some(now);
        (is_back && !moment.is_excused(id, 0)).then(|| row.to_string())
    })
}

/// Checks that a row whose record never existed in KV does not stay. A complete pass must remove the row if the
/// pass began two minutes after the row's create request, and two minutes after the arrival of its message.
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

/// Checks that a row has no personal data once its transaction is erased. The row must be erased as soon as the
/// ledger has confirmed the erasure. At the latest, it must be erased by a complete pass that began two minutes
/// after the erasure.
fn nothing_erased_returns_to_the_ledger(moment: &Moments<'_>) -> Wrong {
    let is_personal = |row: &Value| {
        !row["email"].is_null()
            || !row["reference"].is_null()
            || row["quantities"].to_string().contains(REFERENCE)
    };
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
