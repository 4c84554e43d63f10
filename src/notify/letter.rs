//! E-mails, and the port to a mail service.

use super::Marker;
use crate::pledge::TransactionId;
use crate::recipient::Mail;
use serde::Serialize;

/// An e-mail for a mail service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter<'l> {
    /// The recipient's address.
    pub to: &'l str,
    /// The address that answers go to.
    pub reply_to: Option<&'l str>,
    /// The content.
    pub mail: &'l Mail,
    /// Names this e-mail, so that a mail service that has it does not send it again.
    pub key: String,
    /// The transaction that it is about.
    pub id: &'l TransactionId,
    /// What is recorded once it is sent: of a sender whose program breaks meanwhile, something else may
    /// still do that.
    pub marker: &'l Marker,
}

impl Letter<'_> {
    /// The headers that no member stands for.
    pub fn headers(&self) -> Headers {
        let list_unsubscribe = self.reply_to.map(|address| format!("<mailto:{address}>"));
        Headers { auto_submitted: "auto-generated", list_unsubscribe }
    }

    /// The sender with an address, as the header `From` has it: `"Small Hours Coffee" <a@b.example>`.
    pub fn sender(&self, address: &str) -> String {
        let name = self.mail.sender.replace(['"', '\\', '<', '>'], "");
        format!("\"{name}\" <{address}>")
    }
}

/// Headers of an e-mail, by their names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Headers {
    /// No mail program answers it by itself.
    #[serde(rename = "Auto-Submitted")]
    pub auto_submitted: &'static str,
    /// Where to write to get no more.
    #[serde(rename = "List-Unsubscribe", skip_serializing_if = "Option::is_none")]
    pub list_unsubscribe: Option<String>,
}

/// Sends e-mails.
#[expect(async_fn_in_trait, reason = "one thread: no caller needs the futures to be Send")]
pub trait Mailer {
    /// Sends one e-mail. Returns the mail service's ID of it.
    ///
    /// # Errors
    /// If it may not have been sent.
    async fn send(&self, letter: &Letter<'_>) -> Result<String, MailError>;
}

/// Why an e-mail was not sent. A code is the mail service's; its texts contain the address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MailError {
    /// It may be sent later: `after` so many seconds, if the mail service says so.
    Temporary {
        /// The mail service's code.
        code: String,
        /// The wait that it asks for, in seconds.
        after: Option<u32>,
    },
    /// It may be sent once the mail service's quota of the day or month begins anew.
    Quota {
        /// The mail service's code.
        code: String,
        /// The wait that it asks for, in seconds.
        after: Option<u32>,
    },
    /// It will never be sent: the address is refused or suppressed.
    Permanent {
        /// The mail service's code.
        code: String,
    },
}
