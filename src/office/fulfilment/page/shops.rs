//! The shops whose buyers an offering and month are about, and how much each of them pledged: whom a planting covers.

use crate::office::fulfilment::operation::{ONLY_IN_FILES, ShopsOf, shares};
use crate::office::fulfilment::rule::is_offering;
use crate::office::fulfilment::rule::quantities;
use crate::office::fulfilment::rule::quantities::UnitQuantities;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::link;
use crate::office::shared::page::listing::table;
use crate::office::shared::page::month::MonthSelection;
use crate::office::shared::page::refusal::{Refusal, Result};
use crate::office::shared::page::response::Page;
use crate::office::shared::page::view;
use crate::pledges::service::{Clock, Entropy};
use maud::html;

const PATH: &str = "/fulfilment/shops";
const PAGE: (&str, &str) = ("Shops of an offering", PATH);
/// Maximum number of shops on the page, and in a CSV file.
const MAX_ROWS: usize = 500;
const MAX_LINES: usize = 50_000;

/// Shows the shops that pledged the offering in the month of the query. Ledger cost: 4 or 6 queries.
pub(crate) async fn shops<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    query: &Form,
) -> Result {
    let (of, found) = found(context, query, MAX_ROWS).await?;
    let ShopsOf { month, offering, mode } = &of;
    let selection = MonthSelection { mode: *mode, month: *month };
    let names = context.names_of(found.units.iter().map(|sum| &*sum.unit)).await;
    let orders: u64 = found.units.iter().map(|sum| sum.transactions).sum();
    let listing = shares(&of, &found, &names).without(&ONLY_IN_FILES).without(&["Name"]);
    let file = [("mode", mode.name()), ("month", &*month.to_string()), ("offering", offering)];
    let content = html! {
        p.lead {
            (view::untrusted_text(offering)) ", pledged in " (view::month(*month)) " (" (mode.name())
            " mode): " (view::counted(orders, "order")) " of " (view::counted(found.units.len(), "shop"))
        }
        section {
            (table(&listing))
            @if found.more { p { "Only the first " (MAX_ROWS) " shops are shown. The CSV file has all." } }
            p.soft { "Pledged quantities, without credits. What was done for this offering and month is for the buyers of these orders." }
            (view::coverage(&found.coverage))
            (view::left_out(&found.left_out))
            ul.links {
                li { a href=(link::with("/fulfilment/shops.csv", &file)) { "Download CSV" } }
                li { a href=(selection.address("/fulfilment")) { "Fulfilment" } }
            }
        }
    };
    Ok(Page::new(PAGE.0, content))
}

async fn found<S, C: Clock, E>(
    context: &PageContext<'_, S, C, E>,
    query: &Form,
    most: usize,
) -> Result<(ShopsOf, UnitQuantities)> {
    let MonthSelection { mode, month } = MonthSelection::read(context, query, PAGE)?;
    let offering = query.text("offering").to_owned();
    if !is_offering(&offering) {
        return Err(Refusal::invalid("open this page from an offering of the page Fulfilment"));
    }
    let found = quantities::by_unit(context.ledger, (mode, month), &offering, most).await?;
    Ok((ShopsOf { month, offering, mode }, found))
}

/// Returns the CSV export of the page. Ledger cost: as for the page.
pub(crate) async fn shops_csv<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    query: &Form,
) -> Result {
    let (of, found) = found(context, query, MAX_LINES).await?;
    if found.more {
        return Err(Refusal::invalid(format!("more than {MAX_LINES} shops pledged this offering")));
    }
    let names = context.names_of(found.units.iter().map(|sum| &*sum.unit)).await;
    let name = ["shops", &*of.offering, of.mode.name(), &of.month.to_string()];
    Ok(Page::csv(&name, &shares(&of, &found, &names)))
}
