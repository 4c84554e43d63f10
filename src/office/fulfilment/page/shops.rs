//! The shops whose buyers an offering and month are about, and how much each of them pledged: whom a planting covers.

use crate::office::fulfilment::rows::unit_quantities::UnitSum;
use crate::office::fulfilment::rule::is_offering;
use crate::office::fulfilment::rule::quantities;
use crate::office::fulfilment::rule::quantities::UnitQuantities;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::link;
use crate::office::shared::page::month::MonthSelection;
use crate::office::shared::page::refusal::{Refusal, Result};
use crate::office::shared::page::response::Page;
use crate::office::shared::page::unit_names::UnitNames;
use crate::office::shared::page::view;
use crate::office::shared::rule::csv;
use crate::office::shared::rule::csv::BYTE_ORDER_MARK;
use crate::pledges::service::{Clock, Entropy};
use maud::{Markup, html};

const PATH: &str = "/fulfilment/shops";
const PAGE: (&str, &str) = ("Shops of an offering", PATH);
/// Maximum number of shops on the page, and in a CSV file.
const MAX_ROWS: usize = 500;
const MAX_LINES: usize = 50_000;
const HEADINGS: [&str; 8] =
    ["month", "mode", "offering", "unit", "name", "orders", "pledged", "complete_up_to"];

/// Returns the address of the page about an offering.
pub(super) fn address(selection: MonthSelection, offering: &str) -> String {
    of(PATH, selection, offering)
}

fn of(path: &str, MonthSelection { mode, month }: MonthSelection, offering: &str) -> String {
    let month = month.to_string();
    link::with(path, &[("mode", mode.name()), ("month", &month), ("offering", offering)])
}

/// Shows the shops that pledged the offering in the month of the query. Ledger cost: 4 or 6 queries.
pub(crate) async fn shops<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    query: &Form,
) -> Result {
    let (selection, offering, found) = found(context, query, MAX_ROWS).await?;
    let names = context.names_of(found.units.iter().map(|sum| &*sum.unit)).await;
    let orders: u64 = found.units.iter().map(|sum| sum.transactions).sum();
    let content = html! {
        p.lead {
            (view::untrusted_text(offering)) ", pledged in " (view::month(selection.month)) " (" (selection.mode.name())
            " mode): " (view::counted(orders, "order")) " of " (view::counted(found.units.len() as u64, "shop"))
        }
        section {
            (table(&found.units, &names))
            @if found.more { p { "Only the first " (MAX_ROWS) " shops are shown. The CSV file has all." } }
            p.soft { "Pledged quantities, without credits. What was done for this offering and month is for the buyers of these orders." }
            (view::coverage(&found.coverage))
            (view::left_out(&found.left_out))
            ul.links {
                li { a href=(of("/fulfilment/shops.csv", selection, offering)) { "Download CSV" } }
                li { a href=(selection.address("/fulfilment")) { "Fulfilment" } }
            }
        }
    };
    Ok(Page::new(PAGE.0, content))
}

async fn found<'f, S, C: Clock, E>(
    context: &PageContext<'_, S, C, E>,
    query: &'f Form,
    most: usize,
) -> Result<(MonthSelection, &'f str, UnitQuantities)> {
    let selection = MonthSelection::read(context, query, PAGE)?;
    let MonthSelection { mode, month } = selection;
    let offering = query.text("offering");
    if !is_offering(offering) {
        return Err(Refusal::invalid("open this page from an offering of the page Fulfilment"));
    }
    let found = quantities::by_unit(context.ledger, (mode, month), offering, most).await?;
    Ok((selection, offering, found))
}

fn table(units: &[UnitSum], names: &UnitNames) -> Markup {
    let row = |UnitSum { unit, transactions, quantity }: &UnitSum| {
        vec![
            names.link(unit),
            html! { (view::grouped(*transactions)) },
            html! { (view::grouped(quantity)) },
        ]
    };
    let rows: Vec<_> = units.iter().map(row).collect();
    let (headings, numbers) = (["Shop", "Orders", "Pledged"], ["Orders", "Pledged"]);
    view::table_of(&headings, &numbers, &rows, "Nobody pledged this offering in this month.")
}

/// Returns the CSV export of the page. Ledger cost: as for the page.
pub(crate) async fn shops_csv<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    query: &Form,
) -> Result {
    let (selection, offering, found) = found(context, query, MAX_LINES).await?;
    if found.more {
        return Err(Refusal::invalid(format!("more than {MAX_LINES} shops pledged this offering")));
    }
    let names = context.names_of(found.units.iter().map(|sum| &*sum.unit)).await;
    let complete_up_to = found.coverage.complete_up_to.as_deref().unwrap_or_default();
    let (month, mode) = (selection.month.to_string(), selection.mode.name());
    let line = |UnitSum { unit, transactions, quantity }: &UnitSum| {
        let (name, orders) = (names.name(unit).unwrap_or_default(), transactions.to_string());
        [&*month, mode, offering, unit, name, &orders, quantity, complete_up_to].map(csv::text)
    };
    let headings = HEADINGS.map(str::to_owned);
    let lines = csv::lines(std::iter::once(headings).chain(found.units.iter().map(line)));
    let file = [BYTE_ORDER_MARK, &lines].concat();
    Ok(Page::csv(&["shops", offering, mode, &month], file.into_bytes()))
}
