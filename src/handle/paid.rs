//! Whether a transaction was paid: the settlement of its shop and month says so.

use super::{Clock, Entropy, Service};
use crate::api::Problem;
use crate::http::Request;
use crate::settlement::PaidAt;
use crate::store::{Key, SettlementKey, Store, TransactionMetadata};
use serde::Deserialize;
use std::cell::{OnceCell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

/// One read of a settlement, for all requests of the isolate that want it: the first of them reads.
#[derive(Debug, Default)]
pub struct Lookup {
    outcome: OnceCell<Result<Option<PaidAt>, Problem>>,
    waiting: RefCell<Vec<Waker>>,
}

impl Lookup {
    fn end(&self, outcome: Result<Option<PaidAt>, Problem>) {
        self.outcome.get_or_init(|| outcome);
        self.waiting.take().into_iter().for_each(Waker::wake);
    }

    /// Waits for [`end`](Self::end).
    async fn ended(self: Rc<Self>) {
        poll_fn(|context| {
            if self.outcome.get().is_some() {
                return Poll::Ready(());
            }
            self.waiting.borrow_mut().push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

/// The part of a settlement that the service reads.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Paid {
    paid_at: PaidAt,
}

impl<S: Store, C: Clock, E: Entropy> Service<'_, S, C, E> {
    /// When a transaction was paid; `None` until then. One of a month that has not ended is not, and
    /// nothing is read for it.
    ///
    /// # Errors
    /// If the settlement cannot be read: what was paid is never shown as unpaid.
    pub(super) async fn paid_at(
        &self,
        request: &impl Request,
        metadata: &TransactionMetadata,
    ) -> Result<Option<PaidAt>, Problem> {
        let now_ms = self.clock.now_ms();
        let Some(month) = metadata.month().filter(|month| month.has_ended(now_ms)) else {
            return Ok(None);
        };
        let scope = metadata.scope();
        let key = SettlementKey { mode: scope.mode, unit: &scope.unit, month };
        let name = key.name();
        if let Some(lookup) = self.caches.settlements.get(&*name, now_ms) {
            return self.outcome(request, lookup).await;
        }
        let lookup = self.caches.settlements.keep(name.clone(), Lookup::default(), now_ms);
        let outcome = self.load(&key).await.map(|found| found.map(|Paid { paid_at }| paid_at));
        if outcome.is_err() {
            self.caches.settlements.forget(&name); // for those who come now
        }
        lookup.end(outcome.clone());
        outcome
    }

    /// The outcome of a read, which may be another request's.
    async fn outcome(
        &self,
        request: &impl Request,
        lookup: Rc<Lookup>,
    ) -> Result<Option<PaidAt>, Problem> {
        if lookup.outcome.get().is_none() {
            let ended = Rc::clone(&lookup).ended();
            self.wait(request.wait_for_another(ended, SettlementKey::READ_MS)).await;
        }
        lookup.outcome.get().cloned().unwrap_or(Err(Problem::StoreUnavailable))
    }
}
