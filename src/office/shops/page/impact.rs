//! What a unit pledged in the current year, with texts to publish, and what its buyers were told.

use super::part::part;
use super::total;
use crate::office::fulfilment::rule as fulfilments;
use crate::office::fulfilment::rule::Year;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::response::Page;
use crate::office::shared::page::{link, view};
use crate::office::shared::rule::error::OperatorError;
use crate::office::updates::operation::stage_in_words;
use crate::office::updates::rows::updates::UpdateRow;
use crate::pledges::decimal::Decimal;
use crate::pledges::scope::Mode;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::settlement::Month;
use crate::pledges::store::OperatorStore;
use maud::{Markup, html};

/// Maximum number of offerings that a page shows, and that a sentence names.
const MAX_ROWS: usize = 500;
const MAX_NAMED: usize = 5;
/// Above this number of orders in a year, the start page does not sum their quantities.
const MAX_SUMMED: u64 = 20_000;
/// Maximum number of updates that the page lists.
const MAX_TOLD: usize = 50;
/// Maximum number of characters of an update's sentence.
const MAX_SENTENCE: usize = 300;

/// Shows what a unit pledged in the current year. Ledger cost: 6 or 7 queries. KV cost: 3 reads.
pub(crate) async fn impact<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    unit: &str,
) -> Result {
    let year = of_year(context, unit).await?;
    let told = fulfilments::told(context.ledger, &year, MAX_TOLD).await?;
    let total = part("The public total", total::section(context, unit).await);
    let (offerings, since) = (year.pledged.len(), first_month(&year));
    let content = html! {
        p.lead { "What live orders of " a href=(link::path(&["units", unit])) { (unit) } " have pledged this year (UTC), less credits." }
        section {
            h2 { "This year" }
            (quantities(&year))
            @if offerings > MAX_ROWS { p { "Only the first " (MAX_ROWS) " of " (offerings) " offerings are shown." } }
            @if let Some(since) = since {
                p { "To publish this, copy the sentence, and replace the IDs of the offerings by your own words:" }
                p { (view::copyable(&sentence(&year, since))) }
                ul.links { li { a href=(transactions(unit, since)) { "Transactions of this year, also as CSV" } } }
            }
        }
        (total)
        section { h2 { "What buyers were told" } (updates(&told)) }
    };
    Ok(Page::new(format!("Impact of {unit}"), content))
}

/// Renders the quantities of the year in a line, with a link to the page. For a unit with many orders, has their number
/// instead. Ledger cost: 5 or 6 queries. KV cost: 1 read.
pub(super) async fn line<S: OperatorStore, C: Clock, E>(
    context: &PageContext<'_, S, C, E>,
    unit: &str,
) -> Result<Markup, OperatorError> {
    let now_ms = context.clock.now_ms();
    let pledged = match fulfilments::orders_of_year(context.ledger, unit, now_ms).await? {
        0 => "nothing pledged yet".to_owned(),
        1..=MAX_SUMMED => match list(&of_year(context, unit).await?.pledged) {
            pledged if pledged.is_empty() => "everything was credited".to_owned(),
            pledged => pledged,
        },
        orders => view::counted(orders, "order"),
    };
    Ok(
        html! { a href=(link::path(&["units", unit, "impact"])) { (view::beginning(&pledged, MAX_SENTENCE)) } },
    )
}

async fn of_year<S: OperatorStore, C: Clock, E>(
    context: &PageContext<'_, S, C, E>,
    unit: &str,
) -> Result<Year, OperatorError> {
    fulfilments::of_year(context.store, context.ledger, unit, context.clock.now_ms()).await
}

fn first_month(year: &Year) -> Option<Month> {
    year.months.last().copied().filter(|_| !year.pledged.is_empty())
}

fn quantities(year: &Year) -> Markup {
    let row = |(offering, quantity): &(String, Decimal)| {
        vec![
            view::untrusted_text(offering),
            html! { strong { (view::grouped(quantity.to_exact())) } },
        ]
    };
    let rows: Vec<_> = year.pledged.iter().take(MAX_ROWS).map(row).collect();
    view::table_of(&["Offering", "Pledged"], &["Pledged"], &rows, "Nothing was pledged yet.")
}

/// Returns words such as `412 tree, 3 reef and 2 more`.
fn list(pledged: &[(String, Decimal)]) -> String {
    let each = pledged.iter().take(MAX_NAMED);
    let mut words: Vec<_> = each
        .map(|(offering, quantity)| format!("{} {offering}", view::grouped(quantity.to_exact())))
        .collect();
    let more = pledged.len().saturating_sub(MAX_NAMED);
    words.extend((more > 0).then(|| format!("{more} more")));
    let last = words.pop().unwrap_or_default();
    match words.is_empty() {
        true => last,
        false => [&*words.join(", "), " and ", &last].concat(),
    }
}

fn sentence(year: &Year, since: Month) -> String {
    let pledged = view::beginning(&list(&year.pledged), MAX_SENTENCE);
    format!("Since {}, our orders have pledged {pledged}.", view::month(since))
}

/// Returns the URL of the live transactions since a month began. The list has them as a CSV file, also for other days.
fn transactions(unit: &str, since: Month) -> String {
    let from = format!("{since}-01");
    link::with("/orders", &[("unit", unit), ("mode", Mode::Live.name()), ("from", &from)])
}

fn updates(told: &[UpdateRow]) -> Markup {
    let row = |UpdateRow { pledges, update, .. }: &UpdateRow| {
        let sentence = update.texts.best("en").map_or("", |(_, text)| text);
        vec![
            view::day(&[&update.date, "T00:00:00Z"].concat()),
            view::untrusted_text(&pledges.offering),
            html! { (view::month(pledges.month)) },
            html! { (stage_in_words(update.stage.name())) },
            html! { div.wide { (view::beginning(sentence, MAX_SENTENCE)) } },
        ]
    };
    let rows: Vec<_> = told.iter().map(row).collect();
    let headings = ["Date", "Offering", "Pledged in", "Stage", "Sentence"];
    html! {
        (view::table(&headings, &rows, "Nothing yet about what was pledged this year."))
        @if told.len() >= MAX_TOLD { p.soft { "Only the newest " (MAX_TOLD) " are shown." } }
    }
}
