//! The dashboard as a Cloudflare Worker of its own: its entry point, and what it takes of the platform.
//!
//! `worker.js` loads the module; `recover.js` answers the requests of an instance that broke.

mod access;
mod consumer;
mod cron;
mod kv;
mod ledger;

use crate::dashboard::{Dashboard, Settings, Variables};
use crate::handle::Outbox;
use crate::http::InFlight;
use crate::ledger::Ledger;
use crate::operator::notifications::QueuedRounds;
use crate::platform::Platform;
use crate::workers::{Call, DelayedQueue, KvNamespace, Queue, WorkerRequest, convert};
use access::Context;
use kv::OperatorKv;
use ledger::{D1, D1Ledger};
use std::cell::OnceCell;
use std::rc::Rc;
use wasm_bindgen::prelude::{JsCast as _, wasm_bindgen};

#[wasm_bindgen]
extern "C" {
    /// The bindings of `wrangler.dashboard.toml`.
    pub type Bindings;
    #[wasm_bindgen(method, getter, js_name = PLEDGES)]
    fn pledges(this: &Bindings) -> KvNamespace;
    #[wasm_bindgen(method, getter, js_name = LEDGER_DB)]
    fn ledger(this: &Bindings) -> Option<D1>;
    #[wasm_bindgen(method, getter, js_name = NOTIFICATIONS)]
    fn notifications(this: &Bindings) -> Option<Queue>;
    #[wasm_bindgen(method, getter, js_name = MAIL_DELAY_SECONDS)]
    fn mail_delay_seconds(this: &Bindings) -> Option<String>;
    #[wasm_bindgen(method, getter, js_name = OPERATORS)]
    fn operators(this: &Bindings) -> Option<String>;
    #[wasm_bindgen(method, getter, js_name = SUPPORT)]
    fn support(this: &Bindings) -> Option<String>;
    #[wasm_bindgen(method, getter, js_name = ACCOUNTS)]
    fn accounts(this: &Bindings) -> Option<String>;
    #[wasm_bindgen(method, getter, js_name = ENVIRONMENT)]
    fn environment(this: &Bindings) -> Option<String>;
    #[wasm_bindgen(method, getter, js_name = SERVICE_ORIGIN)]
    fn service_origin(this: &Bindings) -> Option<String>;
    #[wasm_bindgen(method, getter, js_name = CF_VERSION_METADATA)]
    fn deployment(this: &Bindings) -> Option<Deployment>;

    /// The binding `version_metadata`.
    type Deployment;
    #[wasm_bindgen(method, getter)]
    fn id(this: &Deployment) -> String;
}

thread_local! {
    static ISOLATE: Isolate = Isolate::default();
}

/// The state that requests share.
#[derive(Default)]
struct Isolate {
    in_flight: Rc<InFlight>,
    rounds: Rc<QueuedRounds>,
    settings: OnceCell<Rc<Settings>>, // the same for all requests of an isolate
}

/// Serves one request. It never fails. Its name is not `fetch`, the service's: a local build has the exports of both.
#[wasm_bindgen]
pub async fn serve(
    request: web_sys::Request,
    bindings: Bindings,
    context: Context,
) -> web_sys::Response {
    let (in_flight, rounds, settings) = ISOLATE.with(|isolate| {
        let settings = isolate.settings.get_or_init(|| Rc::new(read_settings(&bindings)));
        (Rc::clone(&isolate.in_flight), Rc::clone(&isolate.rounds), Rc::clone(settings))
    });
    let store = OperatorKv(bindings.pledges());
    let queue = bindings
        .notifications()
        .map(|queue| DelayedQueue::new(queue, bindings.mail_delay_seconds().as_deref()));
    let ledger = bindings.ledger().map(D1Ledger::new);
    let dashboard = Dashboard {
        store: &store,
        clock: &Platform,
        entropy: &Platform,
        settings: &settings,
        outbox: queue.as_ref().map(|queue| queue as &dyn Outbox),
        ledger: ledger.as_ref().map(|ledger| ledger as &dyn Ledger),
        in_flight: &in_flight,
        rounds: &rounds,
    };
    let call: &Call = context.unchecked_ref();
    let person = access::identify(&context).await;
    let request = WorkerRequest::new(&request, call, None);
    let response = dashboard.handle(&request, person.identity()).await;
    if response.status >= 400 {
        request.drain().await; // an unread body would break the connection
    }
    convert(response)
}

fn read_settings(bindings: &Bindings) -> Settings {
    Settings::parse(Variables {
        operators: &bindings.operators().unwrap_or_default(),
        support: &bindings.support().unwrap_or_default(),
        accounts: &bindings.accounts().unwrap_or_default(),
        environment: &bindings.environment().unwrap_or_default(),
        service_origin: &bindings.service_origin().unwrap_or_default(),
        deployment: &bindings.deployment().map(|deployment| deployment.id()).unwrap_or_default(),
    })
}
