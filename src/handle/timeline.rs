//! The recipient's page.

use super::route::Address;
use super::{Clock, Entropy, Response, Service, decode};
use crate::api::Problem;
use crate::store::{Store, StoredValue as _};
use crate::timeline;

impl<S: Store, C: Clock, E: Entropy> Service<'_, S, C, E> {
    pub(super) async fn timeline(&self, id: &str, address: &Address<'_>) -> Response<S::Value> {
        match self.timeline_page(id, address).await {
            Ok(page) => Response::html(200, page),
            Err(problem @ Problem::TransactionNotFound) => {
                Response::problem_page(&problem, timeline::not_found_page())
            }
            Err(problem) => Response::problem_page(&problem, timeline::unavailable_page()),
        }
    }

    /// Wrong or missing edit key: the same problem as for an ID that names nothing.
    async fn timeline_page(&self, id: &str, address: &Address<'_>) -> Result<String, Problem> {
        let edit_key = address.edit_key().unwrap_or_default();
        let found = self.transaction(id).await?;
        let stored = found
            .filter(|stored| stored.metadata.opens_with(&edit_key))
            .ok_or(Problem::TransactionNotFound)?;
        let bytes = self.wait(stored.value.read()).await?;
        let transaction = decode("transaction", &bytes)?;
        Ok(timeline::page(&transaction))
    }
}
