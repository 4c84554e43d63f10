//! E-mails to send, and the interface to mail services.

use super::{Marker, SendError};
use crate::buyer::recipient::Mail;
use crate::pledges::types::TransactionId;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutgoingEmail<'l> {
    /// The recipient's address.
    pub to: &'l str,
    /// The address that replies go to.
    pub reply_to: Option<&'l str>,
    pub mail: &'l Mail,
    /// The idempotency key. A mail service that has already accepted an e-mail with this key does not send it
    /// again.
    pub key: String,
    /// The transaction that the e-mail is about.
    pub id: &'l TransactionId,
    /// The record to write once the e-mail is sent. If the WebAssembly instance fails while sending, the
    /// JavaScript code can still write the record.
    pub marker: &'l Marker,
    /// For an e-mail with news, the URL that ends such e-mails.
    pub unsubscribe: Option<&'l str>,
}

impl OutgoingEmail<'_> {
    /// Returns the e-mail's additional headers, such as `List-Unsubscribe`.
    pub fn headers(&self) -> Headers {
        if let Some(url) = self.unsubscribe {
            let list_unsubscribe = Some(format!("<{url}>"));
            let list_unsubscribe_post = Some("List-Unsubscribe=One-Click");
            return Headers { list_unsubscribe, list_unsubscribe_post, ..Headers::default() };
        }
        let list_unsubscribe = self
            .reply_to
            .map(|address| format!("<{}?subject=Unsubscribe%20{}>", mailto(address), self.id));
        Headers { list_unsubscribe, ..Headers::default() }
    }
}

/// Returns the `From` header of an e-mail: `"Small Hours Coffee" <a@b.example>`. `name` is the name of the sender.
pub fn sender_header(name: &str, address: &str) -> String {
    let name = name.replace(['"', '\\', '<', '>'], "");
    format!("\"{name}\" <{address}>")
}

/// The characters to encode in an address: those that RFC 6068 requires, and some others. For example, a `+`
/// is encoded because some programs read it as a space.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'!')
    .remove(b'$')
    .remove(b'\'')
    .remove(b'*');

/// Returns the `mailto` URI of an e-mail address (RFC 6068): `mailto:a%3Fb@shop.example` for `a?b@shop.example`.
fn mailto(address: &str) -> String {
    let (local, domain) = address.rsplit_once('@').unwrap_or((address, ""));
    let [local, domain] = [local, domain].map(|part| utf8_percent_encode(part, ENCODED));
    format!("mailto:{local}@{domain}")
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Headers {
    /// The `Auto-Submitted` header, which keeps mail programs from replying automatically.
    #[serde(rename = "Auto-Submitted")]
    pub auto_submitted: &'static str,
    /// The `List-Unsubscribe` header (RFC 2369). For recipients, it is a `mailto` link with which they can ask the shop for
    /// no more e-mails. Its subject names the transaction. For people of the dashboard, and in e-mails with news, it is the page
    /// that switches e-mails off.
    #[serde(rename = "List-Unsubscribe", skip_serializing_if = "Option::is_none")]
    pub list_unsubscribe: Option<String>,
    /// The `List-Unsubscribe-Post` header (RFC 8058): mail programs may offer a button that sends a POST to that page. Only e-mails
    /// with news have it. Each other e-mail belongs to one create request, and only the shop can stop requesting those.
    #[serde(rename = "List-Unsubscribe-Post", skip_serializing_if = "Option::is_none")]
    pub list_unsubscribe_post: Option<&'static str>,
}

impl Default for Headers {
    /// Returns the headers of each e-mail.
    fn default() -> Self {
        Headers {
            auto_submitted: "auto-generated",
            list_unsubscribe: None,
            list_unsubscribe_post: None,
        }
    }
}

#[expect(async_fn_in_trait, reason = "one thread: no caller needs the futures to be Send")]
pub trait Mailer {
    /// Sends one e-mail. Returns the mail service's ID for it.
    ///
    /// # Errors
    /// If it is not certain that the e-mail was sent.
    async fn send(&self, email: &OutgoingEmail<'_>) -> Result<String, SendError>;
}
