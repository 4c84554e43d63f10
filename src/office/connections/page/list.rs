//! The connections of a unit, and the form that adds one.

use super::examples::SETTINGS;
use super::troubles::troubles;
use crate::office::connections::operation::{ADD, listing};
use crate::office::connections::rule as connections;
use crate::office::connections::rule::Connection;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::fields::OperationForm;
use crate::office::shared::page::link;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::response::Page;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use maud::html;

/// Shows the connections of a unit. Ledger cost: 2 queries. KV cost: 1 read.
pub(crate) async fn of_unit<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    unit: &str,
) -> Result {
    let found = connections::list(context.ledger, Some(unit)).await?;
    let troubles = troubles(context, Some(unit), |_| true).await?;
    let times = context.times_of(Some(unit)).await;
    let action = link::path(&["units", unit, "connections"]);
    let form = OperationForm {
        fixed: &[("unit", unit)],
        values: &[("settings", SETTINGS)],
        ..OperationForm::new(&ADD, &action)
    };
    let listing = listing(&found).without(&["Connection", "Unit"]);
    let content = html! {
        p.lead {
            "A connected shop system sends its orders to this service, and each paid order is pledged once. "
            "Nothing has to be installed in the shop."
        }
        @if let Some(troubles) = &troubles { section { (troubles) } }
        section { (times.table(&listing)) }
        section {
            h2 { "Connect a shop system" }
            p {
                "For WooCommerce, make up a secret. Shopify shows it where webhooks are created. Stripe shows it only once it has "
                "the URL: enter a temporary secret here, and replace it on the page of the connection."
            }
            (context.operation_form(form))
        }
    };
    Ok(Page::new(format!("Shop systems of {unit}"), content))
}

/// Shows the other connections after one was ended.
pub(crate) async fn ended<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    connection: &Connection,
) -> Result {
    of_unit(context, &connection.record.scope.unit).await
}
