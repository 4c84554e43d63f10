//! Sends messages to the operator's adapters: through a service binding, or by an HTTP request.

use super::sending::Sending;
use crate::buyer::adapters::{AdapterAddress, AdapterAddresses, AdapterName, TimedId};
use crate::buyer::delivery::{AdapterState, Messenger, OutgoingMessage, SendError, adapter_answer};
use crate::doors::cloudflare::deadline::within;
use crate::doors::cloudflare::{Bindings, KvNamespace};
use crate::doors::mail::attempts::{fetch, patiently, temporary, wait_of};
use crate::doors::platform::Platform;
use crate::pledges::service::Clock as _;
use crate::pledges::store::NotificationKey;
use gloo_net::http::{Method, RequestBuilder};
use js_sys::{Promise, Uint8Array};
use wasm_bindgen::prelude::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, Request, RequestRedirect, Response};

/// Timeout of a request to an adapter, in milliseconds. After a timeout, the message may have been sent.
const SEND_MS: u32 = 15_000;

pub struct MessengerClient<'b> {
    pub bindings: &'b Bindings,
    /// The namespace in which sent messages are recorded.
    pub records: KvNamespace,
    /// The state of the delivery. `recover.js` keeps it if this wasm instance breaks.
    pub sending: Sending,
}

impl Messenger for MessengerClient<'_> {
    fn adapter(&self, address: AdapterName) -> AdapterState {
        match AdapterAddresses::read_one(self.bindings, address) {
            Ok(Some(_)) => AdapterState::Attached,
            Ok(None) => AdapterState::Absent,
            Err(_) => AdapterState::Invalid,
        }
    }

    async fn send_message(&self, message: &OutgoingMessage<'_>) -> Result<(), SendError> {
        patiently(async || self.try_to_send(message).await).await
    }
}

impl MessengerClient<'_> {
    async fn try_to_send(&self, message: &OutgoingMessage<'_>) -> Result<(), SendError> {
        let address = AdapterAddresses::read_one(self.bindings, message.address).ok().flatten();
        let address = address.ok_or_else(|| temporary("not-attached"))?;
        let abort = AbortController::new().map_err(|_| temporary("no-request"))?;
        let request = request(&address, message, &abort).map_err(|_| temporary("no-request"))?;
        let failed = |_| {
            abort.abort();
            temporary("no-answer")
        };
        let sent = self.call(&address, message.address, &request).map_err(failed)?;
        let key = NotificationKey(message.id, message.address.service);
        self.sending.begin_with(&sent, &self.records, &key, message.marker)?;
        let response = JsFuture::from(within(&sent, SEND_MS)).await.map_err(failed)?;
        let response: Response = response.dyn_into().map_err(failed)?;
        let after = wait_of(&response);
        drop(response.body().map(|body| body.cancel())); // only the status of the answer is used
        adapter_answer(response.status(), after)
    }

    fn call(
        &self,
        address: &AdapterAddress,
        name: AdapterName,
        request: &Request,
    ) -> Result<Promise, JsValue> {
        match address.url {
            Some(_) => fetch(request),
            None => self.bindings.service(&name.to_string())?.fetch(request),
        }
    }
}

/// Makes the request, signed with the time of this attempt.
fn request(
    address: &AdapterAddress,
    message: &OutgoingMessage<'_>,
    abort: &AbortController,
) -> Result<Request, JsValue> {
    let (id, seconds) = (&*message.webhook_id, Platform.now_ms() / 1_000);
    let url = address.url.as_deref().unwrap_or(message.address.internal_url());
    let mut builder = RequestBuilder::new(url)
        .method(Method::POST)
        .header("content-type", "application/json")
        .header("webhook-id", id)
        .header("webhook-timestamp", &seconds.to_string())
        .redirect(RequestRedirect::Manual) // a redirect would send the message to another server
        .abort_signal(Some(&abort.signal()));
    if let Some(secrets) = &address.secrets {
        let signature = secrets.sign(TimedId { id, seconds }, message.body);
        builder = builder.header("webhook-signature", &signature);
    }
    let request = builder.body(Uint8Array::from(message.body));
    request.map(Into::into).map_err(|error| error.to_string().into())
}
