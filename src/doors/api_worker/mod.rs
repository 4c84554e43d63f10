//! The entry point of the service as a Cloudflare Worker. It connects [`service`] to the platform.
//!
//! [`service`]: crate::pledges::service
//!
//! `worker.js` loads this module. If an instance of the module breaks, `recover.js` answers its requests.

use super::cloudflare::{
    BackgroundQueue, Bindings as SharedBindings, Call, KvStore, Queue, RateLimit, WorkerRequest,
    to_web_response, trimmed,
};
use super::platform::Platform;
use crate::buyer::adapters::AdapterAddresses;
use crate::buyer::timeline::Timelines;
use crate::pledges::service::{
    Caches, LedgerQueue, Outbox, RequestLog, Service, Settings, Variables,
};
use std::cell::OnceCell;
use std::convert::Infallible;
use std::rc::Rc;
use wasm_bindgen::JsCast as _;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    /// The bindings of `wrangler.toml`.
    #[wasm_bindgen(extends = SharedBindings)]
    pub type ApiBindings;
    #[wasm_bindgen(method, getter, js_name = REFUSED_KEYS)]
    fn refused_keys(this: &ApiBindings) -> Option<RateLimit>;
    #[wasm_bindgen(method, getter, js_name = ALLOWED_ORIGINS)]
    fn allowed_origins(this: &ApiBindings) -> Option<String>;
    #[wasm_bindgen(method, getter, js_name = ALLOW_PLAIN_HTTP)]
    fn allow_plain_http(this: &ApiBindings) -> Option<String>;
    #[wasm_bindgen(method, getter, js_name = LOG_PERCENT)]
    fn log_percent(this: &ApiBindings) -> Option<String>;
    #[wasm_bindgen(method, getter, js_name = LEDGER)]
    fn ledger(this: &ApiBindings) -> Option<Queue>;
}

thread_local! {
    static ISOLATE: ApiIsolate = ApiIsolate::default();
}

/// The state that all requests of an isolate share.
#[derive(Default)]
struct ApiIsolate {
    timelines: Rc<Timelines>,
    caches: Rc<Caches>,
    settings: OnceCell<Rc<Settings>>, // constant for the life of an isolate
}

/// Serves one request. This function never returns an error, because the `worker` crate would turn the error
/// into a response in plain text.
#[worker::event(fetch)]
async fn fetch(
    request: web_sys::Request,
    env: worker::Env,
    context: worker::Context,
) -> Result<web_sys::Response, Infallible> {
    Ok(serve(&request, env.unchecked_ref(), context.as_ref().unchecked_ref()).await)
}

async fn serve(
    request: &web_sys::Request,
    bindings: &ApiBindings,
    call: &Call,
) -> web_sys::Response {
    let (timelines, caches, settings) = ISOLATE.with(|isolate| {
        let settings = isolate.settings.get_or_init(|| Rc::new(read_settings(bindings)));
        (Rc::clone(&isolate.timelines), Rc::clone(&isolate.caches), Rc::clone(settings))
    });
    let store = KvStore::new(bindings.pledges()).with_pictures(bindings.pictures());
    let outbox = bindings.outbox();
    let ledger = bindings.ledger().map(|queue| BackgroundQueue { queue, store: &store, call });
    let service = Service {
        store: &store,
        clock: &Platform,
        entropy: &Platform,
        recipients: &*timelines,
        caches: &caches,
        settings: &settings,
        outbox: outbox.as_ref().map(|outbox| outbox as &dyn Outbox),
        ledger: ledger.as_ref().map(|queue| queue as &dyn LedgerQueue),
        request_log: RequestLog::default(),
    };
    let request = WorkerRequest::new(request, call, bindings.refused_keys());
    let response = service.handle(&request).await;
    if response.status >= 400 {
        request.drain().await; // an unread body would break the connection
    }
    to_web_response(response)
}

fn read_settings(bindings: &ApiBindings) -> Settings {
    let adapters = AdapterAddresses::read(&**bindings).adapters();
    Settings::parse(Variables {
        allowed_origins: &bindings.allowed_origins().unwrap_or_default(),
        public_origin: &bindings.public_origin().unwrap_or_default(),
        environment: &bindings.environment().unwrap_or_default(),
        allow_plain_http: &bindings.allow_plain_http().unwrap_or_default(),
        log_percent: &bindings.log_percent().unwrap_or_default(),
        mail_from: &bindings.mail_from().unwrap_or_default(),
        mail_test_to: &bindings.mail_test_to().unwrap_or_default(),
        has_queue: bindings.notifications().is_some(),
        has_mail_service: bindings.email().is_some()
            || trimmed(bindings.resend_api_key()).is_some(),
        adapters: adapters.as_ref(),
        deployment: &bindings.deployment_id(),
    })
}
