//! Examples that forms are filled in with.

use crate::pledges::orders::System;

/// A tree for each order.
pub(super) const SETTINGS: &str = r#"{
  "rules": [
    {
      "offeringId": "tree",
      "basis": { "order": { "amount": "1" } },
      "detail": { "nounSingular": "tree", "nounPlural": "trees" }
    }
  ]
}"#;

/// Returns what a system sends for an order, shortened. For BigCommerce it is what is fetched.
pub(super) fn order(system: System) -> &'static str {
    match system {
        System::Shopify => include_str!("examples/shopify.json"),
        System::Stripe => include_str!("examples/stripe.json"),
        System::BigCommerce => include_str!("examples/bigcommerce.json"),
        System::WooCommerce | System::Medusa => include_str!("examples/woocommerce.json"),
    }
}
