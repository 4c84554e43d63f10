//! The recipient's page.

use super::route::Address;
use super::{Clock, Entropy, Response, Service};
use crate::api;
use crate::store::{Access, Store, Stored, StoredValue};
use crate::timeline;

impl<S: Store, C: Clock, E: Entropy> Service<'_, S, C, E> {
    /// Wrong or missing edit key: the same answer as for an ID that names nothing.
    pub(super) async fn timeline(&self, id: &str, address: &Address<'_>) -> Response<S::Value> {
        let edit_key = address.edit_key().unwrap_or_default();
        let found = self.transaction(id).await;
        match found.map(|found| found.filter(|stored| stored.metadata.opens_with(edit_key))) {
            Ok(Some(stored)) => render(stored).await,
            Ok(None) => Response::html(404, timeline::not_found_page()),
            Err(_) => Response::html(503, timeline::unavailable_page()),
        }
    }
}

async fn render<V, W: StoredValue>(stored: Stored<W, Access>) -> Response<V> {
    let Ok(bytes) = stored.value.read().await else {
        return Response::html(503, timeline::unavailable_page());
    };
    match api::get::decode(&bytes) {
        Ok(transaction) => Response::html(200, timeline::page(&transaction)),
        Err(error) => {
            let mut response = Response::html(500, timeline::unavailable_page());
            response.log = Some(format!("a stored transaction record is not valid: {error}"));
            response
        }
    }
}
