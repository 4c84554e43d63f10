//! Says how a shop system is set up, and what it does if the service does not answer.

use crate::pledges::orders::System;
use maud::{Markup, html};

pub(super) fn steps(system: System) -> Markup {
    html! {
        @match system {
            System::WooCommerce => {
                ol {
                    li { "In WordPress, open WooCommerce → Settings → Advanced → Webhooks → Add webhook." }
                    li { "Status: Active. Topic: Order updated. Delivery URL: the URL above. Secret: the secret of this connection. "
                        "API version: WP REST API Integration v3." }
                    li { "Save. WooCommerce sends a ping, which this service answers." }
                }
                p { "WooCommerce sends each order once, and switches the webhook off after more than five failures in a row. An order that it "
                    "could not deliver is fetched with a token, see below. Without one it is lost, unless somebody saves that order again "
                    "in WordPress: then it is sent again." }
            }
            System::Shopify => {
                ol {
                    li { "In Shopify, open Settings → Notifications → Webhooks. The secret is at the bottom of that page." }
                    li { "Create a webhook for each of these events, in the format JSON, with the URL above: Order payment, "
                        "Order cancellation, Refund create." }
                }
                p { "Shopify repeats a failed delivery eight times." }
            }
            System::Stripe => {
                ol {
                    li { "In Stripe, open Developers → Webhooks → Add destination, with the URL above and these events: "
                        code { "checkout.session.completed" } ", " code { "checkout.session.async_payment_succeeded" } ", "
                        code { "charge.refunded" } "." }
                    li { "Copy the signing secret (" code { "whsec_…" } "). Enter it below as the new secret, and accept only the newest "
                        "secret." }
                }
                p { "Rules about items need a token below, because Stripe does not send the items. Stripe repeats a failed "
                    "delivery for some days." }
            }
            System::BigCommerce => {
                ol {
                    li { "In BigCommerce, create an API account with the scopes Orders (read-only) and Information (read-only). Its "
                        "access token is the token of this connection, and its client secret is the secret." }
                    li { "Create a webhook with the scope " code { "store/order/*" } " and the URL above. BigCommerce has no page "
                        "for this; docs/shop-systems.md has the command." }
                }
                p { "BigCommerce repeats a failed delivery for two days." }
            }
            System::Medusa => {}
        }
    }
}
