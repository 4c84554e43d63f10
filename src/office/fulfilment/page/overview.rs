//! Builds the fulfilment page of a month.

use super::done;
use super::shops;
use crate::office::fulfilment::operation::ADD;
use crate::office::fulfilment::rule as fulfilments;
use crate::office::fulfilment::rule::{Balance, Balances};
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::fields::OperationForm;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::month::MonthSelection;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::response::Page;
use crate::office::shared::page::view;
use crate::office::shared::page::view::grouped;
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
            (table(&found.balances))
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

fn table(balances: &[Balance]) -> Markup {
    let row = |balance: &Balance| {
        let Balance { offering, pledged, credited, done, open, surplus, .. } = balance;
        vec![
            view::untrusted_text(offering),
            orders(balance),
            html! { (grouped(pledged)) },
            html! { @if credited != "0" { (grouped(credited)) } },
            html! { @if done != "0" { (grouped(done)) } },
            html! {
                @if surplus != "0" { (grouped(surplus)) " more than pledged" }
                @else if open == "0" { "All done" }
                @else { strong { (grouped(open)) } }
            },
            told(balance),
        ]
    };
    let rows: Vec<_> = balances.iter().map(row).collect();
    let headings =
        ["Offering", "Orders", "Pledged", "Credited", "Done", "To be done", "Shown to buyers"];
    let numbers = ["Orders", "Pledged", "Credited", "Done", "To be done"];
    view::table_of(&headings, &numbers, &rows, "Nothing was pledged in this month.")
}

/// Renders the number of orders, with a link to the shops that they are of.
fn orders(Balance { mode, month, offering, transactions, .. }: &Balance) -> Markup {
    let of = MonthSelection { mode: *mode, month: *month };
    html! {
        @if *transactions > 0 {
            a href=(shops::address(of, offering)) title="By shop" { (grouped(*transactions)) }
        } @else { "0" }
    }
}

/// Renders what published updates tell buyers: the quantity that is done, or only how many updates there are. Marks a
/// quantity that is not the one that was recorded as done.
fn told(Balance { mode, month, done, updates, told, .. }: &Balance) -> Markup {
    let of = MonthSelection { mode: *mode, month: *month };
    html! {
        a href=(of.address("/updates")) {
            @match (updates, &**told) {
                (0, _) => "nothing",
                (_, "0") => (view::counted(*updates, "update")),
                (_, told) if told == done => { (grouped(told)) " done" }
                (_, told) => strong { (grouped(told)) " done" },
            }
        }
    }
}

// ---- Earlier months ------------------------------------------------------------------------------

/// Returns the pledges of the [`EARLIER`] months before the selected one for which something is still to be done, or buyers
/// were told nothing.
async fn earlier<S: OperatorStore, C: Clock, E>(
    context: &PageContext<'_, S, C, E>,
    selection: MonthSelection,
) -> Result<Vec<Balance>> {
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
        Err(OperatorError::Invalid(_)) => Ok(Vec::new()),
        found => {
            let mut balances = found?.balances;
            balances.retain(|balance| balance.open != "0" || balance.is_untold());
            Ok(balances)
        }
    }
}

fn still_open(earlier: &[Balance]) -> Markup {
    let row = |balance: &Balance| {
        let of = MonthSelection { mode: balance.mode, month: balance.month };
        vec![
            html! { a href=(of.address(PATH)) { (view::month(balance.month)) } },
            view::untrusted_text(&balance.offering),
            html! { (grouped(&balance.pledged)) },
            html! { @if balance.open == "0" { "All done" } @else { strong { (grouped(&balance.open)) } } },
            told(balance),
        ]
    };
    let rows: Vec<_> = earlier.iter().map(row).collect();
    let headings = ["Month", "Offering", "Pledged", "To be done", "Shown to buyers"];
    html! {
        @if !rows.is_empty() {
            section {
                h2 { "Earlier months with something to be done, or without an update" }
                (view::table_of(&headings, &["Pledged", "To be done"], &rows, ""))
                p.soft { "The " (EARLIER) " months before." }
            }
        }
    }
}
