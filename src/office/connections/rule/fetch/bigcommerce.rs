//! BigCommerce: orders of the V2 API, each with the list of its products.
//!
//! Source: <https://developer.bigcommerce.com/docs/rest-management/orders>. The answer has the status 204 if there are no
//! orders.

use super::json::{changed_ms, id_of, items, object, query};
use super::shop::{Shop, ShopAnswer, ShopApi, ShopProblem, ShopRequest};
use super::step::{Listed, Step};
use crate::pledges::orders::table::MAX_LINES;
use crate::pledges::time::date_time_in_seconds;
use serde::Deserialize;
use serde_json::value::RawValue;
use time::format_description::well_known::Rfc2822;

/// Maximum number of products on a page of the API.
const PRODUCTS: usize = 250;

/// Returns whether a text is the hash of a store, which is a part of the path of its API.
pub fn is_store_hash(store: &str) -> bool {
    (1..=40).contains(&store.len()) && store.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn request(shop: &Shop<'_>, rest: &str) -> Result<ShopRequest, ShopProblem> {
    if !is_store_hash(shop.store) {
        return Err(ShopProblem::Address);
    }
    let url = ["https://api.bigcommerce.com/stores/", shop.store, "/v2/orders", rest].concat();
    Ok(ShopRequest::get(url, "x-auth-token", shop.token.to_owned()))
}

pub(super) fn list(shop: &Shop<'_>, step: &Step) -> Result<ShopRequest, ShopProblem> {
    let query = query(&[
        ("min_date_modified", &*date_time_in_seconds(step.since_ms / 1_000)),
        ("sort", "date_modified:asc"),
        ("limit", &step.most.to_string()),
        ("page", &step.number().to_string()),
    ]);
    request(shop, &["?", &query].concat())
}

#[derive(Deserialize)]
struct Order {
    date_modified: String,
}

pub(super) fn read(step: &Step, answer: &ShopAnswer) -> Result<Listed, ShopProblem> {
    let listed = match answer.status {
        204 => Vec::new(),
        _ => serde_json::from_slice(&answer.body).map_err(|_| ShopProblem::Unreadable)?,
    };
    let changed = |order: Order| changed_ms(&order.date_modified, &Rfc2822);
    Ok(step.listed(items(listed, changed), step.next_number()))
}

/// Returns an event about an order, as a webhook would send it. It can be read again, when the products can be fetched.
pub(super) fn event_about(order: &[u8]) -> Vec<u8> {
    let id = object(order).ok().and_then(|order| id_of(&order).ok()).unwrap_or_default();
    let event = serde_json::json!({ "scope": "store/order/updated", "data": { "type": "order", "id": id } });
    event.to_string().into_bytes()
}

/// Fetches an order by its ID, with its products.
pub(super) async fn order(
    api: &impl ShopApi,
    shop: &Shop<'_>,
    id: &str,
) -> Result<Vec<u8>, ShopProblem> {
    let is_id = (1..=20).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_digit());
    if !is_id {
        return Err(ShopProblem::Status(404));
    }
    let answer = api.send(&request(shop, &["/", id].concat())?).await?.if_ok()?;
    with_products(api, shop, &answer.body).await
}

/// Adds the list of its products to an order. The API returns a link to them instead.
pub(super) async fn with_products(
    api: &impl ShopApi,
    shop: &Shop<'_>,
    order: &[u8],
) -> Result<Vec<u8>, ShopProblem> {
    let mut members = object(order)?;
    let id = id_of(&members)?;
    let mut products: Vec<Box<RawValue>> = Vec::new();
    for page in 1..=MAX_LINES / PRODUCTS + 1 {
        let query = query(&[("limit", &*PRODUCTS.to_string()), ("page", &page.to_string())]);
        let answer = api.send(&request(shop, &["/", &id, "/products?", &query].concat())?).await?;
        let answer = answer.if_ok()?;
        let more: Vec<Box<RawValue>> = match answer.status {
            204 => Vec::new(),
            _ => serde_json::from_slice(&answer.body).map_err(|_| ShopProblem::Unreadable)?,
        };
        let is_last = more.len() < PRODUCTS;
        products.extend(more);
        if is_last {
            break;
        }
    }
    let products = serde_json::value::to_raw_value(&products);
    members.insert("products".to_owned(), products.map_err(|_| ShopProblem::Unreadable)?);
    serde_json::to_vec(&members).map_err(|_| ShopProblem::Unreadable)
}
