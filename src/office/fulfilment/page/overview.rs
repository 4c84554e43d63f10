//! Builds the fulfilment page of a month.

use super::done;
use crate::office::fulfilment::operation::{ADD, balances};
use crate::office::fulfilment::rule as fulfilments;
use crate::office::fulfilment::rule::{Balance, Balances};
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::fields::OperationForm;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::listing::table;
use crate::office::shared::page::month::MonthSelection;
use crate::office::shared::page::refusal::{Refusal, Result};
use crate::office::shared::page::response::Page;
use crate::office::shared::page::view;
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::roles::Permission;
use crate::office::updates::rule as updates;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::settlement::Month;
use crate::pledges::store::OperatorStore;
use maud::{Markup, html};
use std::collections::BTreeMap;

const PATH: &str = "/fulfilment";
pub(super) const PAGE: (&str, &str) = ("Fulfilment", PATH);
/// Maximum number of offerings on the page.
const MAX_ROWS: usize = 500;
/// Maximum number of offerings in a CSV file.
const MAX_LINES: usize = 50_000;
/// Number of earlier months for which the page shows what is still to be done.
const EARLIER: usize = 11;

/// Shows the fulfilment of the month in the query. Ledger cost: 12 to 16 queries.
pub(crate) async fn fulfilment<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    query: &Form,
) -> Result {
    let selection = MonthSelection::read(context, query, PAGE)?;
    let ledger = context.ledger;
    let (mode, months) = (Some(selection.mode), [selection.month]);
    let found = fulfilments::balances(context.store, ledger, mode, &months, MAX_ROWS).await?;
    let recorded = fulfilments::list(ledger, mode, &months, view::MAX_ROWS).await?;
    let drafted = drafted(context, selection).await?;
    let earlier = earlier(context, selection).await?;
    let content = html! {
        p.lead { "Pledged through all units in " (view::month(selection.month)) ", and done for these pledges" }
        (selection.links(PATH))
        section {
            h2 { "By offering" }
            (table(&balances(&found).without(&["Month", "Mode", "Complete up to"])))
            @if found.more { p { "Only the first " (MAX_ROWS) " offerings are shown. The CSV file has all." } }
            (view::coverage(&found.coverage))
            (view::left_out(&found.left_out))
            p { a href=(selection.address("/fulfilment.csv")) { "Download CSV" } }
        }
        (still_open(&earlier))
        section { h2 { "What was done" } (done::list(context, selection, &recorded, &drafted)) }
        @if context.may(Permission::Operate) { (record_section(context, selection, &found)) }
    };
    Ok(Page::new(PAGE.0, content))
}

fn record_section<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    MonthSelection { mode, month }: MonthSelection,
    found: &Balances,
) -> Markup {
    let label = |balance: &Balance| format!("{} ({} to be done)", balance.offering, balance.open);
    let labels: Vec<_> = found.balances.iter().map(label).collect();
    let names = found.balances.iter().map(|balance| &*balance.offering);
    let offerings: Vec<_> = names.zip(labels.iter().map(String::as_str)).collect();
    html! {
        section #record {
            h2 { "Record what was done" }
            (context.operation_form(OperationForm {
                fixed: &[("mode", mode.name()), ("month", &month.to_string())],
                menus: &[("offering", &offerings)],
                ..OperationForm::new(&ADD, PATH)
            }))
        }
    }
}

/// Maps the IDs of fulfilments to the IDs of the updates that were drafted from them. Empty for people who are not
/// operators. Ledger cost: 2 queries for operators.
async fn drafted<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    selection: MonthSelection,
) -> Result<BTreeMap<String, String>> {
    if !context.may(Permission::Operate) {
        return Ok(BTreeMap::new());
    }
    let (mode, months) = (Some(selection.mode), [selection.month]);
    let found = updates::list(context.ledger, mode, &months, view::MAX_ROWS).await?;
    let drafted = found.updates.into_iter().filter_map(|row| Some((row.fulfilment?, row.id)));
    Ok(drafted.collect())
}

/// Returns the CSV export of a month: for each offering, what was pledged, credited and done. Ledger cost: 5 or 6
/// queries.
pub(crate) async fn fulfilment_csv<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    query: &Form,
) -> Result {
    let MonthSelection { mode, month } = MonthSelection::read(context, query, PAGE)?;
    let found =
        fulfilments::balances(context.store, context.ledger, Some(mode), &[month], MAX_LINES)
            .await?;
    if found.more {
        return Err(Refusal::invalid(format!(
            "the month {month} has more than {MAX_LINES} offerings, too many for this CSV file. Use the command `transactions quantities`"
        )));
    }
    Ok(Page::csv(&["fulfilment", mode.name(), &month.to_string()], &balances(&found)))
}

// ---- Earlier months ------------------------------------------------------------------------------

/// Returns the pledges of the [`EARLIER`] months before the selected one for which something is still to be done, or buyers
/// were told nothing.
async fn earlier<S: OperatorStore, C: Clock, E>(
    context: &PageContext<'_, S, C, E>,
    selection: MonthSelection,
) -> Result<Balances> {
    let before = std::iter::successors(selection.month.previous(), |month| month.previous());
    let months: Vec<Month> = before.take(EARLIER).collect();
    let found = fulfilments::balances(
        context.store,
        context.ledger,
        Some(selection.mode),
        &months,
        MAX_ROWS,
    )
    .await;
    match found {
        // The ledger keeps none of these months.
        Err(OperatorError::Invalid(_)) => Ok(Balances::default()),
        found => {
            let mut found = found?;
            found.balances.retain(|balance| balance.open != "0" || balance.is_untold());
            Ok(found)
        }
    }
}

fn still_open(earlier: &Balances) -> Markup {
    html! {
        @if !earlier.balances.is_empty() {
            section {
                h2 { "Earlier months with something to be done, or without an update" }
                (table(&balances(earlier).without(&["Mode", "Orders", "Complete up to"])))
                p.soft { "The " (EARLIER) " months before." }
            }
        }
    }
}
