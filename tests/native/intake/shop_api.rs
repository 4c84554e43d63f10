//! The API of a shop system, in memory. Each system lists, sorts and divides as its documentation says.

use impact_pledge::office::connections::rule::{ShopAnswer, ShopProblem, ShopRequest};
use impact_pledge::pledges::time::{date_time_in_seconds, parse_ms};
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

/// Number of events and items that Stripe lists at once, and of products that BigCommerce does.
const STRIPE: usize = 100;
const PRODUCTS: usize = 250;

#[derive(Default)]
pub struct ShopApiStub {
    pub system: String,
    pub token: String,
    /// The orders, each with the time of its last change in seconds since 1970.
    pub orders: RefCell<Vec<(u64, Value)>>,
    /// The status of the answers, if it is not 200.
    pub status: Cell<Option<u16>>,
    /// The requested URLs.
    pub asked: RefCell<Vec<String>>,
}

/// Returns an order as the API of its system dates it.
fn dated(system: &str, seconds: u64, order: &Value) -> Value {
    let mut order = order.clone();
    let text = date_time_in_seconds(seconds);
    match system {
        "woocommerce" => order["date_modified_gmt"] = json!(text.trim_end_matches('Z')),
        // An hour ahead of UTC.
        "shopify" => {
            let local = date_time_in_seconds(seconds + 3_600);
            order["updated_at"] = json!(local.replace('Z', "+01:00"));
        }
        "bigcommerce" => {
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            order["date_modified"] = json!(httpdate::fmt_http_date(time).replace("GMT", "+0000"));
            order["products"] = json!({ "resource": "/orders/1/products" });
        }
        _ => order["created"] = json!(seconds),
    }
    order
}

impl ShopApiStub {
    pub fn send(&self, request: &ShopRequest) -> Result<ShopAnswer, ShopProblem> {
        self.asked.borrow_mut().push(request.url.clone());
        assert!(request.url.starts_with("https://"), "{}", request.url);
        let token = request.token.as_ref().map(|(_, token)| &**token);
        let token = token.or(request.form.as_deref()).unwrap_or_default();
        if let Some(status) = self.status.get().or((!token.contains(&self.token)).then_some(401)) {
            return Ok(ShopAnswer { status, ..ShopAnswer::default() });
        }
        let (path, query) = request.url.split_once('?').unwrap_or((&request.url, ""));
        let query: BTreeMap<String, String> =
            form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        let ok = |body: &Value, link| {
            Ok(ShopAnswer { status: 200, link, body: body.to_string().into_bytes() })
        };
        if request.form.is_some() {
            let granted = format!("granted for {}", self.token);
            return ok(&json!({ "access_token": granted, "expires_in": 86_399 }), None);
        }
        match &*self.system {
            "woocommerce" => ok(&json!(self.page(&query, "modified_after", true)), None),
            "shopify" => {
                let page = self.page(&query, "updated_at_min", false);
                let number =
                    query.get("page_info").map_or(1, |page| page.parse::<u32>().unwrap()) + 1;
                let next = format!("<{path}?page_info={number}&limit=20>; rel=\"next\"");
                ok(&json!({ "orders": page }), (page.len() == 20).then_some(next))
            }
            "bigcommerce" => self.bigcommerce(path, &query, ok),
            _ => self.stripe(path, &query, ok),
        }
    }

    /// Returns a page of orders, oldest change first.
    fn page(&self, query: &BTreeMap<String, String>, since: &str, is_after: bool) -> Vec<Value> {
        let text = |name: &str, or: &str| query.get(name).cloned().unwrap_or(or.to_owned());
        let number = |name: &str| text(name, "1").parse::<usize>().unwrap();
        let since = text(since, "1970-01-01T00:00:00Z");
        let since = parse_ms(&format!("{}Z", since.trim_end_matches('Z'))).unwrap() / 1_000;
        let mut orders = self.orders.borrow().clone();
        orders.sort_by_key(|(seconds, _)| *seconds);
        orders.retain(|(seconds, _)| *seconds > since || (!is_after && *seconds == since));
        let most = text("per_page", &text("limit", "")).parse().unwrap();
        let page = number("page").max(number("page_info")) - 1;
        let page = orders.iter().skip(page * most).take(most);
        page.map(|(seconds, order)| dated(&self.system, *seconds, order)).collect()
    }

    fn bigcommerce<T>(
        &self,
        path: &str,
        query: &BTreeMap<String, String>,
        ok: impl Fn(&Value, Option<String>) -> Result<ShopAnswer, T>,
    ) -> Result<ShopAnswer, T> {
        let rest = path.strip_prefix("https://api.bigcommerce.com/stores/abcde/v2/orders");
        let parts: Vec<_> = rest.unwrap().split('/').skip(1).collect();
        let none = |status| Ok(ShopAnswer { status, ..ShopAnswer::default() });
        let orders = self.orders.borrow();
        let find =
            |id: &str| orders.iter().find(|(_, order)| order["id"].as_u64() == id.parse().ok());
        match parts.as_slice() {
            [] => match self.page(query, "min_date_modified", false) {
                page if page.is_empty() => none(204),
                page => ok(&json!(page), None),
            },
            [id] => match find(id) {
                Some((seconds, order)) => ok(&dated("bigcommerce", *seconds, order), None),
                None => none(404),
            },
            [id, _] => {
                let products = match &find(id).unwrap().1["products"] {
                    Value::Array(products) => products.clone(),
                    other => return ok(other, None), // not what the API documents
                };
                let page = query["page"].parse::<usize>().unwrap() - 1;
                let page: Vec<_> = products.chunks(PRODUCTS).nth(page).unwrap_or_default().into();
                if page.is_empty() { none(204) } else { ok(&json!(page), None) }
            }
            _ => none(404),
        }
    }

    fn stripe<T>(
        &self,
        path: &str,
        query: &BTreeMap<String, String>,
        ok: impl Fn(&Value, Option<String>) -> Result<ShopAnswer, T>,
    ) -> Result<ShopAnswer, T> {
        let orders = self.orders.borrow();
        if let Some(rest) = path.strip_prefix("https://api.stripe.com/v1/checkout/sessions/") {
            let (id, _) = rest.split_once('/').unwrap();
            let found = orders.iter().find(|(_, event)| event["data"]["object"]["id"] == id);
            let items = found.unwrap().1["items"].as_array().cloned().unwrap_or_default();
            let after = query.get("starting_after");
            let from = after.map_or(0, |after| {
                items
                    .iter()
                    .position(|item| item["id"].to_string().trim_matches('"') == after)
                    .unwrap()
                    + 1
            });
            let page: Vec<_> = items.iter().skip(from).take(STRIPE).cloned().collect();
            let has_more = items.len() > from + page.len();
            return ok(&json!({ "data": page, "has_more": has_more }), None);
        }
        assert_eq!(path, "https://api.stripe.com/v1/events");
        let time = |name: &str| query.get(name).map(|text| text.parse::<u64>().unwrap());
        let (from, to) = (time("created[gte]").unwrap(), time("created[lt]").unwrap_or(u64::MAX));
        let mut found: Vec<_> =
            orders.iter().filter(|(seconds, _)| (from..to).contains(seconds)).collect();
        found.sort_by_key(|(seconds, _)| u64::MAX - seconds);
        let event = |(seconds, event): &&(u64, Value)| {
            let mut event = dated("stripe", *seconds, event);
            event.as_object_mut().unwrap().remove("items");
            event
        };
        let page: Vec<_> = found.iter().take(STRIPE).map(event).collect();
        ok(&json!({ "data": page, "has_more": found.len() > page.len() }), None)
    }
}
