//! Sends the e-mails about transactions.

use super::sending::Sending;
use crate::buyer::delivery::{Mailer, OutgoingEmail, SendError};
use crate::doors::cloudflare::KvNamespace;
use crate::doors::mail::attempts::patiently;
use crate::doors::mail::{Email, MailSender};
use crate::pledges::store::{NewsSentKey, NotificationKey};
use crate::pledges::types::NotificationService;
use js_sys::Promise;

/// Sends e-mails from one address.
pub struct MailClient {
    pub sender: MailSender,
    /// The namespace in which sent e-mails are recorded.
    pub records: KvNamespace,
    /// The state of the delivery. `recover.js` keeps it if this wasm instance breaks.
    pub sending: Sending,
}

impl Mailer for MailClient {
    async fn send(&self, email: &OutgoingEmail<'_>) -> Result<String, SendError> {
        let OutgoingEmail { to, reply_to, mail, ref key, .. } = *email;
        let sent = Email {
            sender: &mail.sender,
            to,
            reply_to,
            subject: &mail.subject,
            text: &mail.text,
            html: &mail.html,
            headers: email.headers(),
            key,
        };
        patiently(async || self.sender.send(&sent, |promise| self.begin(promise, email)).await)
            .await
    }
}

impl MailClient {
    /// Gives `recover.js` the record that marks the e-mail as sent. If this wasm instance breaks before the
    /// mail service has responded, `recover.js` writes the record. Resend does not need this: its idempotency
    /// key prevents a second e-mail.
    fn begin(&self, sent: &Promise, email: &OutgoingEmail<'_>) -> Result<(), SendError> {
        match email.unsubscribe {
            Some(_) => {
                self.sending.begin_with(sent, &self.records, &NewsSentKey(email.id), email.marker)
            }
            None => {
                let key = NotificationKey(email.id, NotificationService::Email);
                self.sending.begin_with(sent, &self.records, &key, email.marker)
            }
        }
    }
}
