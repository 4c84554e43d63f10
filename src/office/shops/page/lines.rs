//! The lines of a shop's start page: each says in a few words what a page has, with a link to it.

use super::impact;
use super::part::part;
use crate::office::connections::rule as connections;
use crate::office::keys::rule as keys;
use crate::office::orders::rule::TransactionFilter;
use crate::office::payments::rule::usage;
use crate::office::people::rule as people;
use crate::office::prices::rule as prices;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::{link, view};
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::records::MAX_PAGES;
use crate::office::shops::rule::units;
use crate::pledges::auth::KeyLevel;
use crate::pledges::scope::Mode;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::settlement::Month;
use crate::pledges::store::{OperatorStore, PriceListKey};
use futures_util::future::{join, join3, join4};
use maud::{Markup, html};

/// Maximum number of characters of a shop's name.
const MAX_NAME: usize = 60;

type Line = Result<Markup, OperatorError>;

/// Renders the lines of a unit; those that only managers may open are for managers. Ledger cost: at most 12 queries. KV cost:
/// at most 6 reads, and 1 list per 1,000 keys (at most 10).
pub(super) async fn section<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    unit: &str,
    live: &TransactionFilter,
) -> Markup {
    let manages = context.manages(&KeyLevel::Unit(unit.to_owned()));
    let of_managers = async {
        match manages {
            true => of_managers(context, unit).await,
            false => Vec::new(),
        }
    };
    let of_all =
        join3(this_month(context, live), impact::line(context, unit), profile(context, unit));
    let ((month, year, profile), of_managers) = join(of_all, of_managers).await;
    let lines = [("This month so far", month), ("This year", year), ("Profile", profile)];
    let page = |last| link::path(&["units", unit, last]);
    html! {
        section {
            h2 { "Your shop" }
            ul.plain.lines {
                @for (name, line) in lines.into_iter().chain(of_managers) {
                    li { (part(name, line.map(|line| html! { (name) ": " (line) }))) }
                }
                li { a href=(page("payments")) { "Statements and payments" } }
            }
        }
    }
}

async fn of_managers<S: OperatorStore, C: Clock, E>(
    context: &PageContext<'_, S, C, E>,
    unit: &str,
) -> Vec<(&'static str, Line)> {
    let (keys, people, prices, connections) = join4(
        keys(context, unit),
        people(context, unit),
        prices(context, unit),
        connections(context, unit),
    )
    .await;
    vec![
        ("API keys", keys),
        ("People", people),
        ("Price list", prices),
        ("Shop systems", connections),
    ]
}

async fn this_month<S: OperatorStore, C: Clock, E>(
    context: &PageContext<'_, S, C, E>,
    live: &TransactionFilter,
) -> Line {
    let Some(month) = Month::at(context.clock.now_ms()) else { return Ok(html! {}) };
    let used = usage::of_month(context.store, context.ledger, live, month).await?;
    let sums: Vec<_> = used.months.iter().flat_map(|usage| &usage.sums).collect();
    Ok(html! {
        @if sums.is_empty() { "no live transactions" }
        @for (index, sum) in sums.iter().enumerate() {
            @if index > 0 { ", " }
            strong { (view::money(&sum.due, &sum.currency_code)) }
            " for " (view::counted(sum.transactions, "live transaction"))
        }
    })
}

async fn profile<S: OperatorStore, C, E>(context: &PageContext<'_, S, C, E>, unit: &str) -> Line {
    let profile = units::get(context.store, unit).await?.and_then(|row| row.profile);
    Ok(html! {
        a href={ (link::path(&["units", unit])) "#profile" } {
            @match &profile {
                Some(profile) => (view::beginning(profile.name(), MAX_NAME)),
                None => "no name yet",
            }
        }
        @if let Some(profile) = &profile { ", e-mails " (if profile.mail { "on" } else { "off" }) }
    })
}

async fn keys<S: OperatorStore, C, E>(context: &PageContext<'_, S, C, E>, unit: &str) -> Line {
    let level = KeyLevel::Unit(unit.to_owned());
    let (found, has_more) = keys::list(context.store, Some(&level), MAX_PAGES).await?;
    let live =
        found.iter().filter(|key| key.note.as_ref().is_some_and(|note| note.mode == Mode::Live));
    let words = format!("{} live, {} in all", live.count(), found.len());
    Ok(html! {
        a href={ (link::path(&["units", unit])) "#keys" } { (words) }
        @if has_more { " or more" }
    })
}

async fn people<S, C, E>(context: &PageContext<'_, S, C, E>, unit: &str) -> Line {
    let found = people::list(context.ledger, &KeyLevel::Unit(unit.to_owned()), 1).await?;
    let words = view::counted(found.people.len() as u64, "person").replace("persons", "people");
    Ok(html! {
        a href=(link::path(&["units", unit, "people"])) { (words) }
        @if found.has_more { " or more" }
    })
}

async fn prices<S: OperatorStore, C, E>(context: &PageContext<'_, S, C, E>, unit: &str) -> Line {
    let of = PriceListKey::of_unit(Mode::Live, unit);
    let prices = prices::current(context.store, context.ledger, of).await?;
    let list = prices.in_effect().filter(|list| !list.unit_prices.is_empty());
    Ok(html! {
        a href=(link::path(&["units", unit, "prices"])) {
            @match list {
                Some(list) => { (view::counted(list.unit_prices.len() as u64, "offering")) " in " (list.currency_code.code()) },
                None => "none yet",
            }
        }
    })
}

async fn connections<S, C, E>(context: &PageContext<'_, S, C, E>, unit: &str) -> Line {
    let found = connections::list(context.ledger, Some(unit)).await?;
    let words = match found.len() {
        0 => "none connected".to_owned(),
        count => format!("{count} connected"),
    };
    Ok(html! { a href=(link::path(&["units", unit, "connections"])) { (words) } })
}
