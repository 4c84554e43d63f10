//! The preview of a change of prices, and the page that confirms that the change was saved.

use super::fields::{back, identity, named};
use super::wanted::{MAX_ROWS, Wanted, as_text};
use crate::office::prices::operation::listing::changes;
use crate::office::prices::rule as prices;
use crate::office::prices::rule::{Change, ChangeCounts, Current, Edit};
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::listing::table;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::response::Page;
use crate::office::shared::page::{operation, view};
use crate::office::shared::rule::delays::APPLIED_SECONDS;
use crate::office::shared::rule::once::Done;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{OperatorStore, PriceListKey};
use crate::pledges::types::CurrencyCode;
use maud::{Markup, html};

const NOT_CONFIRMED: &str = "nothing was saved: tick the box to confirm";

pub(super) fn ask<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    now: &Current<'_>,
    wanted: &Wanted,
    change: &Change,
    is_missing: bool,
) -> Page {
    let content = html! {
        @if is_missing { (view::form_problem(NOT_CONFIRMED, Some("risks"))) }
        p.lead { "Preview of the changes in " (named(now.of)) ". Nothing was saved yet." }
        @if matches!(wanted, Wanted::Removal) {
            p { "The price list of the unit will be removed. The prices of " (now.of.mode.name()) " mode will then apply to the unit." }
        }
        section {
            (differences(change, currency(now, wanted)))
            (context.form("/prices", &html! {
                (identity(now.of, now.revision()))
                (wanted_fields(wanted))
                (risks(&change.risks, is_missing))
                div.row {
                    button name="step" value="set" { (action(wanted)) }
                    @if matches!(wanted, Wanted::List(_)) {
                        button.quiet name="step" value="edit" formnovalidate { "Continue editing" }
                    }
                }
            }))
        }
        (back(now.of, "Cancel"))
    };
    Page { status: if is_missing { 422 } else { 200 }, ..Page::new("New prices", content) }
}

fn currency(now: &Current<'_>, wanted: &Wanted) -> CurrencyCode {
    match wanted {
        Wanted::List(list) => list.currency_code,
        Wanted::Removal => now.of_mode.as_ref().map(|list| list.currency_code).unwrap_or_default(),
    }
}

fn action(wanted: &Wanted) -> &'static str {
    match wanted {
        Wanted::List(_) => "Save prices",
        Wanted::Removal => "Remove price list",
    }
}

fn wanted_fields(wanted: &Wanted) -> Markup {
    match wanted {
        Wanted::List(list) => html! {
            (view::hidden("change", "list"))
            (view::hidden("list", &as_text(list)))
        },
        Wanted::Removal => view::hidden("change", "remove"),
    }
}

fn risks(risks: &[String], is_missing: bool) -> Markup {
    html! {
        @if !risks.is_empty() {
            div.notice { @for risk in risks { p { (view::sentence(risk)) } } }
            (view::Field {
                name: "risks",
                label: "Yes, save these prices",
                value: "accepted",
                required: true,
                problem: if is_missing { NOT_CONFIRMED } else { "" },
                ..view::Field::default()
            }.render_box(false))
        }
    }
}

fn differences(change: &Change, currency: CurrencyCode) -> Markup {
    let shown = change.prices.get(..MAX_ROWS).unwrap_or(&change.prices);
    let more = change.prices.len() - shown.len();
    html! {
        @match change.currency {
            Some((from, to)) => { p { "Currency: " (from.code()) " → " strong { (to.code()) } } }
            None => { p.soft { "In " (currency.code()) "." } }
        }
        (counts(change))
        (table(&changes(shown)))
        @if more > 0 { p { small { "And " (more) " more." } } }
    }
}

fn counts(change: &Change) -> Markup {
    let ChangeCounts { changed, added, removed } = change.counts();
    html! {
        @if !change.prices.is_empty() {
            p { "Prices changed: " (changed) ", added: " (added) ", removed: " (removed) "." }
        }
    }
}

/// Saves or removes the price list, and shows a page that confirms this. After saving, the page also lists the changes,
/// if `change` is given.
pub(super) async fn save<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    of: PriceListKey<'_>,
    wanted: &Wanted,
    seen: &str,
    change: Option<&Change>,
) -> Result {
    let (store, ledger, author) = (context.store, context.ledger, &context.author);
    let Done { outcome: time, before } = match wanted {
        Wanted::List(list) => {
            prices::set(store, ledger, author, of, &Edit::All(list.clone()), Some(seen)).await?
        }
        Wanted::Removal => {
            let unit = of.unit.unwrap_or_default();
            prices::remove(store, ledger, author, (of.mode, unit), Some(seen)).await?
        }
    };
    let content = html! {
        (operation::before(before.as_ref()))
        (view::done(&html! {
            @match wanted {
                Wanted::List(_) => { "The prices of " (named(of)) " were saved on " }
                Wanted::Removal => { "The price list of " (named(of)) " was removed on " }
            }
            (view::time(&time)) ". This takes effect within about " (APPLIED_SECONDS) " s."
        }))
        @if let (Some(change), Wanted::List(list)) = (change, wanted) {
            section { (differences(change, list.currency_code)) }
        }
        (back(of, "All prices"))
        (view::staleness_note())
    };
    Ok(Page::new("New prices", content))
}
