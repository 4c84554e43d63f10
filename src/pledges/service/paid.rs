//! Finds out whether a transaction was paid. The service reads this from the settlement, a record for each scope
//! and month.

use super::cache::Lookup;
use super::{Clock, Entropy, Recipients, Service};
use crate::pledges::api::Problem;
use crate::pledges::http::Request;
use crate::pledges::settlement::{PaidAt, ScopeMonth};
use crate::pledges::store::{Key, SettlementKey, Store, TransactionMetadata};
use futures_util::FutureExt as _;
use serde::Deserialize;

/// The interval at which a waiting request checks whether another request has finished its read, in
/// milliseconds.
const LOOK_MS: u32 = 10;
/// How long a request waits for another request's read, in milliseconds. After that, the waiting request
/// reads the record itself.
const WAIT_MS: u32 = 1_000;

/// The part of a settlement that the service reads.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Paid {
    paid_at: PaidAt,
}

impl<S: Store, C: Clock, E: Entropy, R: Recipients> Service<'_, S, C, E, R> {
    /// Returns when a transaction was paid, or `None` if it is unpaid. Until its month has ended, a
    /// transaction counts as unpaid, and nothing is read.
    ///
    /// # Errors
    /// If the settlement cannot be read: a paid transaction must never appear as unpaid.
    pub(super) async fn paid_at(
        &self,
        request: &impl Request,
        metadata: &TransactionMetadata,
    ) -> Result<Option<PaidAt>, Problem> {
        let now_ms = self.clock.now_ms();
        let Some(month) = metadata.month().filter(|month| month.has_ended(now_ms)) else {
            return Ok(None);
        };
        let of = ScopeMonth { scope: metadata.scope.clone(), month };
        self.settled_at(request, of, now_ms).boxed_local().await
    }

    async fn settled_at(
        &self,
        request: &impl Request,
        of: ScopeMonth,
        now_ms: u64,
    ) -> Result<Option<PaidAt>, Problem> {
        let key = SettlementKey(&of);
        let name = key.name();
        if let Some(lookup) = self.caches.settlements.get(&*name, now_ms)
            && let Some(outcome) = self.outcome(request, &lookup, (&name, now_ms)).await
        {
            return outcome;
        }
        let lookup = self.caches.settlements.keep(name.clone(), Lookup::default(), now_ms);
        let outcome = self.load(&key).await.map(|found| found.map(|Paid { paid_at }| paid_at));
        if outcome.is_err() {
            self.caches.settlements.forget(&name); // so that the next request reads again
        }
        lookup.get_or_init(|| outcome).clone()
    }

    /// Returns the outcome of a read that another request may still be making, or of a later read
    /// of the same record. Waits for at most [`WAIT_MS`], and then returns `None`. A read never
    /// ends if its own client has hung up.
    ///
    /// Polls for the outcome instead of awaiting the other request's future: workerd ties streams
    /// to the request that created them, so no other request may run that future.
    async fn outcome(
        &self,
        request: &impl Request,
        lookup: &Lookup,
        (name, now_ms): (&str, u64),
    ) -> Option<Result<Option<PaidAt>, Problem>> {
        for _ in 0..WAIT_MS / LOOK_MS {
            if lookup.get().is_some() {
                break;
            }
            self.wait(request.pause(LOOK_MS)).await;
        }
        let later = || self.caches.settlements.get(name, now_ms)?.get().cloned();
        lookup.get().cloned().or_else(later)
    }
}
