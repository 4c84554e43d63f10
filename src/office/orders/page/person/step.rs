//! Erases the transactions of a person, in steps, and shows what was erased.

use super::find::summary;
use super::form::{Asked, BROKEN};
use super::receipt::{Receipt, end, erased_all, go_on};
use crate::office::orders::rule as transactions;
use crate::office::orders::rule::{ErasureCursor, NotErased, PersonErasure, PersonStep};
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::list_times::ListTimes;
use crate::office::shared::page::refusal::{Refusal, Result};
use crate::office::shared::page::response::Page;
use crate::office::shared::page::view::id_link;
use crate::office::shared::page::{operation, view};
use crate::office::shared::rule::coverage::DamagedRecords;
use crate::office::shared::rule::once::Done;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{OperatorStore, ReceivedKey};
use crate::pledges::time::{TimeZones, date_time};
use maud::{Markup, html};

/// Maximum number of KV lists per step. A list has 1,000 transactions.
const LISTS: usize = 40;
/// Maximum number of transactions that a step erases. Each takes several KV calls.
const AT_MOST: usize = 20;

pub(super) async fn step<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    form: &Form,
    asked: Asked<'_>,
) -> Result {
    let units = asked.units(form)?;
    let from = match form.given("at") {
        None => None,
        Some(at) => Some(ErasureCursor::parse(at).ok_or_else(|| Refusal::invalid(BROKEN))?),
    };
    let (records, author) = ((context.store, context.ledger), &context.author);
    let (address, is_everywhere) = (asked.address, asked.unit.is_none());
    let person = PersonErasure { address, units: &units, mode: None, is_everywhere };
    let from = from.as_ref();
    let done =
        transactions::erase_person_step(records, author, person, from, AT_MOST, LISTS).await?;
    let Done { outcome: step, before } = done;
    let receipt = Receipt::new(form, &step);
    let times = context.times_of(asked.unit).await;
    let content = html! {
        (operation::before(before.as_ref()))
        @if step.next.is_none() { (erased_all(&receipt, &units)) }
        (summary(asked))
        (outcome(&step, &times))
        (damaged(&step.damaged))
        @match &step.next {
            Some(next) => (go_on(context, asked, &units, next, &receipt)),
            None => (end(&receipt, &units, author.by(), &date_time(context.clock.now_ms()))),
        }
    };
    let title = match step.next {
        Some(_) => "Erasing a person",
        None if receipt.left.is_empty() => "Person erased",
        None => "Person not completely erased",
    };
    Ok(Page::new(title, content))
}

fn outcome(step: &PersonStep, times: &ListTimes<'_, impl TimeZones>) -> Markup {
    let erased = step.erased.iter().map(|erased| {
        let before = erased.before.as_ref();
        let state = html! { @if before.is_some() { "Already erased" } @else { "Erased" } };
        vec![id_link(&erased.id), state, times.text(&erased.at)]
    });
    let refused = step.refused.iter().map(|NotErased { id, why, .. }| {
        vec![link(id), html! { span.tag.alarm { "Not erased" } }, html! { (view::sentence(why)) }]
    });
    let rows: Vec<_> = erased.chain(refused).collect();
    html! {
        p { "Records checked in this step: " (step.listed) "." }
        @if step.deleted > 0 { p { "Orders of shop systems that were kept, and are deleted: " (step.deleted) "." } }
        (view::table(&["Transaction", "Outcome", "Time or reason"], &rows, "No transaction was erased in this step."))
    }
}

/// Renders a transaction, or a delivery with a link to its connection.
fn link(id: &str) -> Markup {
    match ReceivedKey::from_id(id) {
        Some(key) => {
            html! { a href={ "/connections/" (key.connection()) } { "Order of a shop system" } }
        }
        None => id_link(id),
    }
}

fn damaged(damaged: &DamagedRecords) -> Markup {
    html! {
        @if damaged.count > 0 {
            p.problem { "Damaged records that could not be checked: " (damaged.count) "." }
        }
    }
}
