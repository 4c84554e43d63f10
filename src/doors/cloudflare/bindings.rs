//! Bindings and variables that more than one entry point of a Worker reads.

use super::kv::KvNamespace;
use super::outbox::DelayedQueue;
use super::queue::Queue;
use super::r2::R2;
use crate::buyer::adapters::AddressVariables;
use js_sys::{Promise, Reflect};
use wasm_bindgen::prelude::{JsCast as _, JsValue, wasm_bindgen};

#[wasm_bindgen]
extern "C" {
    /// The bindings that the service, its queue consumer and the dashboard share. The service and the
    /// dashboard extend this type. It replaces `worker::Env`, which makes six reflective calls to read a KV
    /// namespace.
    pub type Bindings;
    #[wasm_bindgen(method, getter, js_name = PLEDGES)]
    pub fn pledges(this: &Bindings) -> KvNamespace;
    #[wasm_bindgen(method, getter, js_name = NOTIFICATIONS)]
    pub fn notifications(this: &Bindings) -> Option<Queue>;
    #[wasm_bindgen(method, getter, js_name = MAIL_DELAY_SECONDS)]
    fn mail_delay_seconds(this: &Bindings) -> Option<String>;
    #[wasm_bindgen(method, getter, js_name = EMAIL)]
    pub fn email(this: &Bindings) -> Option<SendEmail>;
    #[wasm_bindgen(method, getter, js_name = RESEND_API_KEY)]
    pub fn resend_api_key(this: &Bindings) -> Option<String>;
    #[wasm_bindgen(method, getter, js_name = MAIL_FROM)]
    pub fn mail_from(this: &Bindings) -> Option<String>;
    /// The address that receives all e-mails about transactions of test keys.
    #[wasm_bindgen(method, getter, js_name = MAIL_TEST_TO)]
    pub fn mail_test_to(this: &Bindings) -> Option<String>;
    /// The bucket of the uploaded pictures of updates.
    #[wasm_bindgen(method, getter, js_name = PICTURES)]
    pub fn pictures(this: &Bindings) -> Option<R2>;
    /// The origin of timeline URLs.
    #[wasm_bindgen(method, getter, js_name = PUBLIC_ORIGIN)]
    pub fn public_origin(this: &Bindings) -> Option<String>;
    #[wasm_bindgen(method, getter, js_name = ENVIRONMENT)]
    pub fn environment(this: &Bindings) -> Option<String>;
    #[wasm_bindgen(method, getter, js_name = CF_VERSION_METADATA)]
    fn deployment(this: &Bindings) -> Option<Deployment>;

    /// The binding `send_email`.
    pub type SendEmail;
    /// Sends an e-mail. Resolves to an object with its `messageId`.
    #[wasm_bindgen(method, catch)]
    pub fn send(this: &SendEmail, message: &JsValue) -> Result<Promise, JsValue>;

    /// A binding to another Worker, such as an adapter of a messaging service.
    pub type ServiceBinding;
    /// Sends a request to the Worker. Resolves to its response.
    #[wasm_bindgen(method, catch)]
    pub fn fetch(this: &ServiceBinding, request: &web_sys::Request) -> Result<Promise, JsValue>;

    /// The binding `version_metadata`.
    type Deployment;
    #[wasm_bindgen(method, getter)]
    fn id(this: &Deployment) -> String;
}

impl Bindings {
    /// Returns the notification queue, with the delay that this Worker's variables set.
    pub fn outbox(&self) -> Option<DelayedQueue> {
        let queue = self.notifications()?;
        Some(DelayedQueue::new(queue, self.mail_delay_seconds().as_deref()))
    }

    /// Returns the binding to another Worker.
    ///
    /// # Errors
    /// Never: the platform's bindings have no getters that throw.
    pub fn service(&self, name: &str) -> Result<ServiceBinding, JsValue> {
        Ok(Reflect::get(self, &name.into())?.unchecked_into())
    }

    pub fn deployment_id(&self) -> String {
        self.deployment().map(|deployment| deployment.id()).unwrap_or_default()
    }
}

impl AddressVariables for Bindings {
    fn has_binding(&self, name: &str) -> bool {
        let is_bound = |binding: JsValue| binding.is_object() || binding.is_function();
        Reflect::get(self, &name.into()).is_ok_and(is_bound)
    }

    fn text(&self, name: &str) -> String {
        let text = Reflect::get(self, &name.into()).ok().and_then(|text| text.as_string());
        text.unwrap_or_default()
    }
}

/// Returns the text of a variable without surrounding blanks; `None` if nothing is left.
pub fn trimmed(variable: Option<String>) -> Option<String> {
    let text = variable?.trim().to_owned();
    (!text.is_empty()).then_some(text)
}
