//! The mail services: Cloudflare Email Sending through its binding, or Resend over HTTP.

pub mod attempts;

use super::cloudflare::chunk_reader::ChunkReader;
use super::cloudflare::deadline::within;
use super::cloudflare::json::to_js;
use super::cloudflare::{Bindings, SendEmail, trimmed};
use crate::buyer::delivery::{
    Headers, SendError, cloudflare_answer, cloudflare_error, resend_answer, sender_header,
};
use attempts::{fetch, temporary, wait_of};
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

/// A mail service, with the sender's address.
pub struct MailSender {
    pub service: MailService,
    /// `MAIL_FROM`; empty if it is not an e-mail address.
    pub from: String,
}

/// An e-mail to send.
pub struct Email<'l> {
    /// The name of the sender.
    pub sender: &'l str,
    pub to: &'l str,
    /// The address that replies go to.
    pub reply_to: Option<&'l str>,
    pub subject: &'l str,
    pub text: &'l str,
    pub html: &'l str,
    pub headers: Headers,
    /// The idempotency key for Resend.
    pub key: &'l str,
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
    headers: &'l Headers,
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
    headers: &'l Headers,
}

impl MailSender {
    /// Returns the mail service that is bound: `EMAIL`, or else Resend.
    pub fn of(bindings: &Bindings) -> Self {
        let service = match (bindings.email(), trimmed(bindings.resend_api_key())) {
            (Some(binding), _) => MailService::Cloudflare(binding),
            (None, Some(api_key)) => MailService::Resend(api_key),
            (None, None) => MailService::None,
        };
        let is_address =
            |text: &String| crate::pledges::validate::format::is_email(text.as_bytes());
        let from = trimmed(bindings.mail_from()).filter(is_address).unwrap_or_default();
        MailSender { service, from }
    }

    /// Makes one attempt to send an e-mail. Returns the mail service's ID for it. `begun` is called once Cloudflare's binding has the
    /// e-mail, with the promise of its answer.
    ///
    /// # Errors
    /// If it is not certain that the e-mail was sent.
    pub async fn send(
        &self,
        email: &Email<'_>,
        begun: impl FnOnce(&Promise) -> Result<(), SendError>,
    ) -> Result<String, SendError> {
        match &self.service {
            _ if self.from.is_empty() => Err(temporary("no-mail-from")),
            MailService::Cloudflare(binding) => self.by_binding(binding, email, begun).await,
            MailService::Resend(api_key) => self.by_resend(api_key, email).await,
            MailService::None => Err(temporary("no-mail-service")),
        }
    }

    async fn by_binding(
        &self,
        binding: &SendEmail,
        email: &Email<'_>,
        begun: impl FnOnce(&Promise) -> Result<(), SendError>,
    ) -> Result<String, SendError> {
        let message = BindingEmail {
            from: Sender { name: email.sender, email: &self.from },
            to: email.to,
            subject: email.subject,
            text: email.text,
            html: email.html,
            reply_to: email.reply_to,
            headers: &email.headers,
        };
        let message = to_js(&message).map_err(|_| temporary("no-message"))?;
        let sent = binding.send(&message);
        if let Ok(sent) = &sent {
            begun(sent)?;
        }
        match answered(sent).await {
            Ok(sent) => Ok(cloudflare_answer(member(&sent, "messageId").as_deref())),
            Err(error) if error.is_undefined() => Err(temporary("no-answer")),
            Err(error) => Err(cloudflare_error(member(&error, "code").as_deref())),
        }
    }

    async fn by_resend(&self, api_key: &str, email: &Email<'_>) -> Result<String, SendError> {
        let body = crate::pledges::api::to_json(&ResendEmail {
            from: sender_header(email.sender, &self.from),
            to: [email.to],
            subject: email.subject,
            text: email.text,
            html: email.html,
            reply_to: email.reply_to,
            headers: &email.headers,
        });
        if !api_key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(temporary("no-api-key")); // not valid in a header
        }
        let request = RequestBuilder::new(RESEND_URL)
            .method(Method::POST)
            .header("authorization", &format!("Bearer {api_key}"))
            .header("content-type", "application/json")
            .header("idempotency-key", email.key)
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
