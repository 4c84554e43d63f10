//! The dashboard as a separate Cloudflare Worker: its entry points, and its ports to the platform.
//!
//! `worker.js` loads the module. `recover.js` answers the requests of an instance that broke.

mod access;
mod bucket;
mod consumer;
mod cron;
mod cron_backup;
mod d1;
mod intake;
mod notices;
mod shop_api;
mod work_line;

use super::cloudflare::{
    Bindings as SharedBindings, KvStore, R2, WorkerRequest, to_web_response, trimmed,
};
use super::platform::Platform;
use crate::office::dashboard::Dashboard;
use crate::office::mails::rule::QueuedRounds;
use crate::office::shared::page::settings::{Settings, Variables};
use crate::office::shared::rows::port::{Ledger, Unbound};
use crate::pledges::http::InFlight;
use crate::pledges::service::Outbox;
use access::Context;
use d1::{D1, D1Ledger};
use std::cell::OnceCell;
use std::rc::Rc;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    /// The bindings of `wrangler.dashboard.toml`.
    #[wasm_bindgen(extends = SharedBindings)]
    pub type DashboardBindings;
    #[wasm_bindgen(method, getter, js_name = LEDGER_DB)]
    fn ledger_db(this: &DashboardBindings) -> Option<D1>;
    #[wasm_bindgen(method, getter, js_name = BACKUPS)]
    fn backups(this: &DashboardBindings) -> Option<R2>;
    #[wasm_bindgen(method, getter, js_name = BACKUP_PLACE)]
    fn backup_place(this: &DashboardBindings) -> Option<String>;
    #[wasm_bindgen(method, getter, js_name = BACKUP_FULL_DAYS)]
    fn backup_full_days(this: &DashboardBindings) -> Option<String>;
    #[wasm_bindgen(method, getter, js_name = BACKUP_KEPT_DAYS)]
    fn backup_kept_days(this: &DashboardBindings) -> Option<String>;
    #[wasm_bindgen(method, getter, js_name = OPERATORS)]
    fn operators(this: &DashboardBindings) -> Option<String>;
    #[wasm_bindgen(method, getter, js_name = SUPPORT)]
    fn support(this: &DashboardBindings) -> Option<String>;
    #[wasm_bindgen(method, getter, js_name = ACCOUNTS)]
    fn accounts(this: &DashboardBindings) -> Option<String>;
    #[wasm_bindgen(method, getter, js_name = DASHBOARD_ORIGIN)]
    fn dashboard_origin(this: &DashboardBindings) -> Option<String>;
    #[wasm_bindgen(method, getter, js_name = SERVICE_ORIGIN)]
    fn service_origin(this: &DashboardBindings) -> Option<String>;
    #[wasm_bindgen(method, getter, js_name = BILLING_NAME)]
    fn billing_name(this: &DashboardBindings) -> Option<String>;
    #[wasm_bindgen(method, getter, js_name = BILLING_ADDRESS)]
    fn billing_address(this: &DashboardBindings) -> Option<String>;
    #[wasm_bindgen(method, getter, js_name = TAX_TEXT)]
    fn tax_text(this: &DashboardBindings) -> Option<String>;
    #[wasm_bindgen(method, getter, js_name = BANK_DETAILS)]
    fn bank_details(this: &DashboardBindings) -> Option<String>;
    #[wasm_bindgen(method, getter, js_name = CONTACT)]
    fn contact(this: &DashboardBindings) -> Option<String>;
    #[wasm_bindgen(method, getter, js_name = UNUSUAL_CHARGE)]
    fn unusual_charge(this: &DashboardBindings) -> Option<String>;
    #[wasm_bindgen(method, getter, js_name = MESSAGING_BINDINGS)]
    fn messaging_bindings(this: &DashboardBindings) -> Option<String>;
}

impl DashboardBindings {
    /// Returns the store of the records in Workers KV, with the functions that only operators need.
    fn store(&self) -> KvStore {
        KvStore::for_operators(self.pledges()).with_pictures(self.pictures())
    }

    /// The ledger's database, if one is bound.
    fn database(&self) -> Option<D1Ledger> {
        self.ledger_db().map(D1Ledger::new)
    }
}

thread_local! {
    static ISOLATE: DashboardIsolate = DashboardIsolate::default();
}

/// The state that all requests of an isolate share.
#[derive(Default)]
struct DashboardIsolate {
    in_flight: Rc<InFlight>,
    rounds: Rc<QueuedRounds>,
    settings: OnceCell<Rc<Settings>>, // constant for the life of an isolate
}

/// Serves one request. Always returns a response, also after an error. The name is not `fetch`, because a
/// local build also exports the service's function `fetch`.
#[wasm_bindgen]
pub async fn serve(
    request: web_sys::Request,
    bindings: DashboardBindings,
    context: Context,
) -> web_sys::Response {
    let (in_flight, rounds, settings) = ISOLATE.with(|isolate| {
        let settings = isolate.settings.get_or_init(|| Rc::new(read_settings(&bindings)));
        (Rc::clone(&isolate.in_flight), Rc::clone(&isolate.rounds), Rc::clone(settings))
    });
    let store = bindings.store();
    let outbox = bindings.outbox();
    let database = bindings.database();
    let dashboard = Dashboard {
        store: &store,
        clock: &Platform,
        entropy: &Platform,
        settings: &settings,
        outbox: outbox.as_ref().map(|outbox| outbox as &dyn Outbox),
        ledger: database.as_ref().map_or(&Unbound as &dyn Ledger, |database| database),
        in_flight: &in_flight,
        rounds: &rounds,
    };
    let person = access::identify(&context).await;
    let request = WorkerRequest::new(&request, &context, None);
    let response = dashboard.handle(&request, person.identity()).await;
    if response.status >= 400 {
        request.drain().await; // an unread body would break the connection
    }
    to_web_response(response)
}

fn read_settings(bindings: &DashboardBindings) -> Settings {
    let has_resend = trimmed(bindings.resend_api_key()).is_some();
    Settings::parse(Variables {
        operators: &bindings.operators().unwrap_or_default(),
        support: &bindings.support().unwrap_or_default(),
        accounts: &bindings.accounts().unwrap_or_default(),
        environment: &bindings.environment().unwrap_or_default(),
        service_origin: &bindings.service_origin().unwrap_or_default(),
        billing_name: &bindings.billing_name().unwrap_or_default(),
        billing_address: &bindings.billing_address().unwrap_or_default(),
        tax_text: &bindings.tax_text().unwrap_or_default(),
        bank_details: &bindings.bank_details().unwrap_or_default(),
        contact: &bindings.contact().unwrap_or_default(),
        unusual_charge: &bindings.unusual_charge().unwrap_or_default(),
        backup_full_days: &bindings.backup_full_days().unwrap_or_default(),
        backup_kept_days: &bindings.backup_kept_days().unwrap_or_default(),
        dashboard_origin: &bindings.dashboard_origin().unwrap_or_default(),
        mail_from: &bindings.mail_from().unwrap_or_default(),
        has_mail_service: bindings.email().is_some() || has_resend,
        has_pictures: bindings.pictures().is_some(),
        messaging_bindings: &bindings.messaging_bindings().unwrap_or_default(),
        deployment: &bindings.deployment_id(),
    })
}
