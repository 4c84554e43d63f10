//! Create pledge transaction (§4.1).

use super::access::Caller;
use super::route::Address;
use super::{BodyError, Clock, Entropy, Request, Response, Service, decode};
use crate::api::create::{self, MAX_BODY_BYTES};
use crate::api::get::MAX_ANSWER_BYTES;
use crate::api::{self, EDIT_KEY_PARAMETER, Operation, Problem, TIMELINE_PATH, header};
use crate::charge::Catalogue;
use crate::idempotency::{Derivation, Fingerprint, IdempotencyKey, Replay, ReplayHash};
use crate::pledge::{
    Charge, EditKey, Notification, Pledge, PledgeId, PledgeTransaction, PledgeTransactionRequest,
    TransactionId,
};
use crate::store::{Access, CatalogueKey, ReplayKey, Store, StoredValue as _, TransactionKey};
use crate::validate::summary;
use std::borrow::Cow;
use std::rc::Rc;
use std::time::{Duration, SystemTime};

/// How many problems of a body are told; the rest are counted.
const MAX_ISSUES: usize = 20;

impl<S: Store, C: Clock, E: Entropy> Service<'_, S, C, E> {
    pub(super) async fn create(
        &self,
        request: &impl Request,
        address: &Address<'_>,
    ) -> Response<S::Value> {
        let caller = match self.authorize(request, Operation::Create).await {
            Ok(caller) => caller,
            Err(refusal) => return refusal.into(),
        };
        match self.create_for(&caller, request, address).await {
            Ok(response) => response,
            Err(problem) => problem.with_mode(caller.is_live()).into(),
        }
    }

    async fn create_for(
        &self,
        caller: &Caller,
        request: &impl Request,
        address: &Address<'_>,
    ) -> Result<Response<S::Value>, Problem> {
        let idempotency_key = idempotency_key(request)?;
        let body = read_body(request).await?;
        let payload = PledgeTransactionRequest::parse(&body, MAX_ISSUES).map_err(|report| {
            let count = report.count();
            Problem::InvalidRequest(summary(&report.into_issues(), count))
        })?;
        match idempotency_key {
            None => self.record(caller, &payload, address, &Ids::Random(self.entropy)).await,
            Some(key) => self.record_once(caller, &payload, address, &key).await,
        }
    }

    /// Makes the transaction and keeps it before anybody is told of it.
    async fn record(
        &self,
        caller: &Caller,
        payload: &PledgeTransactionRequest<'_>,
        address: &Address<'_>,
        ids: &Ids<'_, E>,
    ) -> Result<Response<S::Value>, Problem> {
        let catalogue = self.catalogue().await?;
        let id = TransactionId::from_bytes(ids.bytes("transaction", 0));
        let edit_key = EditKey::from_bytes(ids.bytes("edit_key", 0));
        let transaction = PledgeTransaction {
            id: Cow::Borrowed(id.as_str()),
            reference: payload.reference().clone(),
            created_at: Cow::Owned(date_time(self.clock.now_ms())),
            is_live: caller.is_live(),
            charge: charge(&catalogue, payload),
            recipient: payload.recipient().clone(),
            trigger: payload.trigger().clone(),
            pledges: pledges(payload, ids),
            notifications: notifications(payload),
            timeline_url: Cow::Owned(timeline_url(address, &id, &edit_key)),
        };
        let answer = create::encode(&transaction);
        check_record_size(&answer, &transaction)?;
        let stored = api::get::encode(&transaction.into_retrieved());
        let access = Access::new(caller.scope.clone(), &edit_key);
        self.store.put(&TransactionKey(&id), stored, &access).await?;
        Ok(Response::json(answer))
    }

    /// Makes the transaction unless this key has made it already.
    async fn record_once(
        &self,
        caller: &Caller,
        payload: &PledgeTransactionRequest<'_>,
        address: &Address<'_>,
        key: &IdempotencyKey,
    ) -> Result<Response<S::Value>, Problem> {
        let canonical = create::canonical(payload);
        let fingerprint = Fingerprint::new(&canonical);
        let replay_key = ReplayKey(ReplayHash::new(&caller.scope, key));
        if let Some(replayed) = self.replay(&replay_key, fingerprint).await? {
            return Ok(replayed);
        }
        let api_key = caller.api_key();
        let derivation = Derivation::new(api_key, &caller.scope, key, fingerprint)
            .map_err(|error| Problem::Internal(error.to_string()))?;
        let id = TransactionId::from_bytes(derivation.bytes("transaction", 0));
        let response = self.record(caller, payload, address, &Ids::Derived(derivation)).await?;
        let replay = Replay { id: id.into_string(), fingerprint: fingerprint.to_hex() };
        self.store.put(&replay_key, api::to_json(&replay), &()).await?;
        Ok(response)
    }

    /// The first answer again, if there was one and its record can be seen from here.
    async fn replay(
        &self,
        key: &ReplayKey,
        fingerprint: Fingerprint,
    ) -> Result<Option<Response<S::Value>>, Problem> {
        let Some(stored) = self.store.get(key).await? else { return Ok(None) };
        let bytes = stored.value.read().await?;
        let replay = decode("repeat", serde_json::from_slice::<Replay>(&bytes))?;
        if replay.fingerprint != fingerprint.to_hex() {
            return Err(Problem::IdempotencyKeyReused);
        }
        let Some(stored) = self.transaction(&replay.id).await? else { return Ok(None) };
        let bytes = stored.value.read().await?;
        let retrieved = decode("transaction", api::get::decode(&bytes))?;
        let first = retrieved.into_created(Cow::Owned(replay.id)).ok_or_else(incomplete)?;
        let mut response = Response::json(create::encode(&first));
        response.headers.push((header::IDEMPOTENT_REPLAYED, Cow::Borrowed("true")));
        Ok(Some(response))
    }

    async fn catalogue(&self) -> Result<Rc<Catalogue>, Problem> {
        let now_ms = self.clock.now_ms();
        if let Some(catalogue) = self.caches.catalogue(now_ms) {
            return Ok(catalogue);
        }
        let catalogue = match self.store.get(&CatalogueKey).await? {
            None => Catalogue::default(),
            Some(stored) => {
                let bytes = stored.value.read().await?;
                decode("catalogue", serde_json::from_slice(&bytes))?
            }
        };
        Ok(self.caches.keep_catalogue(catalogue, now_ms))
    }
}

