//! Get pledge transaction by ID (§4.2).

use super::{Clock, Entropy, Service};
use crate::api::{Operation, Problem};
use crate::http::{Address, Body, Media, Request, Response};
use crate::store::Store;
use futures_util::future::try_join;

impl<S: Store, C: Clock, E: Entropy> Service<'_, S, C, E> {
    /// Reads key and transaction concurrently; without a key in the request, neither. A failure to
    /// read the transaction counts only once the key is accepted. What is paid is read whole, to say
    /// so; all else is passed on.
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
            Some(paid_at) => {
                Body::Bytes(paid_at.put_in(self.read_transaction(stored, caller.owner()).await?))
            }
        };
        Ok(Response::new(200, Media::Json, body))
    }
}
