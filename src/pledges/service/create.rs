//! The operation "Create pledge transaction" (§4.1).

use super::create_input::CreateInput;
use super::prepare::prepare;
use super::prepared::{Ids, Prepared};
use super::repeat::Keyed;
use super::{Clock, Entropy, Recipients, Service};
use crate::pledges::api;
use crate::pledges::api::{MAX_BODY_BYTES, Operation, Problem, header};
use crate::pledges::http::{Address, OWS, Request, Reservation, Response};
use crate::pledges::idempotency::IdempotencyKey;
use crate::pledges::store::{Recorded, Store, TransactionKey};
use futures_util::FutureExt as _;
use futures_util::future::join3;

impl<S: Store, C: Clock, E: Entropy, R: Recipients> Service<'_, S, C, E, R> {
    /// Creates a pledge transaction.
    ///
    /// First waits for the key, the body, and then for all further records at once. Then makes the transaction
    /// without any further wait. So only one request at a time needs memory for making its transaction.
    pub(super) async fn create(
        &self,
        request: &impl Request,
        address: &Address<'_>,
    ) -> Result<Response<S::Value>, Problem> {
        let caller = &self.authorize(request, address, Operation::Create).await?;
        let secret = caller.secret()?;
        let keyed = idempotency_key(request)?.map(|key| Keyed::new(key, secret, &caller.scope));
        let origin = self.settings.timeline_origin(address)?; // may fail, so it comes before the body is read
        let mut reservation = self.caches.in_flight.reservation(caller.owner());
        let body = read_body(request, &mut reservation).await?;
        let reads = join3(
            self.price_list(&caller.scope),
            self.known_replay(keyed.as_ref()),
            self.deliverable(&caller.scope, &body),
        );
        let (price_list, known, deliverable) = reads.boxed_local().await;
        let price_list = match price_list {
            // Only a new transaction needs prices. An idempotent replay does not.
            Err(Problem::Internal(cause)) => Err(Problem::PricesUnreadable(cause)),
            other => Ok(other?),
        };
        let request_log = &self.request_log;
        let input = CreateInput {
            caller,
            secret,
            body,
            price_list,
            deliverable,
            origin,
            reservation,
            request_log,
        };
        let known = known?;
        match keyed {
            None => self.create_plain(input).await,
            Some(keyed) => self.create_idempotent(input, &keyed, known).boxed_local().await,
        }
    }

    async fn create_plain(&self, input: CreateInput<'_>) -> Result<Response<S::Value>, Problem> {
        let payload = input.payload()?;
        let terms = input.terms(&payload, self.clock.now_ms())?;
        let prepared = prepare(&input, payload, &Ids::Random(self.entropy), &terms)?;
        let _reservation = input.reserve(&prepared)?; // held until the record is written
        Ok(Response::json(self.record(prepared, false).await?))
    }

    /// Writes the record. Returns the answer only after the write is confirmed.
    pub(super) async fn record(
        &self,
        mut prepared: Prepared,
        repeatable: bool,
    ) -> Result<Vec<u8>, Problem> {
        self.enqueue_notifications(&mut prepared).await;
        let Prepared { id, mut metadata, answer, record, .. } = prepared;
        let left_out = metadata.fit().filter(|_| self.ledger.is_some());
        self.request_log.unpriced.set(metadata.summary.unpriced);
        self.request_log.transaction.get_or_init(|| id.as_str().to_owned());
        let written = self.wait(self.store.put(&TransactionKey(&id), record, &metadata)).await;
        written.map_err(|_| Problem::WriteUnconfirmed { repeatable })?; // may have been written
        let unsent: Vec<_> = metadata.summary.unsent().collect();
        let created_at = metadata.summary.created_at.clone().unwrap_or_default();
        if let Some(ledger) = self.ledger {
            // Not before the write: a message without a record would be a charge without a transaction.
            ledger.send(Recorded::new(id.clone(), metadata, left_out));
        }
        if !unsent.is_empty() {
            self.list_unsent(&id, &created_at, &unsent).await;
        }
        Ok(answer)
    }
}

fn idempotency_key(request: &impl Request) -> Result<Option<IdempotencyKey>, Problem> {
    let key = request.header(header::IDEMPOTENCY_KEY);
    key.map(|text| IdempotencyKey::parse(&text).ok_or(Problem::InvalidIdempotencyKey)).transpose()
}

async fn read_body(
    request: &impl Request,
    reservation: &mut Reservation<'_>,
) -> Result<Vec<u8>, Problem> {
    let json = request.header(header::CONTENT_TYPE).is_some_and(|value| api::is_json(&value));
    let is_encoded = |coding: String| !coding.trim_matches(OWS).eq_ignore_ascii_case("identity");
    if !json || request.header(header::CONTENT_ENCODING).is_some_and(is_encoded) {
        return Err(Problem::UnsupportedMediaType);
    }
    let length = request.header(header::CONTENT_LENGTH).and_then(|text| text.parse::<u64>().ok());
    if length.is_some_and(|length| length > MAX_BODY_BYTES as u64) {
        return Err(Problem::ContentTooLarge);
    }
    body(request, reservation).boxed_local().await
}

/// Reads a body of at most [`MAX_BODY_BYTES`].
pub(super) async fn body(
    request: &impl Request,
    reservation: &mut Reservation<'_>,
) -> Result<Vec<u8>, Problem> {
    Ok(request.body(MAX_BODY_BYTES, reservation).await?)
}
