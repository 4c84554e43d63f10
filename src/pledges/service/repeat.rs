//! Handles a create request with an `Idempotency-Key`. The transaction is recorded once. A repeated request
//! gets the first answer as an idempotent replay.

use super::access::Caller;
use super::create_input::CreateInput;
use super::prepare::prepare;
use super::prepared::{Ids, Prepared};
use super::{Clock, Entropy, Recipients, Service};
use crate::pledges::api;
use crate::pledges::api::{Problem, header};
use crate::pledges::http::Response;
use crate::pledges::idempotency::{Derivation, Fingerprint, IdempotencyKey, Replay, ReplayHash};
use crate::pledges::scope::Scope;
use crate::pledges::secret::NamespaceSecret;
use crate::pledges::store::{Key as _, NoMetadata, ReplayKey, Store, TransactionKey, decode};
use crate::pledges::types::{RetrievedPledgeTransaction, TransactionId};
use crate::pledges::version::Version;
use std::borrow::Cow;

/// An idempotency key, and the hash in the name of its replay record.
pub(super) struct Keyed {
    key: IdempotencyKey,
    hash: ReplayHash,
}

impl Keyed {
    pub fn new(key: IdempotencyKey, secret: &NamespaceSecret, scope: &Scope) -> Self {
        let hash = ReplayHash::new(secret, scope, &key);
        Keyed { key, hash }
    }
}

/// The next step of a create request with an idempotency key.
enum Plan {
    /// An idempotent replay: the create request was answered before, with this body.
    Replay {
        id: TransactionId,
        answer: Vec<u8>,
    },
    Record(Box<Prepared>, Replay),
    /// An idempotent replay, made from the stored transaction. The answer cannot be made from the replay
    /// record, because a later release wrote it with terms that this release does not know.
    Stored {
        id: TransactionId,
    },
    /// The idempotency key was used with another payload. `ours` is the ID of the transaction that this
    /// create request would record.
    Conflict {
        ours: TransactionId,
    },
}

