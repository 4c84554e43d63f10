//! Shopify: the list of orders of the REST Admin API. Its items are what webhooks send.
//!
//! Source: <https://shopify.dev/docs/api/admin-rest/latest/resources/order>. Apps of a single shop may use this API. It
//! shows the orders of the last 60 days.

use super::json::{changed_ms, items, query};
use super::shop::{Shop, ShopAnswer, ShopApi, ShopProblem, ShopRequest, public_host};
use super::step::{Listed, Page, Step};
use crate::pledges::time::date_time_in_seconds;
use serde::Deserialize;
use serde_json::value::RawValue;
use time::format_description::well_known::Rfc3339;

const VERSION: &str = "2026-10";

pub(super) fn list(shop: &Shop<'_>, step: &Step) -> Result<ShopRequest, ShopProblem> {
    let (host, _) = public_host(shop.store).ok_or(ShopProblem::Address)?;
    let limit = step.most.to_string();
    let query = match &step.page {
        Page::Name(name) => query(&[("limit", &*limit), ("page_info", name)]),
        Page::Number(_) => query(&[
            ("status", "any"),
            ("order", "updated_at asc"),
            ("updated_at_min", &date_time_in_seconds(step.since_ms / 1_000)),
            ("limit", &limit),
        ]),
    };
    let url = ["https://", host, "/admin/api/", VERSION, "/orders.json?", &query].concat();
    Ok(ShopRequest::get(url, "x-shopify-access-token", shop.token.to_owned()))
}

#[derive(Deserialize)]
struct Granted {
    access_token: String,
}

/// Returns the access token of an app. Apps of the Dev Dashboard have a client ID and a client secret instead, `ID:secret`, for
/// which Shopify grants an access token of 24 hours.
///
/// Source: <https://shopify.dev/docs/apps/build/authentication-authorization/access-tokens/client-credentials-grant>.
pub(super) async fn access_token(
    api: &impl ShopApi,
    shop: &Shop<'_>,
) -> Result<String, ShopProblem> {
    let Some((id, secret)) = shop.token.split_once(':') else { return Ok(shop.token.to_owned()) };
    let (host, _) = public_host(shop.store).ok_or(ShopProblem::Address)?;
    let form = query(&[
        ("grant_type", "client_credentials"),
        ("client_id", id),
        ("client_secret", secret),
    ]);
    let url = ["https://", host, "/admin/oauth/access_token"].concat();
    let answer = api.send(&ShopRequest { url, token: None, form: Some(form) }).await?;
    if answer.status == 400 {
        return Err(ShopProblem::Status(401)); // the ID or the secret is wrong, or the app is not installed
    }
    let granted = serde_json::from_slice(&answer.if_ok()?.body);
    granted.map(|Granted { access_token }| access_token).map_err(|_| ShopProblem::Unreadable)
}

#[derive(Deserialize)]
struct Orders<'a> {
    #[serde(borrow)]
    orders: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Order {
    updated_at: String,
}

pub(super) fn read(step: &Step, answer: &ShopAnswer) -> Result<Listed, ShopProblem> {
    let listed: Orders<'_> =
        serde_json::from_slice(&answer.body).map_err(|_| ShopProblem::Unreadable)?;
    let changed = |order: Order| changed_ms(&order.updated_at, &Rfc3339);
    Ok(step.listed(items(listed.orders, changed), next_page(answer)))
}

/// Reads the name of the next page from the header `Link`: `<https://…?page_info=abc&limit=50>; rel="next"`. Only the
/// name is used: the URL is not followed.
fn next_page(answer: &ShopAnswer) -> Option<Page> {
    let links = answer.link.as_deref()?.split(',');
    let next = links.into_iter().find(|link| link.contains("rel=\"next\""))?;
    let (_, query) = next.split_once('<')?.1.split_once('>')?.0.split_once('?')?;
    let mut members = form_urlencoded::parse(query.as_bytes());
    members.find(|(name, _)| name == "page_info").map(|(_, page)| Page::Name(page.into_owned()))
}
