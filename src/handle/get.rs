//! Get pledge transaction by ID (§4.2).

use super::{Body, Clock, Entropy, Media, Refusal, Request, Response, Service};
use crate::api::{Operation, Problem};
use crate::pledge::TransactionId;
use crate::store::{Store, StoreError, Stored, TransactionKey, TransactionMetadata};
use futures_util::future::try_join;

type Found<V> = Result<Option<Stored<V, TransactionMetadata>>, StoreError>;

impl<S: Store, C: Clock, E: Entropy> Service<'_, S, C, E> {
    /// Reads key and record side by side, unless the request has no key; what came of the record
    /// counts only once the key is accepted.
    pub(super) async fn get(
        &self,
        request: &impl Request,
        id: &str,
    ) -> Result<Response<S::Value>, Refusal> {
        let record = async { Ok(self.transaction(id).await) }; // infallible: a bad key goes first
        let (caller, record) = try_join(self.authorize(request, Operation::Get), record).await?;
        let is_live = caller.is_live();
        match record.map_err(|error| Problem::from(error).with_mode(is_live))? {
            Some(stored) if stored.metadata.allows(&caller.scope) => {
                Ok(Response::new(200, Media::Json, Body::Stored(stored.value)))
            }
            _ => Err(Problem::TransactionNotFound.with_mode(is_live)),
        }
    }

    /// The record of this ID; none without asking the store if the ID cannot be ours.
    pub(super) async fn transaction(&self, id: &str) -> Found<S::Value> {
        match TransactionId::parse(id) {
            Some(id) => {
                let _wait = self.journal.wait(self.clock);
                self.store.get(&TransactionKey(&id)).await
            }
            None => Ok(None),
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable => Problem::StoreUnavailable,
            StoreError::Damaged(text) => Problem::Internal(text),
        }
    }
}
