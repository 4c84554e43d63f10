//! The price list that applies to a unit, as the managers of a shop see it.

use super::overview::{code, read_only};
use crate::office::prices::rule as prices;
use crate::office::prices::rule::Current;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::response::Page;
use crate::office::shared::page::{link, view};
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{OperatorStore, PriceListKey};
use maud::{Markup, html};

/// Shows the prices by which new transactions of a unit are charged. KV cost: 1 read.
pub(crate) async fn of_unit<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    unit: &str,
    query: &Form,
) -> Result {
    let mode = query.mode()?;
    let now =
        prices::current(context.store, context.ledger, PriceListKey::of_unit(mode, unit)).await?;
    let content = html! {
        (view::modes_of(&link::path(&["units", unit, "prices"]), mode, &[]))
        section {
            p { (origin(&now)) " Only the operator of this service can change them." }
            @match now.in_effect() {
                Some(list) => (read_only(list)),
                None => p.soft { "No prices are set: every charge is 0.00 " (code(None)) "." },
            }
            p { small { "Other offerings are charged 0.00. New prices never change past charges." } }
        }
    };
    Ok(Page::new(format!("Prices of the unit {unit}"), content))
}

fn origin(now: &Current<'_>) -> Markup {
    html! {
        @if now.is_set() { "Prices that apply to this unit alone." }
        @else { "Prices that apply to all units without a price list of their own." }
        @if let Some(time) = now.in_effect().and_then(|list| list.prices.as_ref()) {
            " They were set on " (view::time(time)) "."
        }
    }
}
