//! The door to Cloudflare Workers: takes a `Request` of the platform's, gives a `Response`.
//!
//! `worker.js` beside this file loads the module, and loads it anew should it ever panic.

mod entropy;
mod kv;
mod name;
mod promise;
mod request;
mod response;
mod task;

pub use kv::{KvNamespace, KvStore};

use crate::handle::{Caches, Clock, Service, Settings};
use entropy::WorkerEntropy;
use request::WorkerRequest;
use std::rc::Rc;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

#[wasm_bindgen]
extern "C" {
    /// The bindings of `wrangler.toml`.
    pub type Env;
    #[wasm_bindgen(method, getter, js_name = PLEDGES)]
    fn pledges(this: &Env) -> KvNamespace;
    #[wasm_bindgen(method, getter, js_name = ALLOWED_ORIGINS)]
    fn allowed_origins(this: &Env) -> Option<String>;
    #[wasm_bindgen(method, getter, js_name = PUBLIC_ORIGIN)]
    fn public_origin(this: &Env) -> Option<String>;

    /// A function that takes the response.
    #[wasm_bindgen(js_name = Function)]
    pub type Answer;
    #[wasm_bindgen(method, js_name = call)]
    fn give(this: &Answer, this_value: &JsValue, response: web_sys::Response);

    #[wasm_bindgen(js_namespace = Date)]
    fn now() -> f64;

    #[wasm_bindgen(js_namespace = console, js_name = error)]
    pub(crate) fn log_error(message: &str, detail: &JsValue);
}

thread_local! {
    static ISOLATE: Isolate = Isolate::default();
}

/// What outlives a request.
#[derive(Default)]
struct Isolate {
    caches: Rc<Caches>,
    settings: std::cell::OnceCell<Rc<Settings>>,
}

/// Serves one request, and gives the response to `answer`.
#[wasm_bindgen]
pub fn fetch(request: web_sys::Request, env: Env, answer: Answer) {
    task::start(async move {
        let response = serve(&request, &env).await;
        answer.give(&JsValue::UNDEFINED, response);
    });
}

async fn serve(request: &web_sys::Request, env: &Env) -> web_sys::Response {
    let (caches, settings) = ISOLATE.with(|isolate| {
        let settings = isolate.settings.get_or_init(|| Rc::new(read_settings(env)));
        (Rc::clone(&isolate.caches), Rc::clone(settings))
    });
    let store = KvStore::new(env.pledges());
    let service = Service {
        store: &store,
        clock: &WorkerClock,
        entropy: &WorkerEntropy,
        caches: &caches,
        settings: &settings,
    };
    let request = WorkerRequest::new(request);
    let response = service.handle(&request).await;
    if response.status >= 400 {
        request.drain().await;
    }
    response::convert(response)
}

/// Gives `callback` the message of a panic, before the module traps.
#[wasm_bindgen(js_name = onPanic)]
pub fn on_panic(callback: js_sys::Function) {
    std::panic::set_hook(Box::new(move |panic| {
        let message = JsValue::from_str(&panic.to_string());
        let _ = callback.call1(&JsValue::UNDEFINED, &message);
    }));
}

fn read_settings(env: &Env) -> Settings {
    let [allowed, public] = [env.allowed_origins(), env.public_origin()];
    Settings::parse(&allowed.unwrap_or_default(), &public.unwrap_or_default())
}

struct WorkerClock;

impl Clock for WorkerClock {
    fn now_ms(&self) -> u64 {
        now() as u64
    }
}
