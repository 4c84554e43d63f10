//! The rules for the ledger that are checked at the end of a simulation. Each rule is a function that returns
//! the violation. The rules that hold at any time are in `ledger_moments.rs`.
//!
//! The rules about these four subjects are checked elsewhere, at the moment when they could be broken:
//! acknowledged messages, removed marks, changes of records by several people, and paid months.

use crate::books::Books;
use crate::callers::Exchange;
use crate::due_rules::dues_follow_from_charges_and_credits;
use crate::fulfilments::{an_operation_records_one_fulfilment, what_is_open_is_what_is_not_done};
use crate::ledger_rows::rows;
use crate::ledger_sums::{sums_are_those_of_kv, the_ledger_is_what_kv_has};
use crate::order_rules::{
    a_paid_order_is_pledged_once, a_pledge_is_that_of_its_order, an_order_is_frozen_once,
    credits_of_an_order_are_its_refunds, no_body_is_kept, no_order_is_lost, no_refund_is_given_up,
};
use crate::people::a_person_is_what_people_heard;
use crate::published_rules::{a_change_is_what_people_heard, the_audit_log_has_each_change};
use crate::rule::Wrong;
use crate::simulation::Simulation;
use crate::times::{APART_MS, EPOCH_MS};
use crate::updates::{an_update_is_what_people_heard, kv_has_the_published_updates};
use futures_executor::block_on;
use impact_pledge::office::system::rows::findings;
use impact_pledge::office::system::rows::findings::FindingKind;
use impact_pledge::office::system::rows::reconcile::PassOutcome;
use serde_json::Value;

/// The prefix of the names of marks. A mark is a record of a message that the ledger's queue did not accept.
pub const UNSENT: &str = "ledger-unsent:";
/// The JSON members that the summary in a message may have.
const MEMBERS: &[&str] =
    &["createdAt", "amount", "currencyCode", "unpriced", "lookup", "key", "prices", "quantities"];

type Rule = fn(&Simulation, &Books) -> Wrong;

pub const RULES: &[(&str, Rule)] = &[
    ("two never work at one pass", two_never_work_at_one_pass),
    ("who works at a pass holds it", who_works_at_a_pass_holds_it),
    ("a message follows its record", a_message_follows_its_record),
    ("an acknowledged create sends a message", an_acknowledged_create_sends_a_message),
    ("a message has what the ledger needs", a_message_has_what_the_ledger_needs),
    ("what the queue does not take is marked", what_the_queue_does_not_take_is_marked),
    ("no mark stays", no_mark_stays),
    ("no create waits for the ledger", no_create_waits_for_the_ledger),
    ("a pass ends at last", a_pass_ends_at_last),
    ("a month is marked with what is due", a_month_is_marked_with_what_is_due),
    ("the audit log has each change of a record", the_audit_log_has_each_change),
    ("a change is what people heard", a_change_is_what_people_heard),
    ("the ledger is what KV has", the_ledger_is_what_kv_has),
    ("sums are those of KV", sums_are_those_of_kv),
    ("dues follow from charges and credits", dues_follow_from_charges_and_credits),
    ("an operation records one fulfilment", an_operation_records_one_fulfilment),
    ("what is open is what is not done", what_is_open_is_what_is_not_done),
    ("a person is what people heard", a_person_is_what_people_heard),
    ("KV has the published updates", kv_has_the_published_updates),
    ("an update is what people heard", an_update_is_what_people_heard),
    ("a settled month changes by name alone", a_settled_month_changes_by_name_alone),
    ("an order is frozen once", an_order_is_frozen_once),
    ("a paid order is pledged once", a_paid_order_is_pledged_once),
    ("a pledge is that of its order", a_pledge_is_that_of_its_order),
    ("credits of an order are its refunds", credits_of_an_order_are_its_refunds),
    ("no refund is given up", no_refund_is_given_up),
    ("no order is lost", no_order_is_lost),
    ("no body is kept", no_body_is_kept),
];