impl<S: Store, C: Clock, E: Entropy, R: Recipients> Service<'_, S, C, E, R> {
    /// Returns the replay record of an idempotency key; `None` if there is no key, or the store shows no record.
    pub(super) async fn known_replay(
        &self,
        keyed: Option<&Keyed>,
    ) -> Result<Option<Replay>, Problem> {
        let Some(Keyed { hash, .. }) = keyed else { return Ok(None) };
        let known = self.load(&ReplayKey(*hash)).await?;
        Ok(known)
    }

    /// Records a transaction. If the unit has already recorded it under this idempotency key, answers with an
    /// idempotent replay instead. `known` is the replay record that the store shows.
    pub(super) async fn create_idempotent(
        &self,
        input: CreateInput<'_>,
        keyed: &Keyed,
        known: Option<Replay>,
    ) -> Result<Response<S::Value>, Problem> {
        let hash = keyed.hash;
        match self.plan(&input, keyed, known)? {
            Plan::Replay { id, answer } => Ok(self.replayed(&id, answer)),
            Plan::Stored { id } => {
                let caller = input.caller;
                drop(input); // frees its bytes, as below
                let answer = self.first_answer(caller, id.as_str()).await?;
                let answer = answer.ok_or(Problem::StoreUnavailable)?; // not shown yet
                Ok(self.replayed(&id, answer))
            }
            Plan::Conflict { ours } => {
                let caller = input.caller;
                drop(input); // frees its bytes before the wait for the store
                self.replay_ours(caller, &ours).await
            }
            Plan::Record(mut prepared, replay) => {
                prepared.metadata.summary.replay = Some(hash.to_hex());
                let scope = &input.caller.scope;
                let _reservation = input.reserve(&prepared)?; // held until both records are written
                let answer = self.record(*prepared, true).await?;
                self.keep_replay(scope, hash, replay).await?;
                Ok(Response::json(answer))
            }
        }
    }

    /// Decides the next step by comparing transaction IDs. An ID is derived from mode, unit, idempotency key
    /// and payload. So a replay record with the ID of this create request belongs to this request. A replay
    /// record with another ID belongs to another payload.
    fn plan(
        &self,
        input: &CreateInput<'_>,
        Keyed { key, hash }: &Keyed,
        known: Option<Replay>,
    ) -> Result<Plan, Problem> {
        let payload = input.payload()?;
        let fingerprint = Fingerprint::new(&api::to_json(&payload));
        let scope = &input.caller.scope;
        let ids = &Ids::Derived(Derivation::new(input.secret, scope, key, fingerprint));
        let id = input.id(&payload, ids);
        match self.first(scope, *hash, id.as_str(), known) {
            Some(first) if first.id != id.as_str() => Ok(Plan::Conflict { ours: id }),
            Some(first) if !first.terms.are_known() => Ok(Plan::Stored { id }),
            Some(first) => {
                let Prepared { answer, .. } = prepare(input, payload, ids, &first.terms)?;
                Ok(Plan::Replay { id, answer })
            }
            None => {
                let terms = input.terms(&payload, self.clock.now_ms())?;
                let prepared = prepare(input, payload, ids, &terms)?;
                let replay = Replay { id: id.into_string(), terms, version: Version };
                Ok(Plan::Record(Box::new(prepared), replay))
            }
        }
    }

    /// Selects the replay record that answers a create request. A record with the request's transaction ID
    /// `id` takes precedence over a record of another payload.
    ///
    /// Concurrent create requests in two isolates may have written two records with this ID. Then both
    /// isolates use the later one.
    fn first(
        &self,
        scope: &Scope,
        hash: ReplayHash,
        id: &str,
        known: Option<Replay>,
    ) -> Option<Replay> {
        let (recent, now_ms) = (&self.caches.recent_replays, self.clock.now_ms());
        let own = recent.of(scope, id, now_ms);
        match known {
            Some(known) if known.id == id => {
                let later = own.filter(|own| own.terms.created_at > known.terms.created_at);
                Some(later.unwrap_or(known))
            }
            other => own.or(other).or_else(|| recent.last(scope, hash, now_ms)),
        }
    }

    /// Answers a create request whose idempotency key was used with another payload. The answer is normally
    /// an error. But if both requests ran at the same time, this request may have recorded its own
    /// transaction `ours`. Then the answer is an idempotent replay of that transaction.
    async fn replay_ours(
        &self,
        caller: &Caller,
        ours: &TransactionId,
    ) -> Result<Response<S::Value>, Problem> {
        let answer = self.first_answer(caller, ours.as_str()).await?;
        answer.map(|answer| self.replayed(ours, answer)).ok_or(Problem::IdempotencyKeyReused)
    }

    /// Rebuilds the first answer to a create request from the record of the transaction `id`. Returns
    /// `None` if the store does not show the record.
    async fn first_answer(&self, caller: &Caller, id: &str) -> Result<Option<Vec<u8>>, Problem> {
        let Some(stored) = self.transaction(id).await? else { return Ok(None) };
        let bytes = self.read_transaction(stored, caller.owner()).await?;
        let retrieved: RetrievedPledgeTransaction<'_> = decode(TransactionKey::KIND, &bytes)?;
        let first = retrieved.into_created(Cow::Borrowed(id)).ok_or_else(incomplete)?;
        Ok(Some(api::to_json(&first)))
    }

    /// Writes the replay record of a recorded transaction. The service recognises a repeated create request
    /// by this record.
    async fn keep_replay(
        &self,
        scope: &Scope,
        hash: ReplayHash,
        replay: Replay,
    ) -> Result<(), Problem> {
        let record = api::to_json(&replay);
        let written = self.wait(self.store.put(&ReplayKey(hash), record, &NoMetadata)).await;
        written.map_err(|_| Problem::WriteUnconfirmed { repeatable: true })?; // not answered yet
        self.caches.recent_replays.keep(scope, hash, replay, self.clock.now_ms());
        Ok(())
    }

    fn replayed(&self, id: &TransactionId, answer: Vec<u8>) -> Response<S::Value> {
        self.request_log.transaction.get_or_init(|| id.as_str().to_owned());
        self.request_log.is_repeat.set(true);
        let mut response = Response::json(answer);
        response.headers.push((header::IDEMPOTENT_REPLAYED, Cow::Borrowed("true")));
        response
    }
}

fn incomplete() -> Problem {
    Problem::Internal("a stored transaction lacks members that this service writes".to_owned())
}
