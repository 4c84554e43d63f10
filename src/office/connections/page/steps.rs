//! Says how a shop system is set up, and what it does if the service does not answer.

use crate::office::shared::page::view;
use crate::pledges::orders::System;
use maud::{Markup, html};

/// `url` is that of the connection, and `store` the shop's address.
pub(super) fn steps(system: System, url: &str, store: &str) -> Markup {
    html! {
        @match system {
            System::WooCommerce => {
                p { "With the Impact Pledge plugin, enter the URL and the secret on its screen instead." }
                ol {
                    li { "In WordPress, open WooCommerce → Settings → Advanced → Webhooks → Add webhook." }
                    li { "Status: Active. Topic: Order updated. Delivery URL: the URL above. Secret: the secret of this connection. "
                        "API version: WP REST API Integration v3." }
                    li { "Save. WooCommerce sends a ping, which this service answers." }
                }
                p { "WooCommerce sends each order once, and switches the webhook off at the seventh failure in a row. An order that it "
                    "could not deliver is fetched with an API token, see below. Without one, it is missing until somebody saves it again "
                    "in WordPress." }
            }
            System::Shopify => {
                ol {
                    li { "In Shopify, open Settings → Notifications → Webhooks. The secret is at the bottom of that page. If there is none "
                        "yet, enter it below as the new secret after the next step." }
                    li { "Create a webhook for each of these events, in the format JSON, with the URL above: Order payment, "
                        "Order cancellation, Refund create." }
                }
                p { "Shopify sends an order again that it could not deliver, up to 8 times." }
            }
            System::Stripe => {
                ol {
                    li { "In Stripe, open Developers → Webhooks → Add destination, with the URL above and these events: "
                        code { "checkout.session.completed" } ", " code { "checkout.session.async_payment_succeeded" } ", "
                        code { "charge.refunded" } "." }
                    li { "Copy the signing secret (" code { "whsec_…" } "). Enter it below as the new secret, and accept only the newest "
                        "secret." }
                }
                p { "Rules about items need an API token, see below, because Stripe does not send the items. Stripe sends an order again "
                    "that it could not deliver, for some days." }
            }
            System::BigCommerce => {
                ol {
                    li { "In BigCommerce, create a store-level API account with the scopes Orders: read-only, and Information & settings: "
                        "read-only. Its access token is the API token of this connection, and its client secret is the secret." }
                    li { "BigCommerce has no page for webhooks. Create one by this command, with the access token as TOKEN:" }
                }
                (view::copyable(&create_hook(url, store)))
                p { "BigCommerce sends an order again that it could not deliver, for some days." }
            }
            System::Medusa => {}
        }
    }
}

/// Returns the command that creates a webhook of BigCommerce.
fn create_hook(url: &str, store: &str) -> String {
    let hook =
        serde_json::json!({ "scope": "store/order/*", "destination": url, "is_active": true });
    format!(
        "curl https://api.bigcommerce.com/stores/{store}/v3/hooks -H 'X-Auth-Token: TOKEN' \
         -H 'Content-Type: application/json' -d '{hook}'"
    )
}
