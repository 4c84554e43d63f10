//! The shop systems whose orders can be read.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// A shop system, or a payment service whose checkout is the shop.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum System {
    /// Stripe Checkout and Payment Links.
    Stripe,
    Shopify,
    WooCommerce,
    BigCommerce,
    /// Medusa 2.
    Medusa,
}

impl System {
    /// Returns the name in addresses and records, such as `woocommerce`.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the system with this [`name`](Self::name).
    pub fn from_name(name: &str) -> Option<Self> {
        name.parse().ok()
    }

    /// Returns the name for people, such as `WooCommerce`.
    pub fn label(self) -> &'static str {
        match self {
            System::Stripe => "Stripe",
            System::Shopify => "Shopify",
            System::WooCommerce => "WooCommerce",
            System::BigCommerce => "BigCommerce",
            System::Medusa => "Medusa",
        }
    }
}
