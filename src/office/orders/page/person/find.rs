//! Shows the transactions that an erasure would erase, and asks for a confirmation.

use super::form::{Asked, TITLE, whose};
use crate::office::orders::page::{orders, transaction};
use crate::office::orders::rows::orders::Direction;
use crate::office::orders::rule as transactions;
use crate::office::orders::rule::{ERASABLE_MINUTES, Found, SearchKey, TransactionFilter};
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::response::Page;
use crate::office::shared::page::view;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use maud::{Markup, html};

/// Maximum number of transactions that are counted by unit.
const MAX_COUNTED: usize = 1_000;
/// Maximum number of transactions that are shown.
const MAX_ROWS: usize = 20;

pub(super) async fn look<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    asked: Asked<'_>,
) -> Result {
    let by = SearchKey::Email(asked.address.to_owned());
    let filter = TransactionFilter { unit: asked.unit.map(str::to_owned), mode: None };
    let (of, newest) = ((&filter, &by), &Direction::Newest);
    let found = transactions::find(context.store, context.ledger, of, newest, MAX_COUNTED).await?;
    let units = match asked.unit {
        Some(unit) => vec![unit.to_owned()],
        None => transactions::units_to_erase(&found)?,
    };
    let content = html! {
        (summary(asked))
        (found_rows(context, asked, &found).await)
        (confirmation(context, asked, &units, ""))
        p {
            small {
                "A transaction can be erased " (ERASABLE_MINUTES) " minutes after it was created."
            }
        }
    };
    Ok(Page::new(TITLE, content))
}

pub(super) fn summary(asked: Asked<'_>) -> Markup {
    html! {
        p.lead {
            "Transactions with the e-mail address that you entered, in "
            @match asked.unit {
                Some(unit) => { "the unit " (transaction::unit(unit)) "." }
                None => "all units.",
            }
        }
    }
}

async fn found_rows<S: OperatorStore, C: Clock, E>(
    context: &PageContext<'_, S, C, E>,
    asked: Asked<'_>,
    found: &Found,
) -> Markup {
    let all = &found.transactions;
    let newest = all.get(..MAX_ROWS).unwrap_or(all);
    let table = orders::table(context, newest, asked.unit).await;
    html! {
        @if all.is_empty() {
            p { "The ledger has no transaction with this e-mail address." }
            @if asked.unit.is_none() {
                p { "To check all records of a unit, including those that the ledger lacks, enter the unit. " a href="/person" { "Start again" } }
            }
        } @else {
            (counts(context, found).await)
            (table)
        }
        @if found.more {
            p {
                "Only the newest " (view::grouped(MAX_COUNTED)) " transactions were counted. Start again after this erasure, \
                 to find units that only have older ones."
            }
        }
        @if all.len() > MAX_ROWS { p { "These are the newest " (MAX_ROWS) ". Older ones will be erased, too." } }
        @if let Some(coverage) = &found.coverage { (view::coverage(coverage)) }
    }
}

/// Renders how many transactions were found in each unit and mode.
async fn counts<S: OperatorStore, C: Clock, E>(
    context: &PageContext<'_, S, C, E>,
    found: &Found,
) -> Markup {
    let counts = transactions::counts_by_scope(&found.transactions);
    let names = context.names_of(counts.keys().map(|scope| &*scope.unit)).await;
    let rows = counts.iter().map(|(scope, count)| {
        let mode = html! { @if scope.mode.is_live() { "Live" } @else { "Test" } };
        vec![names.link(&scope.unit), mode, html! { (count) }]
    });
    let rows: Vec<_> = rows.collect();
    view::table_of(&["Unit", "Mode", "Transactions"], &["Transactions"], &rows, "")
}

pub(super) fn confirmation<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    asked: Asked<'_>,
    units: &[String],
    problem: &str,
) -> Markup {
    let label = match asked.unit {
        Some(_) => "Type the unit ID to confirm".to_owned(),
        None => format!("Type “{}” to confirm", asked.word()),
    };
    let field = view::Field {
        name: "confirm",
        label: &label,
        required: true,
        problem,
        ..view::Field::default()
    };
    let content = html! {
        (whose(asked, units))
        (field.render())
        button.alarm { "Erase permanently" }
    };
    html! {
        section {
            h2 { "Erase" }
            p {
                @if !units.is_empty() {
                    "This erases these transactions. All records of the "
                    @if units.len() == 1 { "unit" } @else { (units.len()) " units" }
                    " are checked, and other transactions with this e-mail address are erased, too. "
                }
                "What shop systems have sent about this buyer is deleted. This cannot be undone. \
                 Offerings, quantities, times and charges are kept for accounting. Backups and the \
                 shop's own systems still have the data."
            }
            (context.form("/person", &content))
        }
    }
}