fn incomplete() -> Problem {
    Problem::Internal("a stored transaction lacks members that this service writes".to_owned())
}

/// Refuses a record before it is made: in it each pledge has a copy of the recipient (§4.2), so that
/// a small body could ask for gigabytes.
fn check_record_size(answer: &[u8], transaction: &PledgeTransaction<'_>) -> Result<(), Problem> {
    let recipient = api::to_json(&transaction.recipient).len();
    let copies = recipient.saturating_mul(transaction.pledges.len());
    let fits = answer.len().saturating_add(copies) <= MAX_ANSWER_BYTES;
    fits.then_some(()).ok_or(Problem::RecordTooLarge)
}

fn idempotency_key(request: &impl Request) -> Result<Option<IdempotencyKey>, Problem> {
    match request.header(header::IDEMPOTENCY_KEY) {
        None => Ok(None),
        Some(text) => IdempotencyKey::parse(&text).map(Some).ok_or(Problem::InvalidIdempotencyKey),
    }
}

async fn read_body(request: &impl Request) -> Result<Vec<u8>, Problem> {
    let json = request.header(header::CONTENT_TYPE).is_some_and(|value| api::is_json(&value));
    if !json || request.header(header::CONTENT_ENCODING).is_some() {
        return Err(Problem::UnsupportedMediaType);
    }
    let length = request.header(header::CONTENT_LENGTH).and_then(|text| text.parse::<u64>().ok());
    if length.is_some_and(|length| length > MAX_BODY_BYTES as u64) {
        return Err(Problem::ContentTooLarge);
    }
    request.body(MAX_BODY_BYTES).await.map_err(|error| match error {
        BodyError::TooLarge => Problem::ContentTooLarge,
        BodyError::Broken => Problem::UnreadableBody,
    })
}

/// Where ids come from: drawn, or derived from an idempotency key.
enum Ids<'s, E> {
    Random(&'s E),
    Derived(Derivation),
}

impl<E: Entropy> Ids<'_, E> {
    fn bytes<const N: usize>(&self, purpose: &str, index: usize) -> [u8; N] {
        match self {
            Ids::Derived(derivation) => derivation.bytes(purpose, index),
            Ids::Random(entropy) => {
                let mut bytes = [0; N];
                entropy.fill(&mut bytes);
                bytes
            }
        }
    }
}

fn pledges<'a, E: Entropy>(
    payload: &PledgeTransactionRequest<'a>,
    ids: &Ids<'_, E>,
) -> Vec<Pledge<'a>> {
    let pledge = |(index, pledge): (usize, &crate::pledge::PledgeRequest<'a>)| Pledge {
        id: Cow::Owned(PledgeId::from_bytes(ids.bytes("pledge", index)).into_string()),
        impact: pledge.impact().clone(),
        detail: pledge.detail().clone(),
    };
    payload.pledges().iter().enumerate().map(pledge).collect()
}

fn charge(catalogue: &Catalogue, payload: &PledgeTransactionRequest<'_>) -> Charge<'static> {
    let impacts = payload.pledges().iter().map(|pledge| pledge.impact());
    Charge {
        amount: Cow::Owned(catalogue.amount(impacts)),
        currency_code: catalogue.currency_code,
        paid_at: None,
    }
}

fn notifications(payload: &PledgeTransactionRequest<'_>) -> Vec<Notification<'static>> {
    let pending = |kind: &&'static str| Notification {
        kind: Cow::Borrowed(*kind),
        status: Cow::Borrowed("Pending"),
    };
    payload.notifications().iter().map(pending).collect()
}

fn timeline_url(address: &Address<'_>, id: &TransactionId, edit_key: &EditKey) -> String {
    format!("{}{TIMELINE_PATH}/{id}?{EDIT_KEY_PARAMETER}={edit_key}", address.origin)
}

/// RFC 3339 with milliseconds, such as `2026-01-31T12:00:00.000Z`.
fn date_time(now_ms: u64) -> String {
    let now = SystemTime::UNIX_EPOCH + Duration::from_millis(now_ms);
    humantime::format_rfc3339_millis(now).to_string()
}
