//! Simulates payments. The operator marks months as paid, or removes these marks, while all other events
//! happen.

use crate::books::Books;
use crate::callers::{Action, Exchange, Scope};
use crate::case::{Case, transaction_name};
use crate::kv::{CACHE_MS, Call};
use crate::months::{ENDED_MS, ENDS, MONTH, PAUSE_MS, settlement};
use crate::rule::{Wrong, unless};
use crate::simulation::Simulation;
use crate::times::{EPOCH_MS, ISOLATE_MS};
use impact_pledge::pledges::time::date_time;
use serde_json::{Value, json};

/// Of 1,000 simulations, the number that continue from the end of one month to the end of the next. At the end
/// of each further month, they take `NEXT_STEPS` more steps.
const GOES_ON: u64 = 700;
const NEXT_STEPS: usize = 12;
/// A month may be marked as paid up to this many milliseconds before it counts as ended. A get must not show
/// such an early mark yet.
const EARLY_MS: u64 = 120_000;
const STEPS: usize = 30;
/// The maximum number of gets that one isolate serves at once.
const TOGETHER: u64 = 4;
const SCOPES: &[Scope] = &[("test", "unit_1"), ("live", "unit_1"), ("test", "unit_2")];

impl Simulation {
    /// Simulates the end of the month, from shortly before it. At random times, the month is marked as
    /// paid, or the mark is removed.
    pub fn pay(&mut self) {
        let begins_ms = ENDED_MS - self.random.below(EARLY_MS);
        self.advance(begins_ms.saturating_sub(self.time.now_ms()));
        for _ in 0..STEPS {
            match self.random.below(18) {
                0..2 => self.mark(),
                2..6 => self.get_together(),
                6 => self.erase(),
                7..10 => self.step(),
                10..14 => self.credit(),
                _ => self.settle(),
            }
            let pause_ms = self.random.pick(&[50, 5_000, 60_000]);
            self.advance(self.random.below(pause_ms));
        }
        for (_, ended_ms) in &ENDS[1..] {
            if !self.random.chance(GOES_ON) {
                break;
            }
            self.pay_next(*ended_ms);
        }
    }

    /// Simulates the end of a further month. This month may take an excess of credits from an earlier month,
    /// and pass a rest on to the next month.
    fn pay_next(&mut self, ended_ms: u64) {
        self.advance(ended_ms - self.time.now_ms());
        for _ in 0..NEXT_STEPS {
            match self.random.below(12) {
                0..3 => self.get_together(),
                3..5 => self.step(),
                5..8 => self.credit(),
                _ => self.settle(),
            }
            self.advance(self.random.below(120_000));
        }
    }

    fn credit(&self) {
        self.books.iter().for_each(Books::credit_order);
    }

    /// Runs the operator's commands for payments. Some runs follow a reconciliation pass, and some happen
    /// while the ledger is rebuilt.
    fn settle(&self) {
        let Some(books) = &self.books else { return };
        match books.random.below(6) {
            0 => books.rebuild(),
            1 => books.reconcile(),
            2..5 => return books.settle_beside_credits(),
            _ => {}
        }
        books.settle_by_command(PAUSE_MS);
    }

    /// Marks the month of a shop as paid, or removes the mark. Each mark has a different time.
    fn mark(&mut self) {
        let (scope, at) = (self.random.pick(SCOPES), date_time(EPOCH_MS + self.time.now_ms()));
        let record = json!({ "paidAt": at, "sums": [], "invoice": "17", "by": "ops", "at": at });
        let record = self.random.chance(650).then(|| record.to_string());
        if let Some(books) = self.books.as_ref().filter(|_| record.is_some()) {
            books.settle(scope, MONTH);
        }
        self.note(format!("the operator marks {MONTH} of {scope:?} as {record:?}"));
        self.kv.set(&settlement(scope, MONTH), record.map(String::into_bytes));
    }

    /// Sends several gets to one isolate at the same time, so that some need the same settlement record. The
    /// first get reads it for all of them, unless that get is cut off.
    fn get_together(&mut self) {
        let isolate = self.pick_isolate();
        for _ in 0..=self.random.below(TOGETHER) {
            let Some(id) = self.pick_to_get() else { return };
            self.send_to(&isolate, self.ask(Action::Get { id }));
            self.advance(self.random.below(20));
        }
        if self.random.chance(100) {
            self.cut_request();
        }
    }

    /// Picks a transaction to get; often the one that was erased last.
    fn pick_to_get(&self) -> Option<String> {
        let erased = self.erased.borrow().last().cloned().filter(|_| self.random.chance(300));
        erased.map(|(id, _)| id).or_else(|| Some(self.pick_created()?.0))
    }
}

