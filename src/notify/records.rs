//! The records that a notifier reads and writes.

use super::marker::EndedRound;
use super::{Delivery, Mailer, Marker, Notifier, State};
use crate::handle::Clock;
use crate::pledge::TransactionId;
use crate::store::{
    FailedMailKey, Key, ListingStore, MailedKey, NoMetadata, NotificationKey, StoreError,
    StoredValue as _, decode,
};
use crate::time::{date_time, day_of};
use crate::version::Version;
use serde::de::DeserializeOwned;

impl<S: ListingStore, M: Mailer, C: Clock> Notifier<'_, S, M, C> {
    /// Whether this round has ended.
    pub(super) async fn has_ended(&self, delivery: &Delivery<'_>) -> Result<bool, StoreError> {
        let ended: Option<EndedRound> = self.load(&NotificationKey(delivery.id)).await?;
        Ok(ended.is_some_and(|ended| ended.round >= delivery.message.round))
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
            version: Version,
        }
    }

    pub(super) async fn end(&self, id: &TransactionId, marker: &Marker) -> Result<(), StoreError> {
        let value = crate::api::to_json(marker);
        self.store.put(&NotificationKey(id), value, &NoMetadata).await
    }

    /// Ends the round, and lists the failure for the operator first.
    pub(super) async fn fail(&self, id: &TransactionId, marker: &Marker) -> Result<(), StoreError> {
        let key = FailedMailKey { day: day_of(&marker.at), id };
        self.store.put(&key, b"{}".to_vec(), &NoMetadata).await?;
        self.end(id, marker).await
    }

    /// Counts an e-mail to an address.
    pub(super) async fn count(&self, id: &TransactionId, address: &str) -> Result<(), StoreError> {
        let now = date_time(self.clock.now_ms());
        let key = MailedKey { day: day_of(&now), address, id };
        self.store.put(&key, b"{}".to_vec(), &NoMetadata).await
    }

    /// How many e-mails an address was to get on this day, those about this transaction apart. More than
    /// a page of a list has are as many as a page has.
    pub(super) async fn mails_today(
        &self,
        id: &TransactionId,
        address: &str,
    ) -> Result<usize, StoreError> {
        let now = date_time(self.clock.now_ms());
        let key = MailedKey { day: day_of(&now), address, id };
        let listed = self.store.list(&key.address_prefix(), None).await?;
        let own = key.name();
        Ok(listed.records.iter().filter(|record| record.name != own).count())
    }

    pub(super) async fn load<K: Key, T: DeserializeOwned>(
        &self,
        key: &K,
    ) -> Result<Option<T>, StoreError> {
        let Some(stored) = self.store.get(key).await? else { return Ok(None) };
        decode(K::KIND, &stored.value.read(K::READ_MS).await?).map(Some)
    }
}
