//! Queues the notifications of a new transaction: one message for each service that the create request asks
//! for.

use super::outbox::FIRST_ROUND;
use super::prepared::Prepared;
use super::{Clock, Entropy, Message, Recipients, Service};
use crate::pledges::scope::Scope;
use crate::pledges::store::{FailedMailKey, NoMetadata, Store};
use crate::pledges::time::day_of;
use crate::pledges::types::{NotificationService, TransactionId};
use futures_util::future::join_all;
use strum::IntoEnumIterator as _;

impl<S: Store, C: Clock, E: Entropy, R: Recipients> Service<'_, S, C, E, R> {
    /// Puts a message into the queue for each requested service that may deliver. All messages are sent at
    /// the same time. If the queue does not accept a message, the transaction is recorded nevertheless. Its
    /// metadata then says which message was not queued.
    pub(super) async fn enqueue_notifications(&self, prepared: &mut Prepared) {
        let Some(outbox) = self.outbox.filter(|_| !prepared.services.is_empty()) else { return };
        let summary = &mut prepared.metadata.summary;
        let created_at = summary.created_at.clone().unwrap_or_default();
        let message = |service: NotificationService| Message {
            id: prepared.id.to_string(),
            created_at: created_at.clone(),
            round: FIRST_ROUND,
            service,
            updates: Vec::new(),
        };
        let messages: Vec<_> = prepared.services.iter().copied().map(message).collect();
        let put = self.wait(join_all(messages.iter().map(|message| outbox.put(message)))).await;
        for (message, _) in messages.iter().zip(put).filter(|(_, is_put)| !is_put) {
            summary.set_unsent(message.service);
            self.request_log.unsent.borrow_mut().push(message.service);
        }
    }

    /// Returns the services that may deliver; none if the body asks for no notification. The unit must have
    /// switched them on in its profile. For a test key, they also need a test address or a test adapter.
    pub(super) async fn deliverable(
        &self,
        Scope { mode, unit }: &Scope,
        body: &[u8],
    ) -> Vec<NotificationService> {
        let of_mode = |service: &NotificationService| {
            mode.is_live() || self.settings.notifies_tests.contains(service)
        };
        let services: Vec<_> = NotificationService::iter().filter(of_mode).collect();
        if services.is_empty() || self.outbox.is_none() || !may_ask(body) {
            return vec![];
        }
        self.recipients.delivering(self, unit, services).await
    }

    /// Adds the services whose messages never reached the queue to the operator's list of failed
    /// notifications. If this write fails, only the transaction's metadata shows them.
    pub(super) async fn list_unsent(
        &self,
        id: &TransactionId,
        created_at: &str,
        services: &[NotificationService],
    ) {
        let put = |service: &NotificationService| {
            let key = FailedMailKey { day: day_of(created_at), id, service: *service };
            async move { self.store.put(&key, b"{}".to_vec(), &NoMetadata).await }
        };
        self.wait(join_all(services.iter().map(put))).await;
    }
}

/// Returns whether a body may ask for notifications. A body that has not been parsed yet does so by a member of this
/// name, which may contain escapes.
fn may_ask(body: &[u8]) -> bool {
    let mut texts = body.split(|byte| *byte == b'"');
    body.contains(&b'\\') || texts.any(|text| text == b"notifications")
}
