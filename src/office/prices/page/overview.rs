//! The page of a price list.

use super::fields::named;
use super::history::{MAX_HISTORY, history};
use crate::office::prices::operation::listing::prices as prices_of;
use crate::office::prices::operation::{REMOVE, SET};
use crate::office::prices::rule as prices;
use crate::office::prices::rule::{Current, PriceListEntry};
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::fields::{Item, OperationForm};
use crate::office::shared::page::form::Form;
use crate::office::shared::page::item_table::ItemTable;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::response::Page;
use crate::office::shared::page::{link, listing, view};
use crate::office::shared::rule::delays::{APPLIED_SECONDS, SHOWN_SECONDS};
use crate::office::shared::rule::error::OperatorError;
use crate::office::shops::page::register;
use crate::pledges::auth::KeyLevel;
use crate::pledges::charge::{PriceList, UnitPrice};
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{OperatorStore, PriceListKey, StoreError};
use maud::{Markup, html};

/// Maximum number of KV list calls that find earlier price lists for the history.
const MAX_PAGES: usize = 10;

/// Maximum number of prices that are shown, and that can be edited as a table.
const MAX_ROWS: usize = 200;

/// Shows the price list of the unit in the query. Without a unit, shows the price list of the mode, which is
/// live by default.
///
/// KV cost: at most 2 reads, 11 lists, and 5 reads of 5 price lists each. A unit that does not exist costs 2
/// more lists.
pub(crate) async fn prices<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    query: &Form,
) -> Result {
    let of = PriceListKey { mode: query.mode()?, unit: query.given("unit") };
    let now = prices::current(context.store, context.ledger, of).await?;
    if let Some(page) = missing_unit(context, &now).await? {
        return Ok(page);
    }
    let recent = prices::history(context.store, now.of, MAX_HISTORY, MAX_PAGES).await;
    let recent = match recent {
        Err(error @ OperatorError::Store(StoreError::Unavailable | StoreError::Busy)) => {
            return Err(error.into());
        }
        recent => recent.map_err(|error| error.to_string()),
    };
    let content = html! {
        (view::modes_of("/prices", now.of.mode, now.of.unit.map(|unit| ("unit", unit)).as_slice()))
        (staleness(&now, recent.as_deref().unwrap_or_default()))
        section { (current(context, &now, recent.as_deref().unwrap_or_default())) }
        section { (as_json(context, &now)) (removal(context, &now)) }
        section { (history(&recent)) }
        @if now.of.unit.is_none() { section { (units(context, &now).await?) } }
    };
    let title = now.of.unit.map(|unit| format!("Prices of the unit {unit}"));
    Ok(Page::new(title.unwrap_or_else(|| "Prices".to_owned()), content))
}

/// Returns a 404 page if the price list is for a unit that does not exist; otherwise `None`.
async fn missing_unit<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    now: &Current<'_>,
) -> Result<Option<Page>> {
    let Some(unit) = now.of.unit.filter(|_| !now.is_set()) else { return Ok(None) };
    let missing = register::look_up(context, &[KeyLevel::Unit(unit.to_owned())]).await?;
    let content = html! {
        (register::absence(&missing))
        p { a href="/units" { "Create the unit" } " first. Then set its prices." }
    };
    let page = Page { status: 404, ..Page::new("No such unit", content) };
    Ok((!missing.is_empty()).then_some(page))
}

/// Renders a notice if newer prices were set, but Workers KV still returns the previous ones.
fn staleness(now: &Current<'_>, recent: &[PriceListEntry]) -> Markup {
    let seen = now.price_list.as_ref().and_then(|price_list| price_list.prices.as_deref());
    let is_newer = |last: &&PriceListEntry| match last.removed {
        true => seen.is_some_and(|seen| seen < &*last.time),
        false => Some(&*last.time) > seen,
    };
    html! {
        @if let Some(PriceListEntry { time, .. }) = recent.last().filter(is_newer) {
            (view::notice(&html! {
                "Newer prices were set on " (view::time(time)) ", but this page still shows the previous ones. \
                 Workers KV may take " (SHOWN_SECONDS) " s to show the new prices."
            }))
        }
    }
}

// ---- The current prices --------------------------------------------------------------------------

fn current<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    now: &Current<'_>,
    recent: &[PriceListEntry],
) -> Markup {
    let effective = now.in_effect();
    html! {
        h2 { "Current prices" }
        (origin(now, recent))
        @if let Some(problem) = &now.problem { p.problem { (view::sentence(problem)) } }
        @match effective {
            Some(list) if !fits(list) => {
                (read_only(list))
                h2 { "Change prices" }
                p.soft {
                    "This list is too long for the table, or has IDs that a text field cannot contain. Enter the \
                     offerings to change. The others keep their prices."
                }
            }
            None if now.problem.is_none() => { p.soft { "No prices are set: every charge is 0.00 " (code(None)) "." } }
            _ => {}
        }
        (table(context, now))
        p {
            small {
                "To remove an offering, clear its price. Unlisted offerings are charged 0.00. You see all changes before they \
                 are saved. New prices take effect within about " (APPLIED_SECONDS) " s. Past charges never change."
            }
        }
    }
}

pub(super) fn code(price_list: Option<&PriceList>) -> &'static str {
    price_list.map(|price_list| price_list.currency_code).unwrap_or_default().code()
}

