//! The mail services: Cloudflare Email Sending through its binding, or Resend over HTTP.

use super::sending::{Sending, fetch, patiently, temporary, wait_of};
use crate::buyer::delivery::{
    Headers, Mailer, OutgoingEmail, SendError, cloudflare_answer, cloudflare_error, resend_answer,
};
use crate::doors::cloudflare::chunk_reader::ChunkReader;
use crate::doors::cloudflare::deadline::within;
use crate::doors::cloudflare::json::to_js;
use crate::doors::cloudflare::{KvNamespace, SendEmail};
use crate::pledges::store::NotificationKey;
use crate::pledges::types::NotificationService;
use gloo_net::http::{Method, RequestBuilder};
use js_sys::{Promise, Reflect, Uint8Array};
use serde::Serialize;
use wasm_bindgen::prelude::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{ReadableStream, RequestRedirect};

/// Timeout of a call to a mail service, and of reading its response body, in milliseconds. After a timeout, the e-mail may
/// have been sent.
const SEND_MS: u32 = 10_000;
const RESEND_URL: &str = "https://api.resend.com/emails";
/// Maximum number of bytes that are read of a response from Resend. Its actual responses are shorter.
const MAX_ANSWER_BYTES: u32 = 4 * 1024;

pub enum MailService {
    Cloudflare(SendEmail),
    /// Resend, with its API key.
    Resend(String),
    None,
}

/// Sends e-mails from one address.
pub struct MailClient {
    pub service: MailService,
    /// `MAIL_FROM`; empty if it is not an e-mail address.
    pub from: String,
    /// The namespace in which sent e-mails are recorded.
    pub records: KvNamespace,
    /// The state of the delivery. `recover.js` keeps it if this wasm instance breaks.
    pub sending: Sending,
}

impl Mailer for MailClient {
    async fn send(&self, email: &OutgoingEmail<'_>) -> Result<String, SendError> {
        patiently(async || self.try_to_send(email).await).await
    }
}

/// The message that Cloudflare's binding takes.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BindingEmail<'l> {
    from: Sender<'l>,
    to: &'l str,
    subject: &'l str,
    text: &'l str,
    html: &'l str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reply_to: Option<&'l str>,
    headers: Headers,
}

#[derive(Serialize)]
struct Sender<'l> {
    name: &'l str,
    email: &'l str,
}

/// The request body of Resend's API.
#[derive(Serialize)]
struct ResendEmail<'l> {
    from: String,
    to: [&'l str; 1],
    subject: &'l str,
    text: &'l str,
    html: &'l str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reply_to: Option<&'l str>,
    headers: Headers,
}

impl MailClient {
    async fn try_to_send(&self, email: &OutgoingEmail<'_>) -> Result<String, SendError> {
        match &self.service {
            _ if self.from.is_empty() => Err(temporary("no-mail-from")),
            MailService::Cloudflare(binding) => self.by_binding(binding, email).await,
            MailService::Resend(api_key) => self.by_resend(api_key, email).await,
            MailService::None => Err(temporary("no-mail-service")),
        }
    }

    async fn by_binding(
        &self,
        binding: &SendEmail,
        email: &OutgoingEmail<'_>,
    ) -> Result<String, SendError> {
        let OutgoingEmail { to, reply_to, mail, .. } = *email;
        let message = BindingEmail {
            from: Sender { name: &mail.sender, email: &self.from },
            to,
            subject: &mail.subject,
            text: &mail.text,
            html: &mail.html,
            reply_to,
            headers: email.headers(),
        };
        let message = to_js(&message).map_err(|_| temporary("no-message"))?;
        let sent = binding.send(&message);
        if let Ok(sent) = &sent {
            self.begin(sent, email)?;
        }
        match answered(sent).await {
            Ok(sent) => Ok(cloudflare_answer(member(&sent, "messageId").as_deref())),
            Err(error) if error.is_undefined() => Err(temporary("no-answer")),
            Err(error) => Err(cloudflare_error(member(&error, "code").as_deref())),
        }
    }

    /// Gives `recover.js` the record that marks the e-mail as sent. If this wasm instance breaks before the
    /// mail service has responded, `recover.js` writes the record. Resend does not need this: its idempotency
    /// key prevents a second e-mail.
    fn begin(&self, sent: &Promise, email: &OutgoingEmail<'_>) -> Result<(), SendError> {
        let key = NotificationKey(email.id, NotificationService::Email);
        self.sending.begin_with(sent, &self.records, &key, email.marker)
    }

    async fn by_resend(
        &self,
        api_key: &str,
        email: &OutgoingEmail<'_>,
    ) -> Result<String, SendError> {
        let OutgoingEmail { to, reply_to, mail, ref key, .. } = *email;
        let body = crate::pledges::api::to_json(&ResendEmail {
            from: email.sender(&self.from),
            to: [to],
            subject: &mail.subject,
            text: &mail.text,
            html: &mail.html,
            reply_to,
            headers: email.headers(),
        });
        if !api_key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(temporary("no-api-key")); // not valid in a header
        }
        let request = RequestBuilder::new(RESEND_URL)
            .method(Method::POST)
            .header("authorization", &format!("Bearer {api_key}"))
            .header("content-type", "application/json")
            .header("idempotency-key", key)
            .redirect(RequestRedirect::Manual) // a redirect would send the e-mail to another server
            .body(Uint8Array::from(body.as_slice()))
            .map_err(|_| temporary("no-request"))?;
        let failed = |_| temporary("no-answer");
        let response = answered(fetch(&request.into())).await.map_err(failed)?;
        let response: web_sys::Response = response.unchecked_into();
        let after = wait_of(&response);
        let text = match response.body() {
            Some(body) => beginning(&body).await.map_err(failed)?,
            None => Vec::new(),
        };
        resend_answer(response.status(), after, &text)
    }
}

/// Reads the beginning of a response body, and discards the rest.
async fn beginning(body: &ReadableStream) -> Result<Vec<u8>, JsValue> {
    let Some(mut reader) = ChunkReader::of(body, SEND_MS) else { return Ok(Vec::new()) };
    let piece = reader.fill(Uint8Array::new_with_length(MAX_ANSWER_BYTES), SEND_MS).await?;
    drop(reader);
    drop(body.cancel());
    Ok(piece.to_vec())
}

async fn answered(promise: Result<Promise, JsValue>) -> Result<JsValue, JsValue> {
    JsFuture::from(within(&promise?, SEND_MS)).await
}

/// Returns the member `name` of a value that the platform returned or threw. Returns `None` if the member is
/// not a text.
fn member(value: &JsValue, name: &str) -> Option<String> {
    Reflect::get(value, &name.into()).ok()?.as_string()
}
