//! The quantities that were pledged through a unit in a month, by offering.

use crate::office::fulfilment::rows::quantities::OfferingSum;
use crate::office::fulfilment::rule::quantities;
use crate::office::fulfilment::rule::quantities::PledgedQuantities;
use crate::office::orders::page::transaction;
use crate::office::orders::rule::TransactionFilter;
use crate::office::payments::page::month::MonthSelection;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::refusal::{Refusal, Result};
use crate::office::shared::page::response::Page;
use crate::office::shared::page::{link, view};
use crate::office::shared::rule::coverage::DamagedRecords;
use crate::office::shared::rule::csv;
use crate::office::shared::rule::csv::BYTE_ORDER_MARK;
use crate::office::shared::rule::roles::Permission;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use maud::{Markup, html};

/// Maximum number of offerings on a page, and in a CSV file.
const MAX_ROWS: usize = 500;
const MAX_LINES: usize = 50_000;

/// Shows the quantities of a unit. Cost: 3 or 4 ledger queries.
pub(crate) async fn quantities<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    unit: &str,
    query: &Form,
) -> Result {
    let selection = MonthSelection::read(context, query, (TITLE, &path(unit, "quantities")))?;
    let pledged = pledged(context, unit, selection, MAX_ROWS).await?;
    let content = html! {
        p.lead {
            "Quantities pledged in " (view::month(selection.month)) " through the unit " (transaction::unit(unit))
        }
        (selection.links(&path(unit, "quantities")))
        section {
            (table(&pledged.quantities))
            @if pledged.more { p { "Only the first " (MAX_ROWS) " offerings are shown. The CSV file has all." } }
            (view::coverage(&pledged.coverage))
            (left_out(&pledged.left_out))
            ul.links {
                li { a href=(selection.address(&path(unit, "quantities.csv"))) { "Download CSV" } }
                li { a href=(selection.address(&path(unit, "usage"))) { "Usage" } }
                @if context.may(Permission::Account) { li { a href=(selection.address("/fulfilment")) { "All units" } } }
            }
        }
    };
    Ok(Page::new(TITLE, content))
}

/// Renders a notice about the transactions that are missing from the sums of offerings, if there are any.
pub(crate) fn left_out(DamagedRecords { count, first }: &DamagedRecords) -> Markup {
    html! {
        @if let Some(first) = first {
            p.problem {
                "These sums leave out transactions with too many quantities. Number of such transactions, in \
                 all months: " (count) ", the first is " (view::untrusted_text(first)) "."
            }
        }
    }
}

const TITLE: &str = "Quantities";

fn path(unit: &str, last: &str) -> String {
    link::path(&["units", unit, last])
}

async fn pledged<S, C, E>(
    context: &PageContext<'_, S, C, E>,
    unit: &str,
    selection: MonthSelection,
    most: usize,
) -> Result<PledgedQuantities> {
    let filter = TransactionFilter { unit: Some(unit.to_owned()), mode: Some(selection.mode) };
    Ok(quantities::quantities(context.ledger, &filter, selection.month, most).await?)
}

fn table(quantities: &[OfferingSum]) -> Markup {
    let row = |sum: &OfferingSum| {
        vec![
            view::untrusted_text(&sum.offering),
            html! { strong { (view::grouped(&sum.quantity)) } },
            html! { (view::grouped(sum.transactions)) },
        ]
    };
    let rows: Vec<_> = quantities.iter().map(row).collect();
    let headings = ["Offering", "Quantity", "Transactions"];
    view::table_of(
        &headings,
        &["Quantity", "Transactions"],
        &rows,
        "Nothing was pledged in this month.",
    )
}

const HEADINGS: [&str; 7] =
    ["month", "mode", "unit", "offering", "quantity", "transactions", "complete_up_to"];

pub(crate) async fn quantities_csv<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    unit: &str,
    query: &Form,
) -> Result {
    let selection = MonthSelection::read(context, query, (TITLE, &path(unit, "quantities")))?;
    let pledged = pledged(context, unit, selection, MAX_LINES).await?;
    if pledged.more {
        return Err(Refusal::invalid(format!(
            "{} has more than {MAX_LINES} offerings, too many for this CSV file. Use the command \
             `transactions quantities`",
            selection.month
        )));
    }
    let complete_up_to = pledged.coverage.complete_up_to.as_deref().unwrap_or_default();
    let line = |sum: &OfferingSum| {
        let (month, count) = (sum.month.to_string(), sum.transactions.to_string());
        let mode = sum.mode.name();
        [&*month, mode, unit, &*sum.offering, &*sum.quantity, &*count, complete_up_to]
            .map(csv::text)
    };
    let headings = HEADINGS.map(str::to_owned);
    let lines = csv::lines(std::iter::once(headings).chain(pledged.quantities.iter().map(line)));
    let name = ["quantities", unit, selection.mode.name(), &selection.month.to_string()];
    let file = [BYTE_ORDER_MARK, &lines].concat();
    Ok(Page::csv(&name, file.into_bytes()))
}
