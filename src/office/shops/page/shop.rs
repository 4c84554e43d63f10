//! The start page for a person who belongs to a shop. It lists the newest transactions of the person's
//! units.
//!
//! For a person of a single unit, the page also shows what the unit owes, and a line for each of its pages. Until the unit's first live
//! transaction, the page lists the steps that remain. Each part of the page is read separately. If a part
//! cannot be read, it says so, and the other parts are still shown.

use super::lines;
use super::part::part;
use crate::office::connections::page::troubles;
use crate::office::keys::rule as keys;
use crate::office::orders::page::{orders, own};
use crate::office::orders::rows::orders::Direction;
use crate::office::orders::rule as transactions;
use crate::office::orders::rule::{ListQuery, TransactionFilter};
use crate::office::payments::rule::due_months;
use crate::office::payments::rule::due_months::DueFilter;
use crate::office::payments::rule::usage::MonthUsage;
use crate::office::people::rows::people::Membership;
use crate::office::prices::rule as prices;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::guard::single;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::response::Page;
use crate::office::shared::page::{link, view};
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::records::MAX_PAGES;
use crate::office::shops::rule::units;
use crate::pledges::auth::KeyLevel;
use crate::pledges::charge::PriceList;
use crate::pledges::scope::Mode;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{OperatorStore, PriceListKey};
use futures_util::future::{join, join4, try_join3};
use maud::{Markup, html};

/// Number of transactions that the page lists: for a unit fewer, so that the page is a screen of a phone.
const NEWEST: usize = 5;
const NEWEST_OF_UNIT: usize = 2;

/// Shows the start page. Its parts are read at the same time.
///
/// Ledger cost: 3 queries; for a person of one unit, at most 26 more. KV cost: at most 12 reads; for a manager, 1 list per
/// 1,000 keys (at most 10). Before the first live transaction, 1 more read, and that list again.
pub(crate) async fn home<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    units: &[String],
) -> Result {
    let of_unit = async {
        match units {
            [unit] => unit_sections(context, unit).await,
            _ => html! {},
        }
    };
    let (of_unit, newest) = join(of_unit, newest(context, units)).await;
    let content = html! {
        (of_unit)
        (part("The newest transactions", newest))
        (places(context, units))
    };
    Ok(Page::new("Home", content))
}

async fn newest<S: OperatorStore, C: Clock, E>(
    context: &PageContext<'_, S, C, E>,
    units: &[String],
) -> Result<Markup, OperatorError> {
    let query = ListQuery { within: Some(units.to_vec()), ..ListQuery::default() };
    let ledger = context.ledger;
    let most = if units.len() == 1 { NEWEST_OF_UNIT } else { NEWEST };
    let found = transactions::list(ledger, &query, &Direction::Newest, most).await?;
    let table = orders::table(context, &found.page.orders, single(units)).await;
    Ok(html! {
        section {
            h2 { "Newest transactions" }
            (table)
            @if found.page.older.is_some() { p { a href="/orders" { "All transactions" } } }
        }
    })
}

fn places<S, C, E>(context: &PageContext<'_, S, C, E>, units: &[String]) -> Markup {
    let teams = context.access.memberships.0.iter().map(|Membership { place, .. }| place);
    let teams: Vec<_> = teams.filter(|place| matches!(place, KeyLevel::Team(_))).collect();
    html! {
        @if units.len() != 1 { section {
            h2 { "Your units" }
            ul.links {
                @for unit in units.iter().take(view::MAX_ROWS) {
                    li { (own::place_link(&KeyLevel::Unit(unit.clone()))) }
                }
            }
            @if units.is_empty() { p.soft { "None yet." } }
            (view::more(units.len()))
        } }
        @if !teams.is_empty() {
            section { h2 { "Your teams" } ul.links { @for team in teams { li { (own::place_link(team)) } } } }
        }
    }
}

// ---- One unit ------------------------------------------------------------------------------------

