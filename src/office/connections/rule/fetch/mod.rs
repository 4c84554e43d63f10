//! Fetches orders from the APIs of shop systems: those that a webhook did not bring, and what webhooks leave out.
//!
//! A fetched order is read like one that was sent. It is listed only if it changes something, because most orders were
//! sent before.

mod bigcommerce;
mod json;
mod run;
mod shop;
mod shopify;
mod since;
mod step;
mod stripe;
mod whole;
mod woocommerce;

pub use bigcommerce::is_store_hash;
pub use run::FetchedOrders;
pub use shop::{MAX_ANSWER_BYTES, ShopAnswer, ShopApi, ShopProblem, ShopRequest, public_host};
pub use since::{MOST_DAYS, fetch_since};

use crate::pledges::orders::System;
use shop::Shop;
use step::{Listed, Step};

impl Shop<'_> {
    /// Reads a page of what was changed, oldest change first.
    async fn list(
        &self,
        api: &impl ShopApi,
        step: &Step,
        now_ms: u64,
    ) -> Result<Listed, ShopProblem> {
        let request = match self.system {
            System::WooCommerce => woocommerce::list(self, step)?,
            System::Shopify => shopify::list(self, step)?,
            System::BigCommerce => bigcommerce::list(self, step)?,
            System::Stripe => stripe::list(self, step),
            System::Medusa => return Err(ShopProblem::Address),
        };
        let answer = api.send(&request).await?.if_ok()?;
        match self.system {
            System::WooCommerce => woocommerce::read(step, &answer),
            System::Shopify => shopify::read(step, &answer),
            System::BigCommerce => bigcommerce::read(step, &answer),
            System::Stripe => stripe::read(step, &answer, now_ms),
            System::Medusa => Err(ShopProblem::Address),
        }
    }
}
