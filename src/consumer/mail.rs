//! The mail services: Cloudflare Email Sending through its binding, or Resend over HTTP.

use crate::notify::{
    Headers, MailError, Mailer, OutgoingEmail, Timer as _, cloudflare_answer, cloudflare_error,
    resend_answer,
};
use crate::platform::Platform;
use crate::service::Clock as _;
use crate::store::{Key as _, NoMetadata, NotificationKey};
use crate::workers::chunk_reader::ChunkReader;
use crate::workers::deadline::within;
use crate::workers::json::to_js;
use crate::workers::kv::put_options;
use crate::workers::{KvNamespace, SendEmail};
use gloo_net::http::{Method, RequestBuilder};
use js_sys::{Promise, Reflect, Uint8Array};
use serde::Serialize;
use wasm_bindgen::prelude::{JsCast as _, JsValue, wasm_bindgen};
use wasm_bindgen_futures::JsFuture;
use web_sys::{ReadableStream, RequestRedirect};

/// Timeout of a call to a mail service, and of reading its response body, in milliseconds. After a timeout, the e-mail may
/// have been sent.
const SEND_MS: u32 = 10_000;
/// The longest wait within a delivery, in seconds. If a mail service asks for a longer wait, the delivery ends.
const MAX_PAUSE_SECONDS: u32 = 10;
/// Maximum number of waits within a delivery.
const MAX_PAUSES: u32 = 3;
/// No wait of a delivery begins later than this, in milliseconds after its start. The last wait and the two timeouts of
/// the attempt after it can follow, so a delivery takes at most 45 s. The duration of claims in `notify` depends on
/// this.
const PATIENCE_MS: u64 = 15_000;

const RESEND_URL: &str = "https://api.resend.com/emails";
/// Maximum number of bytes that are read of a response from Resend. Its actual responses are shorter.
const MAX_ANSWER_BYTES: u32 = 4 * 1024;

#[wasm_bindgen]
extern "C" {
    /// The state of a delivery in `recover.js`, which survives if this instance breaks.
    pub type Sending;
    /// The ID of the delivery. It stays the same if the delivery starts again.
    #[wasm_bindgen(method, getter)]
    pub fn token(this: &Sending) -> String;
    /// Tells `recover.js` that the mail service was called. When the promise `sent` is fulfilled, the e-mail was sent.
    /// If this instance breaks, `recover.js` then writes the record that the other arguments describe.
    #[wasm_bindgen(method)]
    fn begin(
        this: &Sending,
        sent: &Promise,
        records: &KvNamespace,
        name: &str,
        value: &Uint8Array,
        options: &JsValue,
    );

    #[wasm_bindgen(catch)]
    fn fetch(request: &web_sys::Request) -> Result<Promise, JsValue>;
}

/// The configured mail service.
pub enum MailService {
    /// Cloudflare Email Sending.
    Cloudflare(SendEmail),
    /// Resend, with its API key.
    Resend(String),
    /// No mail service is configured.
    None,
}

/// Sends e-mails from one address.
pub struct MailClient {
    pub service: MailService,
    /// `MAIL_FROM`; empty if it is not an e-mail address.
    pub from: String,
    /// The namespace in which sent e-mails are recorded.
    pub records: KvNamespace,
    /// The state of the delivery, which survives if this instance breaks.
    pub sending: Sending,
}

impl Mailer for MailClient {
    /// Sends an e-mail. If the mail service asks to wait for a few seconds, waits and retries within this delivery, so that a
    /// burst of e-mails uses up no delivery attempts.
    async fn send(&self, email: &OutgoingEmail<'_>) -> Result<String, MailError> {
        let until_ms = Platform.now_ms() + PATIENCE_MS;
        for _ in 0..MAX_PAUSES {
            match self.try_to_send(email).await {
                Err(MailError::Temporary { after: Some(seconds), .. })
                    if seconds <= MAX_PAUSE_SECONDS && Platform.now_ms() < until_ms =>
                {
                    Platform.pause(seconds.max(1) * 1_000).await;
                }
                outcome => return outcome,
            }
        }
        self.try_to_send(email).await
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
    async fn try_to_send(&self, email: &OutgoingEmail<'_>) -> Result<String, MailError> {
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
    ) -> Result<String, MailError> {
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

    /// Gives `recover.js` a record. If this instance breaks before the mail service has responded, `recover.js` writes
    /// the record. Resend does not need this: its idempotency key prevents a second e-mail.
    fn begin(&self, sent: &Promise, email: &OutgoingEmail<'_>) -> Result<(), MailError> {
        let name = NotificationKey(email.id).name();
        let value = Uint8Array::from(crate::api::to_json(email.marker).as_slice());
        let options = put_options(&NoMetadata, NotificationKey::KEPT_SECONDS);
        let options = options.map_err(|_| temporary("no-marker"))?;
        self.sending.begin(sent, &self.records, &name, &value, &options);
        Ok(())
    }

    async fn by_resend(
        &self,
        api_key: &str,
        email: &OutgoingEmail<'_>,
    ) -> Result<String, MailError> {
        let OutgoingEmail { to, reply_to, mail, ref key, .. } = *email;
        let body = crate::api::to_json(&ResendEmail {
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
        let retry_after = response.headers().get("retry-after").ok().flatten();
        let text = match response.body() {
            Some(body) => beginning(&body).await.map_err(failed)?,
            None => Vec::new(),
        };
        resend_answer(response.status(), retry_after.as_deref(), &text)
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

/// Returns a text member of a value that the platform returned or threw.
fn member(value: &JsValue, name: &str) -> Option<String> {
    Reflect::get(value, &name.into()).ok()?.as_string()
}

fn temporary(code: &str) -> MailError {
    MailError::Temporary { code: code.to_owned(), after: None }
}
