//! The statements of several shops on one page, each on a sheet of its own, for printing.

use super::payments::{list, next_page, position, selected};
use super::statement::{sheet, warnings};
use crate::office::payments::rule::due_months::due_months;
use crate::office::payments::rule::statement as records;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::response::Page;
use crate::office::shared::page::view;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use maud::html;

/// Statements on a page.
const MOST: usize = 10;

const PATH: &str = "/payments/statements";

/// Shows the statements of the months that match the filters of the list of payments. Ledger cost: 7 to 9 queries, and 6 to 8 for
/// each statement. KV cost: 1 read, and 2 reads for each statement and per 5 of its price lists.
pub(crate) async fn statements<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    query: &Form,
) -> Result {
    let (filter, after) = (selected(query)?, position(query)?);
    let (store, ledger, clock) = (context.store, context.ledger, context.clock);
    let now_ms = clock.now_ms();
    let page = due_months(store, ledger, now_ms, &filter, after.as_ref(), MOST).await?;
    let mut statements = Vec::with_capacity(page.months.len());
    for usage in &page.months {
        statements.push(records::statement(store, ledger, clock, &usage.of).await?);
    }
    let content = html! {
        div.screen {
            p.lead { "Each statement is printed on a page of its own. To print them or save them as a PDF, use your browser's Print command." }
            p { a href={ "/payments?" (list(query)) } { "Back to the payments" } }
            (view::coverage(&page.coverage))
        }
        @for statement in &statements {
            div.statement { h2 { "Statement " (view::untrusted_text(&statement.number)) } (warnings(statement)) (sheet(statement, &context.settings.issuer)) }
        }
        @if statements.is_empty() { p { "No months match." } }
        @if let Some(last) = &page.next {
            p.screen { a rel="next" href=(next_page(PATH, query, last)) { "Next " (MOST) " →" } }
        }
    };
    Ok(Page::new("Statements", content))
}
