//! The operation "Get pledge transaction by ID" (§4.2).

use super::{Clock, Entropy, Recipients, Service};
use crate::pledges::api::{Operation, Problem};
use crate::pledges::http::{Address, Body, Media, Request, Response};
use crate::pledges::store::{Key as _, Store, TransactionKey};
use futures_util::future::try_join;

/// Largest record that is read whole to insert `paidAt`: 256 KiB. A larger record is streamed, so that the isolate
/// holds only the part that is being sent.
const MAX_WHOLE_BYTES: usize = 256 * 1024;

impl<S: Store, C: Clock, E: Entropy, R: Recipients> Service<'_, S, C, E, R> {
    /// Returns a pledge transaction.
    ///
    /// Reads the key and the transaction at the same time. If the request has no key, reads neither of
    /// them. A failure to read the transaction is reported only if the key is accepted.
    ///
    /// The record is streamed to the caller. The small record of a paid transaction is an exception. It is
    /// read whole, because this is faster than inserting the time of payment into a stream.
    pub(super) async fn get(
        &self,
        request: &impl Request,
        address: &Address<'_>,
        id: &str,
    ) -> Result<Response<S::Value>, Problem> {
        let record = async { Ok(self.transaction(id).await) }; // a refused key takes precedence
        let (caller, record) =
            try_join(self.authorize(request, address, Operation::Get), record).await?;
        let stored = record?
            .filter(|stored| stored.metadata.scope == caller.scope)
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