/// Renders whether the prices are those of the unit or of the mode, when they were set, and by whom.
fn origin(now: &Current<'_>, recent: &[PriceListEntry]) -> Markup {
    let of_mode = PriceListKey::of_mode(now.of.mode);
    html! {
        @if now.of.unit.is_some() {
            p {
                @if now.is_set() {
                    "The price list of " (named(now.of)) ". It replaces the "
                    a href=(link::prices(of_mode)) { "prices of the mode" } " as a whole."
                } @else {
                    "The unit has no price list of its own: the "
                    a href=(link::prices(of_mode)) { "prices of the mode" }
                    " apply, and are filled in below. To give the unit its own list, change the currency or a price."
                }
            }
        }
        @if let Some(time) = now.price_list.as_ref().and_then(|list| list.prices.as_ref()) {
            p.soft { "Set on " (view::time(time)) (setter(time, recent)) }
        }
    }
}

fn setter(time: &str, recent: &[PriceListEntry]) -> Markup {
    let by = recent.iter().find(|listed| listed.time == time);
    html! {
        @if let Some(by) = by.and_then(|listed| listed.by.as_ref()) { " by " (view::untrusted_text(by)) }
    }
}

/// Renders the first [`MAX_ROWS`] prices of a price list as text. This is for people who may not
/// change prices, for lists that are too long for the table of fields, and for lists with IDs that
/// a text field cannot contain.
pub(super) fn read_only(price_list: &PriceList) -> Markup {
    let more = price_list.unit_prices.len().saturating_sub(MAX_ROWS);
    html! {
        (listing::table(&prices_of(price_list, MAX_ROWS)))
        @if more > 0 { p { small { "And " (more) " more." } } }
    }
}

// ---- The forms -----------------------------------------------------------------------------------

/// Returns the hidden fields that identify a price list.
fn identity(of: PriceListKey<'_>) -> Vec<(&str, &str)> {
    let unit = of.unit.map(|unit| ("unit", unit));
    std::iter::once(("mode", of.mode.name())).chain(unit).collect()
}

/// Returns whether a price list can be edited as a table: it has at most [`MAX_ROWS`] prices, and a text field can contain
/// the ID of each offering.
fn fits(list: &PriceList) -> bool {
    let is_plain =
        |id: &String| !id.is_empty() && id.trim() == id && !id.contains(char::is_control);
    list.unit_prices.len() <= MAX_ROWS && list.unit_prices.keys().all(is_plain)
}

/// Renders the form that changes the currency and single prices.
fn table<S, C: Clock, E: Entropy>(context: &PageContext<'_, S, C, E>, now: &Current<'_>) -> Markup {
    let list = now.in_effect();
    let item = |(offering, price): (&'_ String, &'_ UnitPrice)| {
        (offering.clone(), price.as_str().to_owned())
    };
    let prices = list.filter(|list| fits(list)).into_iter().flat_map(|list| &list.unit_prices);
    let prices: Vec<_> = prices.map(item).collect();
    let item = |(offering, price)| Item { item: offering, label: offering, value: price, hint: "" };
    let items: Vec<_> =
        prices.iter().map(|(offering, price)| item((&**offering, &**price))).collect();
    context.operation_form(OperationForm {
        fixed: &identity(now.of),
        values: &[("currency", code(list))],
        leave_out: &["file", "unit"],
        tables: &[("price", ItemTable { heads: ["Offering", "Unit price"], items: &items })],
        ..OperationForm::new(&SET, "/prices")
    })
}

/// Renders the form that replaces the whole price list with JSON. The field contains the current prices, or nothing if there
/// are more than [`MAX_ROWS`] of them.
fn as_json<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    now: &Current<'_>,
) -> Markup {
    let list = now.in_effect().filter(|list| list.unit_prices.len() <= MAX_ROWS);
    let text = list.map(as_text).unwrap_or_default();
    html! {
        details open[context.is_asked_for(&SET, "file")] {
            summary { "Replace the whole list with JSON" }
            (context.operation_form(OperationForm {
                fixed: &identity(now.of),
                values: &[("file", &text)],
                leave_out: &["currency", "price", "unit"],
                ..OperationForm::new(&SET, "/prices")
            }))
        }
    }
}

/// Writes a price list as JSON, one price per line.
fn as_text(price_list: &PriceList) -> String {
    let price = |(offering, price): (&String, &UnitPrice)| {
        let offering = serde_json::to_string(offering).unwrap_or_default(); // cannot fail
        format!("    {offering}: \"{}\"", price.as_str())
    };
    let prices: Vec<_> = price_list.unit_prices.iter().map(price).collect();
    let code = price_list.currency_code.code();
    let prices = prices.join(",\n");
    format!("{{\n  \"currencyCode\": \"{code}\",\n  \"unitPrices\": {{\n{prices}\n  }}\n}}")
}

/// Renders the form that removes the price list of a unit, or nothing if there is no list to remove.
fn removal<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    now: &Current<'_>,
) -> Markup {
    let fixed = &identity(now.of);
    let form = || OperationForm { fixed, ..OperationForm::new(&REMOVE, "/prices/remove") };
    html! { @if now.of.unit.is_some() && now.is_set() { (context.operation_form(form())) } }
}

/// Renders links to the units that have their own price list. Also renders a form that opens the price list
/// of any unit.
async fn units<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    now: &Current<'_>,
) -> Result<Markup> {
    let mode = now.of.mode;
    let (units, has_more) = prices::units(context.store, mode, view::MAX_ROWS).await?;
    let field =
        view::Field { name: "unit", label: "Unit ID", required: true, ..view::Field::default() };
    Ok(html! {
        h2 { "Price lists of units" }
        @if units.is_empty() { p.soft { "No unit has a price list of its own." } }
        ul {
            @for unit in &units {
                li { a href=(link::prices(PriceListKey::of_unit(mode, unit))) { bdi { (unit) } } }
            }
        }
        @if has_more { p { "Only the first " (view::MAX_ROWS) " by ID are shown." } }
        (view::filter("/prices", &html! {
            (view::hidden("mode", mode.name()))
            (field.render())
            button.quiet { "Open price list" }
        }))
        (view::staleness_note())
    })
}
