//! A queue and a mail service for the demo, which stand in for the real ones.

use crate::buyer::delivery::{Mailer, OutgoingEmail, SendError};
use crate::pledges::service::{Message, Outbox, PutFuture};
use std::future::ready;

pub(super) struct TakesAll;

impl Outbox for TakesAll {
    fn put<'m>(&'m self, _: &'m Message) -> PutFuture<'m> {
        Box::pin(ready(true))
    }
}

/// A mail service that accepts every e-mail, or refuses every one.
pub(super) struct MailService {
    pub(super) is_refused: bool,
}

impl Mailer for MailService {
    async fn send(&self, email: &OutgoingEmail<'_>) -> Result<String, SendError> {
        match self.is_refused {
            true => Err(SendError::Permanent { code: "E_RECIPIENT_SUPPRESSED".to_owned() }),
            false => Ok(format!("<{}@small-hours.example>", email.key.replace('/', "."))),
        }
    }
}