/// Removes the time of payment from the response to a get. What is left is the record as it is stored.
pub fn unpaid(body: &[u8]) -> Vec<u8> {
    let start = br#""paidAt":""#;
    let mut body = body.to_vec();
    if let Some(at) = body.windows(start.len()).position(|bytes| bytes == start) {
        let text = at + start.len() - 1;
        body.splice(text..text + r#""2026-01-31T12:00:00.000Z""#.len(), *b"null");
    }
    body
}

// ---- Rules -----------------------------------------------------------------------------------------

/// Checks the `paidAt` that a get returns. The value must be null until the month has ended by the isolate's clock.
/// From then on, `paidAt` may have any value that a cache can still contain, including null.
pub fn what_is_paid_is_shown(case: &Case<'_>) -> Wrong {
    let Action::Get { .. } = &case.exchange.ask.action else { return None };
    let answer = case.answer().filter(|answer| answer.status == 200)?;
    let created_at = answer.json()["createdAt"].as_str()?; // a value that broke off has none
    let shown = &answer.json()["charge"]["paidAt"];
    let Exchange { begun_ms, ahead_ms, .. } = *case.exchange;
    let of = ENDS.iter().find(|(month, _)| created_at.starts_with(month));
    let has_ended =
        |ms: u64| of.is_some_and(|(_, ended_ms)| ms.saturating_add_signed(ahead_ms) >= *ended_ms);
    let mut allowed = vec![];
    if !has_ended(begun_ms) {
        allowed.push(Value::Null);
    }
    if has_ended(case.ended_ms()) {
        allowed.extend(in_force(case, of?.0)?);
    }
    unless(allowed.contains(shown), || format!("{shown} and none of {allowed:?}"))
}

/// Returns the times of payment that a get may show, because caches of KV and of isolates may still contain
/// them. Null stands for a month that is not marked as paid.
fn in_force(case: &Case<'_>, month: &str) -> Option<Vec<Value>> {
    let name = settlement(case.exchange.ask.scope()?, month);
    let versions = case.simulation.kv.versions.borrow();
    let marks = versions.get(&name).into_iter().flatten().map(|version| {
        let paid_at = version.held.as_ref().map(|record| record.json()["paidAt"].clone());
        (version.arrived_ms, paid_at.unwrap_or_default())
    });
    let marks: Vec<_> = [(0, Value::Null)].into_iter().chain(marks).collect();
    let replaced = marks.iter().skip(1).map(|(from_ms, _)| Some(*from_ms)).chain([None]);
    let in_force = marks.iter().zip(replaced).filter(|((from_ms, _), replaced_ms)| {
        let ends_ms = replaced_ms.map(|ms| case.everywhere_ms(&name, ms, CACHE_MS) + ISOLATE_MS);
        *from_ms <= case.ended_ms() && ends_ms.is_none_or(|ms| case.exchange.begun_ms <= ms)
    });
    Some(in_force.map(|((_, paid_at), _)| paid_at.clone()).collect())
}

/// Checks that the answer to a create request never says that anything is paid. This must also hold for a
/// replay after the month was marked as paid.
pub fn a_create_says_that_nothing_is_paid(case: &Case<'_>) -> Wrong {
    let paid_at = &case.exchange.created()?.json()["charge"]["paidAt"];
    unless(paid_at.is_null(), || format!("it was paid at {paid_at}"))
}

/// Checks that no get returns erased data once the erasure is in force everywhere.
pub fn nothing_erased_returns(case: &Case<'_>) -> Wrong {
    let Action::Get { id } = &case.exchange.ask.action else { return None };
    let all = case.simulation.erased.borrow();
    let (_, erased_ms) = all.iter().find(|(erased, _)| erased == id)?;
    let from_ms = case.everywhere_ms(&transaction_name(id), *erased_ms, CACHE_MS);
    let body = case.answer().filter(|_| case.exchange.begun_ms >= from_ms)?.body.as_deref()?;
    let body = String::from_utf8_lossy(body);
    let email = case.simulation.payloads.iter().map(|payload| &payload.email);
    let shown = email.into_iter().find(|email| body.contains(&***email))?;
    Some(format!("{shown} was erased at {erased_ms} ms"))
}

/// Whether this request waited while another request of its isolate read a settlement, and that read failed.
pub fn waited_for_a_failure(case: &Case<'_>) -> bool {
    let waited = case.calls("pause");
    let is_beside = |call: &Call| waited.iter().any(|pause| call.began_ms <= pause.began_ms);
    let failed = |other: &Exchange| {
        let calls = other.calls.list.borrow();
        let mut failed = calls.iter().filter(|call| call.fault.is_some() && is_beside(call));
        other.isolate == case.exchange.isolate
            && other.ended_ms >= Some(case.exchange.begun_ms)
            && failed.any(|call| call.name.starts_with("settlement:"))
    };
    case.exchanges.iter().any(failed)
}
