//! The page of a price list.

use super::fields::{identity, named};
use super::history::{MAX_HISTORY, history};
use super::table;
use super::table::{Draft, JSON, fits};
use super::wanted::{MAX_ROWS, as_text};
use crate::office::prices::operation::listing::prices as prices_of;
use crate::office::prices::rule as prices;
use crate::office::prices::rule::{Current, PriceListEntry};
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::response::Page;
use crate::office::shared::page::{link, listing, view};
use crate::office::shared::rule::delays::{APPLIED_SECONDS, SHOWN_SECONDS};
use crate::office::shared::rule::error::OperatorError;
use crate::pledges::charge::PriceList;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{OperatorStore, PriceListKey, StoreError};
use maud::{Markup, html};

/// Maximum number of KV list calls that find earlier price lists for the history.
const MAX_PAGES: usize = 10;

/// Shows the page of a price list. The form contains the prices of `draft`, with the edits of the person. `problem` is
/// shown as an error.
pub(super) async fn show<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    now: &Current<'_>,
    draft: &Draft,
    problem: Option<&str>,
) -> Result {
    let recent = prices::history(context.store, now.of, MAX_HISTORY, MAX_PAGES).await;
    let recent = match recent {
        Err(error @ OperatorError::Store(StoreError::Unavailable | StoreError::Busy)) => {
            return Err(error.into());
        }
        recent => recent.map_err(|error| error.to_string()),
    };
    let content = html! {
        @if let Some(problem) = problem {
            (view::form_problem(problem, draft.wrong_field().as_deref()))
        }
        (view::modes_of("/prices", now.of.mode, now.of.unit.map(|unit| ("unit", unit)).as_slice()))
        (staleness(now, recent.as_deref().unwrap_or_default()))
        section { (current(now, draft, recent.as_deref().unwrap_or_default())) }
        section { (as_json(now, draft, problem.unwrap_or_default())) (removal(now)) }
        section { (history(&recent)) }
        @if now.of.unit.is_none() { section { (units(context, now).await?) } }
    };
    let status = if problem.is_some() { 422 } else { 200 };
    let title = now.of.unit.map(|unit| format!("Prices of the unit {unit}"));
    Ok(Page { status, ..Page::new(title.unwrap_or_else(|| "Prices".to_owned()), content) })
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

fn current(now: &Current<'_>, draft: &Draft, recent: &[PriceListEntry]) -> Markup {
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
        (table::form(now.of, draft))
        p {
            small {
                "To remove an offering, clear its price. Unlisted offerings are charged 0.00. New prices \
                 take effect within about " (APPLIED_SECONDS) " s. Past charges never change."
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
                    " apply, and are filled in below. To give the unit its own list, choose the currency and save these prices."
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

// ---- Other forms ---------------------------------------------------------------------------------

const EMPTY: &str =
    "{\n  \"currencyCode\": \"USD\",\n  \"unitPrices\": {\n    \"tree\": \"0.50\"\n  }\n}";

/// Renders the form that replaces the whole price list with JSON. The form's field contains the JSON that the
/// person entered. Without such JSON, the field contains the current prices, or nothing if there are more
/// than [`MAX_ROWS`] of them. `problem` is shown only if the person entered JSON.
fn as_json(now: &Current<'_>, draft: &Draft, problem: &str) -> Markup {
    let list = now.in_effect().filter(|list| list.unit_prices.len() <= MAX_ROWS);
    let text = draft.json.clone().or_else(|| list.map(as_text)).unwrap_or_default();
    let field = view::Field {
        name: JSON,
        label: "All prices as JSON",
        value: &text,
        hint: "Offerings that you leave out lose their price. Put prices in quotes.",
        required: true,
        problem: if draft.json.is_some() { problem } else { "" },
        ..view::Field::default()
    };
    html! {
        details open[draft.json.is_some()] {
            summary { "Replace the whole list with JSON" }
            (view::form("/prices", &html! {
                (identity(now.of, &draft.seen))
                (view::hidden("change", "list"))
                (field.render_code(12, EMPTY))
                button { "Preview changes …" }
            }))
        }
    }
}

/// Renders the form that removes the price list of a unit, or nothing if there is no list to remove.
fn removal(now: &Current<'_>) -> Markup {
    html! {
        @if now.of.unit.is_some() && now.is_set() {
            (view::form("/prices", &html! {
                (identity(now.of, now.revision()))
                (view::hidden("change", "remove"))
                button.quiet { "Remove the unit's price list …" }
            }))
        }
    }
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
