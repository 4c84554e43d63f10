//! The table of each system.

mod bigcommerce;
mod medusa;
mod shopify;
mod stripe;
mod woocommerce;

use super::system::System;
use super::table::Table;

impl System {
    /// Returns the table by which bodies of this system are read.
    pub fn table(self) -> &'static Table {
        match self {
            System::Stripe => &stripe::TABLE,
            System::Shopify => &shopify::TABLE,
            System::WooCommerce => &woocommerce::TABLE,
            System::BigCommerce => &bigcommerce::TABLE,
            System::Medusa => &medusa::TABLE,
        }
    }
}
