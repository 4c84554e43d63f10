//! Whether a transaction was paid: the settlement of its shop and month says so.

use super::{Clock, Entropy, Service};
use crate::api::Problem;
use crate::http::Request;
use crate::scope::Scope;
use crate::settlement::{Month, PaidAt};
use crate::store::{Key, SettlementKey, Store, TransactionMetadata};
use futures_util::FutureExt as _;
use serde::Deserialize;
use std::cell::OnceCell;

/// How often a request looks for what another one reads, in milliseconds.
const LOOK_MS: u32 = 10;
/// How long it looks before it reads by itself, in milliseconds.
const WAIT_MS: u32 = 1_000;

/// One read of a settlement, for all requests of the isolate that want it: the first of them reads.
pub type Lookup = OnceCell<Result<Option<PaidAt>, Problem>>;

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
        self.settled_at(request, metadata.scope(), month, now_ms).boxed_local().await
    }

    /// When the transactions of a month that has ended were paid.
    async fn settled_at(
        &self,
        request: &impl Request,
        scope: Scope,
        month: Month,
        now_ms: u64,
    ) -> Result<Option<PaidAt>, Problem> {
        let key = SettlementKey { mode: scope.mode, unit: &scope.unit, month };
        let name = key.name();
        if let Some(lookup) = self.caches.settlements.get(&*name, now_ms)
            && let Some(outcome) = self.outcome(request, &lookup).await
        {
            return outcome;
        }
        let lookup = self.caches.settlements.keep(name.clone(), Lookup::default(), now_ms);
        let outcome = self.load(&key).await.map(|found| found.map(|Paid { paid_at }| paid_at));
        if outcome.is_err() {
            self.caches.settlements.forget(&name); // for those who come now
        }
        lookup.get_or_init(|| outcome).clone()
    }

    /// The outcome of a read, which may be another request's; `None` if it takes long: the caller of that
    /// one may have hung up, and then it never ends. No request wakes another: that one would go on as
    /// the first, and a platform that ties streams to requests would refuse it its own.
    async fn outcome(
        &self,
        request: &impl Request,
        lookup: &Lookup,
    ) -> Option<Result<Option<PaidAt>, Problem>> {
        for _ in 0..WAIT_MS / LOOK_MS {
            if lookup.get().is_some() {
                break;
            }
            self.wait(request.pause(LOOK_MS)).await;
        }
        lookup.get().cloned()
    }
}
