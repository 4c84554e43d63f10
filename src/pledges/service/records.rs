//! Reads records for a request, and measures how long this takes.

use super::{Clock, Entropy, Recipients, Service};
use crate::pledges::api::Problem;
use crate::pledges::http::{BodyError, Busy, Reservation};
use crate::pledges::store::{
    Key, Store, StoreError, Stored, StoredValue as _, TransactionKey, TransactionMetadata, decode,
    present,
};
use crate::pledges::types::TransactionId;
use serde::de::DeserializeOwned;

type FoundRecord<V> = Result<Option<Stored<V, TransactionMetadata>>, StoreError>;

impl<S: Store, C: Clock, E: Entropy, R: Recipients> Service<'_, S, C, E, R> {
    /// Reads and decodes a record; `None` if there is none.
    pub(crate) async fn load<K: Key, T: DeserializeOwned>(
        &self,
        key: &K,
    ) -> Result<Option<T>, Problem> {
        Ok(self.load_sized(key).await?.map(|(record, _)| record))
    }

    /// Reads and decodes a record, and returns it with its size in bytes; `None` if there is none, or a tombstone.
    pub(crate) async fn load_sized<K: Key, T: DeserializeOwned>(
        &self,
        key: &K,
    ) -> Result<Option<(T, usize)>, Problem> {
        let Some(stored) = self.wait(self.store.get(key)).await? else { return Ok(None) };
        let value = self.wait(stored.value.read(K::READ_MS)).await?;
        let Some(record) = present::<K>(value) else { return Ok(None) };
        Ok(Some((decode(K::KIND, &record)?, record.len())))
    }

    /// Waits for a call to the store, and adds the time to the log line.
    pub(crate) async fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.request_log.wait(self.clock, work).await
    }

    /// Reads a whole transaction. Reserves memory for `owner`, and releases it once all bytes have arrived.
    /// The caller must use the bytes before it waits for anything else. Otherwise, concurrent requests could
    /// exceed the memory limit.
    pub(super) async fn read_transaction(
        &self,
        stored: Stored<S::Value, TransactionMetadata>,
        owner: String,
    ) -> Result<Vec<u8>, Problem> {
        let mut reservation = self.caches.in_flight.reservation(owner);
        self.read_reserved(stored, &mut reservation).await
    }

    /// Reserves memory, and then reads a whole transaction. The caller may wait for other things while it
    /// keeps the reservation.
    pub(crate) async fn read_reserved(
        &self,
        Stored { value, metadata }: Stored<S::Value, TransactionMetadata>,
        reservation: &mut Reservation<'_>,
    ) -> Result<Vec<u8>, Problem> {
        let bytes = TransactionKey::bytes(&metadata);
        reservation.read(bytes, bytes)?;
        Ok(self.wait(value.read(TransactionKey::READ_MS)).await?)
    }

    /// Finds a transaction by its ID. If the service cannot have generated the ID, the store is not read.
    pub(crate) async fn transaction(&self, id: &str) -> FoundRecord<S::Value> {
        match TransactionId::parse(id) {
            Some(id) => self.wait(self.store.get(&TransactionKey(&id))).await,
            None => Ok(None),
        }
    }
}

impl From<Busy> for Problem {
    fn from(_: Busy) -> Self {
        Problem::Busy
    }
}

impl From<BodyError> for Problem {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLarge => Problem::ContentTooLarge,
            BodyError::Busy => Problem::Busy,
            BodyError::Broken => Problem::UnreadableBody,
            BodyError::Slow => Problem::SlowBody,
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable => Problem::StoreUnavailable,
            StoreError::Busy => Problem::Busy,
            StoreError::Damaged(text) => Problem::Internal(text),
        }
    }
}
