//! Pledges the orders of shop systems: reads what the service received, fetches what it did not, and sends create requests
//! to the service.

use super::DashboardBindings;
use super::d1::D1Ledger;
use crate::buyer::adapters::AddressVariables as _;
use crate::doors::cloudflare::KvStore;
use crate::doors::cloudflare::deadline::within;
use crate::doors::platform::Platform;
use crate::office::connections::rule::{ApiAnswer, CaughtUp, FetchedOrders, Intake, PledgeApi};
use crate::office::shared::rule::error::OperatorError;
use crate::pledges::api::{JSON, PLEDGE_TRANSACTION_PATH, header};
use crate::pledges::auth::ApiKey;
use gloo_net::http::{Method, RequestBuilder};
use js_sys::Uint8Array;
use serde::Serialize;
use wasm_bindgen::prelude::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, Request, Response};
use worker::{console_error, console_log};

/// The name of the binding to the service's Worker.
const SERVICE: &str = "SERVICE";
/// Timeout of a create request, in milliseconds. The service's own timeouts for Workers KV are shorter.
const CREATE_MS: u32 = 30_000;
/// The origin of create requests if `SERVICE_ORIGIN` is not set. A binding ignores the host.
const ORIGIN: &str = "https://service.internal";
/// Maximum number of deliveries that an invocation of the cron reads.
const MAX_CAUGHT_UP: usize = 200;

pub type DashboardIntake<'i> = Intake<'i, KvStore, Platform, Platform, ServiceApi<'i>>;

/// The service, reached through a binding; and the APIs of shop systems.
pub struct ServiceApi<'b>(pub &'b DashboardBindings);

pub fn intake<'i>(
    ledger: &'i D1Ledger,
    store: &'i KvStore,
    api: &'i ServiceApi<'i>,
) -> DashboardIntake<'i> {
    Intake { store, ledger, clock: &Platform, entropy: &Platform, api }
}

impl PledgeApi for ServiceApi<'_> {
    async fn create(&self, key: &str, idempotency_key: &str, body: &str) -> Option<ApiAnswer> {
        match self.try_to_create(key, idempotency_key, body).await {
            Ok(answer) => Some(answer),
            Err(cause) => {
                console_error!(
                    "{}",
                    line(&IntakeLine {
                        orders: "create",
                        cause: Some(&cause),
                        ..IntakeLine::default()
                    })
                );
                None
            }
        }
    }
}

impl ServiceApi<'_> {
    async fn try_to_create(
        &self,
        key: &str,
        idempotency_key: &str,
        body: &str,
    ) -> Result<ApiAnswer, String> {
        let ServiceApi(bindings) = self;
        if !bindings.has_binding(SERVICE) {
            return Err(format!("the service's Worker is not bound as `{SERVICE}`"));
        }
        let in_words = |_: JsValue| "the service does not answer".to_owned();
        let abort = AbortController::new().map_err(in_words)?;
        let origin = bindings.service_origin().filter(|origin| !origin.is_empty());
        let url = [origin.as_deref().unwrap_or(ORIGIN), PLEDGE_TRANSACTION_PATH].concat();
        let request = RequestBuilder::new(&url)
            .method(Method::POST)
            .header(header::AUTHORIZATION, &ApiKey::new(key).authorization())
            .header(header::IDEMPOTENCY_KEY, idempotency_key)
            .header(header::CONTENT_TYPE, JSON)
            .abort_signal(Some(&abort.signal()))
            .body(Uint8Array::from(body.as_bytes()));
        let request: Request = request.map_err(|error| error.to_string())?.into();
        let answer = answer(bindings, &request).await;
        if answer.is_err() {
            abort.abort();
        }
        answer.map_err(in_words)
    }
}

async fn answer(bindings: &DashboardBindings, request: &Request) -> Result<ApiAnswer, JsValue> {
    let sent = bindings.service(SERVICE)?.fetch(request)?;
    let response: Response = JsFuture::from(within(&sent, CREATE_MS)).await?.dyn_into()?;
    let body = JsFuture::from(within(&response.array_buffer()?, CREATE_MS)).await?;
    Ok(ApiAnswer { status: response.status(), body: Uint8Array::new(&body).to_vec() })
}

#[derive(Default, Serialize)]
struct IntakeLine<'a> {
    orders: &'a str,
    #[serde(flatten)]
    done: CaughtUp,
    #[serde(flatten)]
    fetched: FetchedOrders,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'a str>,
}

fn line(line: &IntakeLine<'_>) -> String {
    serde_json::to_string(line).unwrap_or_default() // cannot fail
}

/// Reads deliveries whose messages were lost, then fetches the orders of shop systems that are due. After a failure, the next
/// invocation starts again.
pub async fn catch_up(bindings: &DashboardBindings, store: &KvStore, ledger: &D1Ledger) {
    let api = ServiceApi(bindings);
    let intake = intake(ledger, store, &api);
    let (done, cause) = parts(intake.catch_up(MAX_CAUGHT_UP).await);
    log(&IntakeLine { orders: "catch up", done, cause: cause.as_deref(), ..IntakeLine::default() });
    let (fetched, cause) = parts(intake.fetch().await);
    log(&IntakeLine { orders: "fetch", fetched, cause: cause.as_deref(), ..IntakeLine::default() });
}

fn parts<T: Default>(outcome: Result<T, OperatorError>) -> (T, Option<String>) {
    match outcome {
        Ok(done) => (done, None),
        Err(error) => (T::default(), Some(error.to_string())),
    }
}

fn log(said: &IntakeLine<'_>) {
    match (said.cause, said.done.read, said.fetched.asked) {
        (Some(_), _, _) => console_error!("{}", line(said)),
        (None, 0, 0) => {}
        _ => console_log!("{}", line(said)),
    }
}