/// Returns the first violation of a ledger rule, found during the simulation or at its end.
pub fn check(simulation: &Simulation) -> Option<(&'static str, String)> {
    let books = simulation.books.as_ref()?;
    let seen = books.wrong.borrow().clone();
    let in_the_end =
        || RULES.iter().find_map(|(name, rule)| Some((*name, rule(simulation, books)?)));
    seen.or_else(in_the_end)
}

// ---- In the end ----------------------------------------------------------------------------------

fn two_never_work_at_one_pass(_: &Simulation, books: &Books) -> Wrong {
    books.database.taken.borrow().clone()
}

/// Checks that the sums of a payment were what was due at the moment when the month was marked as paid.
fn a_month_is_marked_with_what_is_due(_: &Simulation, books: &Books) -> Wrong {
    books.database.mismarked.borrow().clone()
}

fn who_works_at_a_pass_holds_it(_: &Simulation, books: &Books) -> Wrong {
    books.database.short.borrow().clone()
}

/// Checks that a message to the ledger is sent only after its transaction's record was written.
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

/// Checks that a message contains only what the ledger needs. It must contain nothing that could repeat the
/// create request, open the timeline, or identify the recipient.
fn a_message_has_what_the_ledger_needs(_: &Simulation, books: &Books) -> Wrong {
    let is_wrong = |message: &Value| {
        let summary = message["summary"].as_object();
        let names = summary.into_iter().flat_map(serde_json::Map::keys);
        let lookup = message["summary"]["lookup"].as_object();
        let hashes: Vec<_> = lookup.into_iter().flat_map(serde_json::Map::keys).collect();
        names.into_iter().any(|name| !MEMBERS.contains(&&**name))
            || message.as_object().is_none_or(|members| members.len() != 4)
            || hashes != ["email", "order"]
            || message.to_string().contains('@')
    };
    let handed = books.handed.borrow();
    handed.iter().find(|handed| is_wrong(&handed.message)).map(|handed| handed.message.to_string())
}

/// Checks that a transaction has a mark if the queue did not accept its message, and otherwise has none. (A
/// mark is a record in KV, and costs a write.)
fn what_the_queue_does_not_take_is_marked(_: &Simulation, books: &Books) -> Wrong {
    books.handed.borrow().iter().find_map(|handed| {
        let calls = handed.calls.list.borrow();
        let is_marked = calls.iter().any(|call| call.name.starts_with(UNSENT));
        (is_marked != handed.is_refused).then(|| {
            format!("refused: {}, marked: {is_marked}, {}", handed.is_refused, handed.message)
        })
    })
}

/// Checks that no mark is left at the end. A mark notes a message that the queue did not accept, and is
/// removed once the row exists.
fn no_mark_stays(simulation: &Simulation, _: &Books) -> Wrong {
    Some(simulation.kv.last_of(UNSENT).into_iter().next()?.0)
}

/// Checks that a client never waits for the ledger. If the ledger's queue refuses a message, the service marks
/// the transaction in KV. This mark must not be among the create request's own KV calls. Another rule checks
/// that a request waits only for its own calls.
fn no_create_waits_for_the_ledger(simulation: &Simulation, _: &Books) -> Wrong {
    let exchanges = simulation.exchanges.borrow();
    exchanges.iter().enumerate().find_map(|(number, exchange)| {
        let calls = exchange.calls.list.borrow();
        let call = calls.iter().find(|call| call.name.starts_with(UNSENT))?;
        Some(format!("#{number} has a {} of {}", call.operation, call.name))
    })
}

fn a_pass_ends_at_last(_: &Simulation, books: &Books) -> Wrong {
    let passes = books.passes.borrow();
    let reached = passes.last()?;
    (*reached != Some(Ok(PassOutcome::Complete)))
        .then(|| format!("the last one reached {reached:?}"))
}

/// Checks that no change in a paid month goes unnoticed: a changed row must have a later time of change, and a
/// removed row must be named in a finding.
fn a_settled_month_changes_by_name_alone(_: &Simulation, books: &Books) -> Wrong {
    let (now, none) = (rows(&books.database), Value::Null);
    let findings = block_on(findings::findings(books.database.sqlite(), 1_000)).unwrap();
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