async fn unit_sections<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    unit: &str,
) -> Markup {
    let live = TransactionFilter { unit: Some(unit.to_owned()), mode: Some(Mode::Live) };
    let steps = first_steps(context, unit, &live);
    let (unpaid, lines) = (unpaid(context, &live), lines::section(context, unit, &live));
    let (steps, unpaid, troubles, lines) =
        join4(steps, unpaid, troubles(context, Some(unit), |_| true), lines).await;
    let troubles =
        troubles.map(|found| html! { @if let Some(found) = found { section { (found) } } });
    html! {
        (part("Shop systems", troubles))
        (part("The first steps", steps))
        (part("The unpaid months", unpaid))
        (lines)
    }
}

/// Renders the steps that a shop still has to take before its first live transaction. Renders nothing if the
/// shop already has a live transaction.
async fn first_steps<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    unit: &str,
    live: &TransactionFilter,
) -> Result<Markup, OperatorError> {
    let query = ListQuery { filter: live.clone(), ..ListQuery::default() };
    let ledger = context.ledger;
    let found = transactions::list(ledger, &query, &Direction::Newest, 1).await?;
    if !found.page.orders.is_empty() {
        return Ok(html! {});
    }
    let profile = units::get(context.store, unit);
    let prices =
        prices::current(context.store, context.ledger, PriceListKey::of_unit(Mode::Live, unit));
    let has_key = has_live_key(context.store, unit);
    let (profile, prices, has_key) = try_join3(profile, prices, has_key).await?;
    let has_profile = profile.is_some_and(|it| it.profile.is_some());
    let page = link::path(&["units", unit]);
    let preview = |of| link::with(&link::path(&["units", unit, "preview"]), &[("of", of)]);
    Ok(html! {
        section {
            h2 { "Steps to your first live transaction" }
            ol {
                @if has_profile { li { "Name and language of your shop: done." } }
                @else { li { "Give your shop a name and a language on " a href=(page) { "its page" } "." } }
                li {
                    "Look at what your buyers get: " a href=(preview("page")) { "the page" } " and "
                    a href=(preview("mail")) { "the e-mail" } "."
                }
                (price_step(prices.in_effect()))
                @if has_key { li { "A live API key: done. Create a transaction with it." } }
                @else { li { "Create a live API key on " a href=(page) { "the unit's page" } ", and create a transaction with it." } }
            }
        }
    })
}

/// Renders the step about prices, which the shop needs before its first live transaction. Shows either that
/// prices are set, or a note to ask the operator.
fn price_step(prices: Option<&PriceList>) -> Markup {
    let Some(list) = prices.filter(|list| !list.unit_prices.is_empty()) else {
        return html! { li { "There are no prices yet: ask the operator of this service to set them." } };
    };
    let count = view::counted(list.unit_prices.len() as u64, "offering");
    html! { li { "Prices in " (list.currency_code.code()) ": done, for " (count) "." } }
}

/// Returns whether the unit has a live API key. A key of its team does not count.
async fn has_live_key(store: &impl OperatorStore, unit: &str) -> Result<bool, OperatorError> {
    let (keys, _) = keys::list(store, Some(&KeyLevel::Unit(unit.to_owned())), MAX_PAGES).await?;
    Ok(keys.iter().any(|key| key.note.as_ref().is_some_and(|note| note.mode == Mode::Live)))
}

async fn unpaid<S: OperatorStore, C: Clock, E>(
    context: &PageContext<'_, S, C, E>,
    live: &TransactionFilter,
) -> Result<Markup, OperatorError> {
    let filter = DueFilter { scopes: live.clone(), month: None, is_paid: Some(false) };
    let (ledger, now_ms) = (context.ledger, context.clock.now_ms());
    let most = due_months::MONTHS;
    let found = due_months::due_months(context.store, ledger, now_ms, &filter, None, most).await?;
    let owed: Vec<_> = found.months.iter().filter(|usage| usage.owes()).collect();
    Ok(html! {
        @if !owed.is_empty() {
            section {
                h2 { "Not marked as paid" }
                ul.plain.lines { @for usage in owed { li { (month_line(usage)) } } }
            }
        }
    })
}

fn month_line(usage: &MonthUsage) -> Markup {
    html! {
        a href=(link::statement(&usage.of)) { (view::month(usage.of.month)) } ": "
        @for (index, sum) in usage.sums.iter().filter(|sum| sum.is_owed()).enumerate() {
            @if index > 0 { ", " }
            (view::money(&sum.due, &sum.currency_code))
        }
    }
}
