//! Why a mail service or an adapter did not send a notification.

/// Why a notification was not sent. Of an error, only the code is kept: the text from the mail service or the
/// adapter may contain the recipient's address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendError {
    /// A temporary error: the notification may be sent later.
    Temporary {
        /// The code of the mail service or the adapter.
        code: String,
        /// The wait that the mail service or the adapter asks for, in seconds.
        after: Option<u32>,
    },
    /// The mail service's quota is used up. The e-mail may be sent when the next day or month of the quota
    /// begins.
    Quota { code: String, after: Option<u32> },
    /// A permanent error: the address or the notification is refused.
    Permanent { code: String },
}
