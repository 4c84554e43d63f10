//! The public total on the start page of a shop: what its website can show, and how.

use crate::buyer::total::{LEAST, OfferingTotal, PublicTotal};
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::{link, view};
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::records::load;
use crate::office::shops::rule::units;
use crate::pledges::api::IMPACT_PATH;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{OperatorStore, TotalKey};
use futures_util::future::try_join;
use maud::{Markup, html};

/// Renders the public total of a unit, or how to publish it. KV cost: 2 reads.
pub(super) async fn section<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    unit: &str,
) -> Result<Markup, OperatorError> {
    let total = load::<_, PublicTotal>(context.store, TotalKey(unit));
    let (row, total) = try_join(units::get(context.store, unit), total).await?;
    let profile = row.and_then(|row| row.profile);
    let is_on = profile.is_some_and(|profile| profile.public_total);
    let own_page = link::path(&["units", unit]);
    Ok(html! {
        section {
            h2 { "Public total" }
            @match total {
                _ if !is_on => p {
                    "Your website can show how much your orders have pledged in all. To publish this, switch on the public \
                     total on " a href=(own_page) { "your unit's page" } "."
                },
                None => p {
                    "There is nothing to show yet. A total is written once a day, and needs " (LEAST)
                    " orders and a quantity of " (LEAST) " for an offering."
                },
                Some(total) => (published(&context.settings.service_origin, unit, &total)),
            }
        }
    })
}

fn published(origin: &str, unit: &str, total: &PublicTotal) -> Markup {
    let until = [&*total.until, "T00:00:00Z"].concat();
    html! {
        p {
            "From the start of " (view::month(total.since)) " to " (view::day(&until)) ", your orders have pledged at least:"
        }
        ul.plain {
            @for OfferingTotal { offering_id, quantity } in &total.totals {
                li { strong { (view::grouped(quantity)) } " of " (view::untrusted_text(offering_id)) }
            }
        }
        @if let Some(first) = total.totals.first() {
            p { "Everyone can read this. For a badge on your website, copy this HTML, and write your own words in " code { "other" } ":" }
            (view::copyable_lines(&badge(origin, unit, &first.offering_id)))
        }
    }
}

fn badge(origin: &str, unit: &str, offering: &str) -> String {
    let origin = if origin.is_empty() { "https://YOUR-API" } else { origin };
    let address = [origin, IMPACT_PATH, "/", &link::encoded(unit)].concat();
    let words = ["{} of ", offering].concat();
    html! { impact-badge src=(address) offering=(offering) other=(words) {} }.into_string()
}
