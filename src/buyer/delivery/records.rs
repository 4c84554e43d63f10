//! The records that a notifier reads and writes.

use super::marker::EndedRound;
use super::{Delivery, Mailer, Marker, Messenger, Notifier, Queued, State, Timer};
use crate::pledges::store::{
    FailedMailKey, Key, ListingStore, NewsSentKey, NoMetadata, NotificationKey, QueuedMailKey,
    StoreError, StoredValue as _, decode, present,
};
use crate::pledges::time::{date_time, day_of};
use crate::pledges::version::Version;
use futures_util::future::try_join;
use serde::de::DeserializeOwned;

impl<S: ListingStore, M: Mailer, A: Messenger, C: Timer> Notifier<'_, S, M, A, C> {
    /// Returns whether a round has ended. A round is the first sending of a notification, or a resend. Asks
    /// this instance's memory first, then the store.
    pub(super) async fn has_ended(&self, delivery: &Delivery<'_>) -> Result<bool, StoreError> {
        let round = delivery.message.round;
        if self.knows_ended(delivery) {
            return Ok(true);
        }
        let ended = self.ended(delivery).await?;
        Ok(ended.is_some_and(|ended| ended.round >= round))
    }

    /// Returns the last round that ended, from the store.
    pub(super) async fn ended(
        &self,
        delivery: &Delivery<'_>,
    ) -> Result<Option<EndedRound>, StoreError> {
        match delivery.is_news() {
            true => self.load(&NewsSentKey(delivery.id)).await,
            false => self.load(&NotificationKey(delivery.id, delivery.service())).await,
        }
    }

    pub(super) fn knows_ended(&self, delivery: &Delivery<'_>) -> bool {
        let (subject, now_ms) = (delivery.subject(), self.clock.now_ms());
        self.deliveries.has_ended(&subject, delivery.message.round, now_ms)
    }

    pub(super) fn marker(
        &self,
        delivery: &Delivery<'_>,
        state: State,
        reason: Option<&str>,
    ) -> Marker {
        Marker {
            state,
            reason: reason.map(str::to_owned),
            round: delivery.message.round,
            at: date_time(self.clock.now_ms()),
            attempts: delivery.attempt,
            provider_id: None,
            address: None,
            language: None,
            told: Vec::new(),
            version: Version,
        }
    }

    /// Records the outcome of a round, which ends the round. Of e-mails with news, only those that were sent are recorded: the
    /// next e-mail then tells of what the buyer has not been told yet.
    pub(super) async fn end(
        &self,
        delivery: &Delivery<'_>,
        marker: &Marker,
    ) -> Result<(), StoreError> {
        let value = crate::pledges::api::to_json(marker);
        let kept = match (delivery.is_news(), marker.state) {
            (true, State::Sent) => {
                self.store.put(&NewsSentKey(delivery.id), value, &NoMetadata).await
            }
            (true, _) => return Ok(()),
            (false, _) => {
                let key = NotificationKey(delivery.id, delivery.service());
                self.store.put(&key, value, &NoMetadata).await
            }
        };
        if kept.is_ok() {
            self.deliveries.end(delivery.subject(), marker.round, self.clock.now_ms());
        }
        kept
    }

    /// Adds a notification to the operator's list of failures, and then ends its round. The list has no e-mails with news, because
    /// nobody can resend them.
    pub(super) async fn fail(
        &self,
        delivery: &Delivery<'_>,
        marker: &Marker,
    ) -> Result<(), StoreError> {
        if delivery.is_news() {
            return Ok(());
        }
        let key = failed_key(delivery, &marker.at);
        self.store.put(&key, b"{}".to_vec(), &NoMetadata).await?;
        self.end(delivery, marker).await
    }

    /// Records that a message waits for `seconds`. Also adds its notification to the operator's list of
    /// failures: if the queue loses the message, the operator can resend the notification.
    pub(super) async fn note_wait(
        &self,
        delivery: &Delivery<'_>,
        seconds: u32,
        reason: &str,
    ) -> Result<(), StoreError> {
        if delivery.is_news() {
            return Ok(());
        }
        let now_ms = self.clock.now_ms();
        let (at, until) = (date_time(now_ms), date_time(now_ms + u64::from(seconds) * 1_000));
        let failed = failed_key(delivery, &at);
        let listed = self.store.put(&failed, b"{}".to_vec(), &NoMetadata);
        let reason = Some(reason.to_owned());
        let round = delivery.message.round;
        let queued = Queued { round, at: at.clone(), until, reason, version: Version };
        let queued = crate::pledges::api::to_json(&queued);
        let key = QueuedMailKey(delivery.id, delivery.service());
        let noted = self.store.put(&key, queued, &NoMetadata);
        try_join(listed, noted).await.map(drop)
    }

    pub(super) async fn load<K: Key, T: DeserializeOwned>(
        &self,
        key: &K,
    ) -> Result<Option<T>, StoreError> {
        let Some(stored) = self.store.get(key).await? else { return Ok(None) };
        let record = present::<K>(stored.value.read(K::READ_MS).await?);
        record.map(|record| decode(K::KIND, &record)).transpose()
    }
}

fn failed_key<'k>(delivery: &Delivery<'k>, at: &'k str) -> FailedMailKey<'k> {
    FailedMailKey { day: day_of(at), id: delivery.id, service: delivery.service() }
}
