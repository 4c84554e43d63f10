//! The mail services: Cloudflare's Email Sending by its binding, or Resend by HTTP.

use super::deadline::within;
use crate::notify::{Letter, MailError, Mailer, cloudflare_error, resend_answer};
use gloo_net::http::{Method, RequestBuilder};
use js_sys::{Promise, Reflect};
use serde::Serialize;
use serde_wasm_bindgen::Serializer;
use std::collections::BTreeMap;
use wasm_bindgen::prelude::{JsCast as _, JsValue, wasm_bindgen};
use wasm_bindgen_futures::JsFuture;

/// Deadline of a mail service, in milliseconds. An e-mail that takes longer may have been sent.
const SEND_MS: u32 = 10_000;

const RESEND_URL: &str = "https://api.resend.com/emails";

#[wasm_bindgen]
extern "C" {
    /// The binding `send_email`.
    pub type SendEmail;
    #[wasm_bindgen(method, catch)]
    fn send(this: &SendEmail, message: &JsValue) -> Result<Promise, JsValue>;

    #[wasm_bindgen(catch)]
    fn fetch(request: &web_sys::Request) -> Result<Promise, JsValue>;
}

/// The mail service that is bound.
pub enum MailService {
    /// Cloudflare's Email Sending.
    Cloudflare(SendEmail),
    /// Resend, by its API key.
    Resend(String),
    /// None.
    None,
}

/// Sends e-mails from one address.
pub struct Post {
    pub service: MailService,
    /// `MAIL_FROM`
    pub from: String,
}

impl Mailer for Post {
    async fn send(&self, letter: &Letter<'_>) -> Result<String, MailError> {
        match &self.service {
            MailService::Cloudflare(binding) => self.by_binding(binding, letter).await,
            MailService::Resend(api_key) => self.by_resend(api_key, letter).await,
            MailService::None => Err(temporary("no-mail-service")),
        }
    }
}

/// The message of the binding.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Bound<'l> {
    from: Sender<'l>,
    to: &'l str,
    subject: &'l str,
    text: &'l str,
    html: &'l str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reply_to: Option<&'l str>,
    headers: BTreeMap<&'static str, String>,
}

#[derive(Serialize)]
struct Sender<'l> {
    name: &'l str,
    email: &'l str,
}

/// The body of Resend's operation.
#[derive(Serialize)]
struct ResendEmail<'l> {
    from: String,
    to: [&'l str; 1],
    subject: &'l str,
    text: &'l str,
    html: &'l str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reply_to: Option<&'l str>,
    headers: BTreeMap<&'static str, String>,
}

impl Post {
    async fn by_binding(
        &self,
        binding: &SendEmail,
        letter: &Letter<'_>,
    ) -> Result<String, MailError> {
        let Letter { to, reply_to, mail, .. } = *letter;
        let message = Bound {
            from: Sender { name: &mail.sender, email: &self.from },
            to,
            subject: &mail.subject,
            text: &mail.text,
            html: &mail.html,
            reply_to,
            headers: letter.headers().into_iter().collect(),
        };
        let message = message.serialize(&Serializer::json_compatible());
        let message = message.map_err(|_| temporary("not-serializable"))?;
        let sent = answered(binding.send(&message))
            .await
            .map_err(|error| cloudflare_error(member(&error, "code").as_deref()))?;
        Ok(member(&sent, "messageId").unwrap_or_default())
    }

    async fn by_resend(&self, api_key: &str, letter: &Letter<'_>) -> Result<String, MailError> {
        let Letter { to, reply_to, mail, ref key } = *letter;
        let body = crate::api::to_json(&ResendEmail {
            from: letter.sender(&self.from),
            to: [to],
            subject: &mail.subject,
            text: &mail.text,
            html: &mail.html,
            reply_to,
            headers: letter.headers().into_iter().collect(),
        });
        let request = RequestBuilder::new(RESEND_URL)
            .method(Method::POST)
            .header("authorization", &format!("Bearer {api_key}"))
            .header("content-type", "application/json")
            .header("idempotency-key", key)
            .body(js_sys::Uint8Array::from(body.as_slice()))
            .map_err(|_| temporary("no-request"))?;
        let failed = |_| temporary("no-answer");
        let response = answered(fetch(&request.into())).await.map_err(failed)?;
        let response: web_sys::Response = response.unchecked_into();
        let retry_after = response.headers().get("retry-after").ok().flatten();
        let text = answered(response.text()).await.map_err(failed)?.as_string();
        let retry_after = retry_after.and_then(|text| text.parse().ok());
        resend_answer(response.status(), retry_after, &text.unwrap_or_default())
    }
}

async fn answered(promise: Result<Promise, JsValue>) -> Result<JsValue, JsValue> {
    JsFuture::from(within(&promise?, SEND_MS)).await
}

/// A text member of what the platform returned or threw, which may be any value.
fn member(value: &JsValue, name: &str) -> Option<String> {
    Reflect::get(value, &name.into()).ok()?.as_string()
}

fn temporary(code: &str) -> MailError {
    MailError::Temporary { code: code.to_owned(), after: None }
}
