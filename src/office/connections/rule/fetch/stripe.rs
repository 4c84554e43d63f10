//! Stripe: the list of events, which are what webhooks send; and the items of a Checkout Session, which they lack.
//!
//! Sources: <https://docs.stripe.com/api/events/list>, <https://docs.stripe.com/api/checkout/sessions/line_items>. Events
//! are kept for 30 days.

use super::json::{id_of, items, object, query};
use super::shop::{Shop, ShopAnswer, ShopApi, ShopProblem, ShopRequest};
use super::step::{Listed, Page, Step};
use crate::pledges::orders::table::MAX_LINES;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Maximum number of events, and of items, on a page of the API.
const MOST: usize = 100;
const SECOND_MS: u64 = 1_000;
const TYPES: [&str; 3] =
    ["checkout.session.completed", "checkout.session.async_payment_succeeded", "charge.refunded"];

fn request(shop: &Shop<'_>, rest: &str) -> ShopRequest {
    let token = ["Bearer ", shop.token].concat();
    ShopRequest::get(["https://api.stripe.com/v1/", rest].concat(), "authorization", token)
}

pub(super) fn list(shop: &Shop<'_>, step: &Step) -> ShopRequest {
    let seconds = |ms: u64| (ms / SECOND_MS).to_string();
    let mut members: Vec<_> = TYPES.map(|name| ("types[]", name.to_owned())).into();
    members.push(("created[gte]", seconds(step.since_ms)));
    members.extend(step.until_ms.map(|until_ms| ("created[lt]", seconds(until_ms))));
    members.push(("limit", MOST.to_string()));
    request(shop, &["events?", &query(&members)].concat())
}

#[derive(Deserialize)]
struct List<'a> {
    #[serde(borrow)]
    data: Vec<&'a RawValue>,
    has_more: bool,
}

#[derive(Deserialize)]
struct Event {
    created: u64,
}

/// Reads a page of events, which begins with the newest. If there are more, it asks again for the older half of the time, and for
/// longer times after that.
pub(super) fn read(step: &Step, answer: &ShopAnswer, now_ms: u64) -> Result<Listed, ShopProblem> {
    let list: List<'_> =
        serde_json::from_slice(&answer.body).map_err(|_| ShopProblem::Unreadable)?;
    if list.has_more {
        let until_ms = step.until_ms.unwrap_or(now_ms);
        let half = until_ms.saturating_sub(step.since_ms) / 2 / SECOND_MS * SECOND_MS;
        if half == 0 {
            return Err(ShopProblem::Crowded);
        }
        let until_ms = Some(step.since_ms.saturating_add(half));
        return Ok(Listed { items: Vec::new(), next: Some(Step { until_ms, ..step.clone() }) });
    }
    let mut items = items(list.data, |event: Event| event.created.checked_mul(SECOND_MS));
    items.reverse();
    let next = step.until_ms.map(|until_ms| {
        let wider = until_ms.saturating_sub(step.since_ms).saturating_mul(2);
        let next_ms = Some(until_ms.saturating_add(wider)).filter(|next| *next < now_ms);
        Step { since_ms: until_ms, until_ms: next_ms, page: Page::FIRST, ..step.clone() }
    });
    Ok(Listed { items, next })
}

/// Adds the items to a Checkout Session. `event` is the event about it. Returns `None` for other events.
pub(super) async fn with_items(
    api: &impl ShopApi,
    shop: &Shop<'_>,
    event: &[u8],
) -> Result<Option<Vec<u8>>, ShopProblem> {
    #[derive(Deserialize)]
    struct Whole<'a> {
        #[serde(borrow)]
        data: Data<'a>,
    }
    #[derive(Deserialize)]
    struct Data<'a> {
        #[serde(borrow)]
        object: &'a RawValue,
    }
    let Ok(whole) = serde_json::from_slice::<Whole<'_>>(event) else { return Ok(None) };
    let mut session = object(whole.data.object.get().as_bytes())?;
    let id = id_of(&session)?;
    if !id.starts_with("cs_") || session.contains_key("line_items") {
        return Ok(None);
    }
    let lines = lines(api, shop, &id).await?;
    let lines = serde_json::value::to_raw_value(&serde_json::json!({ "data": lines }));
    session.insert("line_items".to_owned(), lines.map_err(|_| ShopProblem::Unreadable)?);
    serde_json::to_vec(&session).map(Some).map_err(|_| ShopProblem::Unreadable)
}

async fn lines(
    api: &impl ShopApi,
    shop: &Shop<'_>,
    session: &str,
) -> Result<Vec<Box<RawValue>>, ShopProblem> {
    let mut lines: Vec<Box<RawValue>> = Vec::new();
    for _ in 0..=MAX_LINES / MOST {
        let mut members =
            vec![("limit", MOST.to_string()), ("expand[]", "data.price.product".to_owned())];
        if let Some(last) = lines.last() {
            let id = id_of(&object(last.get().as_bytes())?)?;
            members.push(("starting_after", id));
        }
        let rest = ["checkout/sessions/", session, "/line_items?", &query(&members)].concat();
        let answer = api.send(&request(shop, &rest)).await?.if_ok()?;
        let list: List<'_> =
            serde_json::from_slice(&answer.body).map_err(|_| ShopProblem::Unreadable)?;
        lines.extend(list.data.into_iter().map(ToOwned::to_owned));
        if !list.has_more {
            break;
        }
    }
    Ok(lines)
}
