//! A create with an `Idempotency-Key`: recorded once, and answered again as it was the first time.

use super::create::{Ids, Made, Order, make};
use super::{Clock, Entropy, Response, Service, decode};
use crate::api::{self, Problem, header};
use crate::idempotency::{Derivation, Fingerprint, IdempotencyKey, Replay, ReplayHash};
use crate::pledge::{RetrievedPledgeTransaction, TransactionId};
use crate::store::{NoMetadata, ReplayKey, Store, StoredValue as _};
use crate::version::Version;
use std::borrow::Cow;

/// What a create with an idempotency key comes to, as far as is known without the store.
enum Plan {
    /// This very create was answered before.
    Replay(Vec<u8>),
    /// It was never seen.
    Record(Box<Made>, Replay),
    /// The idempotency key was used by another API key, or for another payload.
    Taken { own: Replay, by: Replay },
}

impl<S: Store, C: Clock, E: Entropy> Service<'_, S, C, E> {
    /// Records a transaction, unless this API key has recorded it under this idempotency key.
    pub(super) async fn record_once(
        &self,
        order: Order<'_>,
        key: &IdempotencyKey,
    ) -> Result<Response<S::Value>, Problem> {
        let hash = ReplayHash::new(&order.caller.scope, key);
        let known = self.load(&ReplayKey(hash)).await?;
        match self.plan(&order, key, hash, known)? {
            Plan::Replay(answer) => Ok(replayed(answer)),
            Plan::Taken { own, by } => self.replay_other(order, own, by).await,
            Plan::Record(mut made, replay) => {
                made.metadata.summary.replay = Some(hash.to_hex());
                let _reservation = order.reserve(&made)?; // held until both records are written
                let answer = self.record(*made, true).await?;
                self.keep_replay(hash, replay, &answer).await?;
                Ok(Response::json(answer))
            }
        }
    }

    /// The ids are derived from the API key, the idempotency key and the payload: a replay record
    /// that has this create's own ID was written by it.
    fn plan(
        &self,
        order: &Order<'_>,
        key: &IdempotencyKey,
        hash: ReplayHash,
        known: Option<Replay>,
    ) -> Result<Plan, Problem> {
        let now_ms = self.clock.now_ms();
        let payload = order.payload()?;
        let fingerprint = Fingerprint::new(&api::to_json(&payload));
        let caller = order.caller;
        let derivation = Derivation::new(caller.api_key(), &caller.scope, key, fingerprint)
            .map_err(|error| Problem::Internal(error.to_string()))?;
        let id = TransactionId::from_bytes(derivation.bytes("transaction", 0)).into_string();
        if let Some(answer) = self.caches.recent_answers.body(&id, now_ms) {
            return Ok(Plan::Replay(answer));
        }
        let known = known.or_else(|| self.caches.recent_answers.replay(hash, now_ms));
        let terms = order.terms(&payload, now_ms);
        let own = Replay { id, fingerprint: fingerprint.to_hex(), terms, version: Version };
        let ids = Ids::Derived(derivation);
        match known {
            Some(by) if by.id != own.id => Ok(Plan::Taken { own, by }),
            Some(first) => Ok(Plan::Replay(make(order, payload, ids, &first.terms)?.answer)),
            None => Ok(Plan::Record(Box::new(make(order, payload, ids, &own.terms)?), own)),
        }
    }

    /// Answers a create whose idempotency key another create holds. Its own record has priority,
    /// if it made one while neither saw the other: what was acknowledged stays.
    async fn replay_other(
        &self,
        order: Order<'_>,
        own: Replay,
        by: Replay,
    ) -> Result<Response<S::Value>, Problem> {
        drop(order); // its bytes: what follows waits for the store
        if let Some(answer) = self.first_answer(&own.id).await? {
            return Ok(replayed(answer));
        }
        if own.fingerprint != by.fingerprint {
            return Err(Problem::IdempotencyKeyReused);
        }
        // Another API key of the unit: to record it once more would double it.
        let answer = self.first_answer(&by.id).await?.ok_or(Problem::StoreUnavailable)?;
        Ok(replayed(answer))
    }

    /// The answer that created a transaction, if its record can be seen from here.
    async fn first_answer(&self, id: &str) -> Result<Option<Vec<u8>>, Problem> {
        if let Some(answer) = self.caches.recent_answers.body(id, self.clock.now_ms()) {
            return Ok(Some(answer));
        }
        let Some(stored) = self.transaction(id).await? else { return Ok(None) };
        let bytes = self.wait(stored.value.read()).await?;
        let retrieved: RetrievedPledgeTransaction<'_> = decode("transaction", &bytes)?;
        let first = retrieved.into_created(Cow::Borrowed(id)).ok_or_else(incomplete)?;
        Ok(Some(api::to_json(&first)))
    }

    /// The transaction is recorded by now, but a repeat could not know it without this.
    async fn keep_replay(
        &self,
        hash: ReplayHash,
        replay: Replay,
        answer: &[u8],
    ) -> Result<(), Problem> {
        let record = api::to_json(&replay);
        let written = self.wait(self.store.put(&ReplayKey(hash), record, &NoMetadata)).await;
        written.map_err(|_| Problem::WriteUnconfirmed { repeatable: true })?; // not answered yet
        let now_ms = self.clock.now_ms();
        self.caches.recent_answers.keep(hash, replay, answer.to_vec(), now_ms);
        Ok(())
    }
}

fn replayed<V>(answer: Vec<u8>) -> Response<V> {
    let mut response = Response::json(answer);
    response.headers.push((header::IDEMPOTENT_REPLAYED, Cow::Borrowed("true")));
    response
}

fn incomplete() -> Problem {
    Problem::Internal("a stored transaction lacks members that this service writes".to_owned())
}
