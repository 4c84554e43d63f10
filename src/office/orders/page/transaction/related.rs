//! Other transactions of the same order or of the same buyer.

use crate::office::orders::page::orders;
use crate::office::orders::rows::order::Order;
use crate::office::orders::rows::related;
use crate::office::orders::rows::related::Related;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::list_times::ListTimes;
use crate::pledges::service::Clock;
use crate::pledges::store::OperatorStore;
use crate::pledges::types::TransactionId;
use maud::{Markup, html};

/// Maximum number of transactions in each of the two lists: the same reference, and the same buyer.
const SHOWN: usize = 5;

/// Renders two lists of other transactions in the same unit and mode: those with the same reference, and
/// those of the same buyer. For an erased transaction, both lists are empty.
///
/// If the ledger does not answer, the section says so, and the rest of the page is still shown. Cost: 1
/// ledger call with 2 statements, and at most 2 KV reads.
pub(super) async fn section<S: OperatorStore, C: Clock, E>(
    context: &PageContext<'_, S, C, E>,
    order: &Order,
    times: &ListTimes<'_, C>,
) -> Markup {
    let Some(id) = TransactionId::parse(&order.id) else { return html! {} };
    let Ok(Related { reference, buyer }) = related::related(context.ledger, &id, SHOWN + 1).await
    else {
        return html! {
            section { h2 { "Other transactions" } p { "The ledger does not answer, so other transactions \
                                                       are not shown." } }
        };
    };
    let is_new = |other: &Order| reference.iter().all(|twin| twin.id != other.id);
    let others: Vec<_> = buyer.iter().filter(|other| is_new(other)).cloned().collect();
    html! {
        @if !reference.is_empty() {
            section {
                h2 { "Same reference" }
                p { "The shop sent this reference more than once. Check whether one of these \
                     transactions is a duplicate." }
                (list(context, orders::REFERENCE, (&order.id, times), &reference).await)
            }
        }
        @if !others.is_empty() {
            section {
                h2 { "Same buyer" }
                (list(context, orders::BUYER, (&order.id, times), &others).await)
            }
        }
    }
}

async fn list<S: OperatorStore, C: Clock, E>(
    context: &PageContext<'_, S, C, E>,
    parameter: &str,
    (id, times): (&str, &ListTimes<'_, C>),
    found: &[Order],
) -> Markup {
    let shown = found.get(..SHOWN).unwrap_or(found);
    let table = orders::table_of_unit(context, shown, times).await;
    html! {
        (table)
        p { a href=(orders::address(&[(parameter, id)])) { "List all, including this one" } }
    }
}
