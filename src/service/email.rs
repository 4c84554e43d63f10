//! The e-mail of a new transaction. A create request that asks for an e-mail puts a message into the queue.

use super::outbox::first_round;
use super::prepared::Prepared;
use super::{Clock, Entropy, Message, Service};
use crate::pledge::TransactionId;
use crate::scope::Scope;
use crate::store::{FailedMailKey, MailState, NoMetadata, Store};
use crate::time::day_of;

impl<S: Store, C: Clock, E: Entropy> Service<'_, S, C, E> {
    /// Puts a message into the queue if the create request asks for an e-mail, and this e-mail may be sent. If the
    /// queue fails, the transaction is recorded nevertheless, and its metadata says that the e-mail was not queued.
    pub(super) async fn enqueue_email(&self, prepared: &mut Prepared) {
        let Some(outbox) = self.outbox.filter(|_| prepared.wants_mail) else { return };
        let Scope { mode, unit } = prepared.metadata.scope();
        if !(mode.is_live() || self.settings.mails_tests) || !self.may_mail(&unit).await {
            return;
        }
        let summary = &mut prepared.metadata.summary;
        let created_at = summary.created_at.clone().unwrap_or_default();
        let message = Message { id: prepared.id.to_string(), created_at, round: first_round() };
        if !self.wait(outbox.put(&message)).await {
            summary.mail = Some(MailState::Unsent);
            self.request_log.mail.set(summary.mail);
        }
    }

    /// Returns whether e-mails are on for a unit. Returns true if the profile cannot be read, because it is read again
    /// before the e-mail is sent.
    async fn may_mail(&self, unit: &str) -> bool {
        let Ok(known) = self.profile(unit).await else { return true };
        let Ok(profile) = known.as_ref() else { return true };
        profile.as_ref().is_some_and(|profile| profile.mail)
    }

    /// Adds a transaction whose message never reached the queue to the operator's list of failed e-mails. If this
    /// fails, only the transaction's metadata says that the e-mail was not queued.
    pub(super) async fn list_unsent(&self, id: &TransactionId, created_at: &str) {
        let key = FailedMailKey { day: day_of(created_at), id };
        let _ = self.wait(self.store.put(&key, b"{}".to_vec(), &NoMetadata)).await;
    }
}
