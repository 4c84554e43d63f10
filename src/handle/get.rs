//! Get pledge transaction by ID (§4.2).

use super::{Clock, Entropy, Service};
use crate::api::{Operation, Problem};
use crate::http::{Address, Body, Media, Request, Response};
use crate::store::{Key as _, Store, TransactionKey};
use futures_util::future::try_join;

/// Most bytes of a record that is read whole to say when it was paid: 256 KiB. Of a larger one nothing is held
/// that its caller does not take.
const MAX_WHOLE_BYTES: usize = 256 * 1024;

impl<S: Store, C: Clock, E: Entropy> Service<'_, S, C, E> {
    /// Reads key and transaction concurrently; without a key in the request, neither. A failure to
    /// read the transaction counts only once the key is accepted. The record is passed on unread, but for a
    /// small one that is paid: that is read whole, which is faster.
    pub(super) async fn get(
        &self,
        request: &impl Request,
        address: &Address<'_>,
        id: &str,
    ) -> Result<Response<S::Value>, Problem> {
        let record = async { Ok(self.transaction(id).await) }; // a refused key goes first
        let (caller, record) =
            try_join(self.authorize(request, address, Operation::Get), record).await?;
        let stored = record?
            .filter(|stored| stored.metadata.allows(&caller.scope))
            .ok_or(Problem::TransactionNotFound)?;
        let body = match self.paid_at(request, &stored.metadata).await? {
            None => Body::Stored(stored.value),
            Some(paid_at) if TransactionKey::bytes(&stored.metadata) > MAX_WHOLE_BYTES => {
                Body::Spliced(stored.value, paid_at.splice())
            }
            Some(paid_at) => {
                let record = self.read_transaction(stored, caller.owner()).await?;
                Body::Bytes(paid_at.splice().apply(record))
            }
        };
        Ok(Response::new(200, Media::Json, body))
    }
}
