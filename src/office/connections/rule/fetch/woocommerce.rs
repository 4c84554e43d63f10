//! WooCommerce: the list of orders of the REST API, `wc/v3`. Its items are what webhooks send.
//!
//! Source: `get_collection_params` of WooCommerce's `class-wc-rest-crud-controller.php`. The order by `modified` needs
//! WooCommerce 9 or newer; an older one answers 400.

use super::json::{items, query};
use super::shop::{Shop, ShopAnswer, ShopProblem, ShopRequest, public_host};
use super::step::{Listed, Step};
use crate::pledges::time::{date_time_in_seconds, parse_ms};
use base64ct::{Base64, Encoding as _};
use serde::Deserialize;

pub(super) fn list(shop: &Shop<'_>, step: &Step) -> Result<ShopRequest, ShopProblem> {
    let (host, path) = public_host(shop.store).ok_or(ShopProblem::Address)?;
    let after = date_time_in_seconds((step.since_ms / 1_000).saturating_sub(1)); // the API leaves out the time itself
    let query = query(&[
        ("modified_after", after.trim_end_matches('Z')),
        ("dates_are_gmt", "true"),
        ("orderby", "modified"),
        ("order", "asc"),
        ("per_page", &step.most.to_string()),
        ("page", &step.number().to_string()),
    ]);
    let token = ["Basic ", &*Base64::encode_string(shop.token.as_bytes())].concat();
    let url = ["https://", host, path, "/wp-json/wc/v3/orders?", &query].concat();
    Ok(ShopRequest::get(url, "authorization", token))
}

#[derive(Deserialize)]
struct Order {
    date_modified_gmt: String,
}

pub(super) fn read(step: &Step, answer: &ShopAnswer) -> Result<Listed, ShopProblem> {
    let listed = serde_json::from_slice(&answer.body).map_err(|_| ShopProblem::Unreadable)?;
    let changed = |order: Order| parse_ms(&[&order.date_modified_gmt, "Z"].concat());
    Ok(step.listed(items(listed, changed), step.next_number()))
}
