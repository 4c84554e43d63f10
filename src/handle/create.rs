//! Create pledge transaction (§4.1).

use super::access::Caller;
use super::prepare::{Ids, Prepared, prepare};
use super::{Clock, Entropy, Journal, Service};
use crate::api::{self, MAX_BODY_BYTES, Operation, Problem, header};
use crate::charge::Catalogue;
use crate::http::{Address, BodyError, OWS, Request, Reservation, Response};
use crate::idempotency::{IdempotencyKey, Terms};
use crate::pledge::{CurrencyCode, Impact, PledgeTransactionRequest, TransactionId};
use crate::quantities::{MAX_MESSAGE_BYTES, Quantities};
use crate::scope::Mode;
use crate::secret::NamespaceSecret;
use crate::store::{CatalogueKey, Recorded, Store, Summary, TransactionKey};
use crate::time::date_time;
use crate::validate::summary;
use futures_util::FutureExt as _;
use std::rc::Rc;

/// Maximum number of issues of a body that the answer lists. The rest are counted.
const MAX_ISSUES: usize = 20;

impl<S: Store, C: Clock, E: Entropy> Service<'_, S, C, E> {
    /// Creates a pledge transaction.
    ///
    /// Waits for the key, the body and the prices first, and then makes the transaction without waiting. So the
    /// allocations of concurrent requests do not add up.
    pub(super) async fn create(
        &self,
        request: &impl Request,
        address: &Address<'_>,
    ) -> Result<Response<S::Value>, Problem> {
        let caller = &self.authorize(request, address, Operation::Create).await?;
        let secret = caller.secret()?;
        let idempotency_key = idempotency_key(request)?;
        let origin = self.settings.timeline_origin(address)?; // may fail, so it comes before the body is read
        let mut reservation = self.caches.in_flight.reservation(caller.owner());
        let body = read_body(request, &mut reservation).await?;
        let catalogue = match self.catalogue(caller.scope.mode).await {
            // Only a new transaction needs prices. An idempotent replay does not.
            Err(Problem::Internal(cause)) => Err(Problem::PricesUnreadable(cause)),
            other => Ok(other?),
        };
        let journal = &self.journal;
        let creation = Creation { caller, secret, body, catalogue, origin, reservation, journal };
        match idempotency_key {
            None => self.create_plain(creation).await,
            Some(key) => self.create_idempotent(creation, &key).boxed_local().await,
        }
    }

    async fn create_plain(&self, creation: Creation<'_>) -> Result<Response<S::Value>, Problem> {
        let payload = creation.payload()?;
        let terms = creation.terms(&payload, self.clock.now_ms())?;
        let prepared = prepare(&creation, payload, &Ids::Random(self.entropy), &terms)?;
        let _reservation = creation.reserve(&prepared)?; // held until the record is written
        Ok(Response::json(self.record(prepared, false).await?))
    }

    /// Writes the record, and returns the answer only after that.
    pub(super) async fn record(
        &self,
        mut prepared: Prepared,
        repeatable: bool,
    ) -> Result<Vec<u8>, Problem> {
        self.announce(&mut prepared).await;
        let Prepared { id, mut metadata, answer, record, .. } = prepared;
        let left_out = metadata.fit().filter(|_| self.ledger.is_some());
        self.journal.unpriced.set(metadata.summary.unpriced);
        self.journal.transaction.get_or_init(|| id.as_str().to_owned());
        let written = self.wait(self.store.put(&TransactionKey(&id), record, &metadata)).await;
        written.map_err(|_| Problem::WriteUnconfirmed { repeatable })?; // may have been written
        let Summary { mail, created_at, .. } = &metadata.summary;
        let unsent_since = mail.and_then(|_| created_at.clone());
        if let Some(ledger) = self.ledger {
            // Not before the write: a message without a record would be a charge without a transaction.
            ledger.send(Recorded::new(id.clone(), metadata, left_out));
        }
        if let Some(created_at) = unsent_since {
            self.list_unsent(&id, &created_at).await;
        }
        Ok(answer)
    }

    /// Returns the price list of a mode. Never falls back to the other mode's list: that could charge money for a test.
    async fn catalogue(&self, mode: Mode) -> Result<Rc<Option<Catalogue>>, Problem> {
        let now_ms = self.clock.now_ms();
        if let Some(catalogue) = self.caches.catalogues.get(&mode, now_ms) {
            return Ok(catalogue);
        }
        let catalogue = self.load(&CatalogueKey(mode)).await?;
        Ok(self.caches.catalogues.keep(mode, catalogue, now_ms))
    }
}

/// The input of a create.
pub(super) struct Creation<'r> {
    pub caller: &'r Caller,
    pub secret: &'r NamespaceSecret,
    body: Vec<u8>,
    catalogue: Result<Rc<Option<Catalogue>>, Problem>,
    origin: &'r str,
    reservation: Reservation<'r>,
    journal: &'r Journal,
}

impl<'r> Creation<'r> {
    pub fn payload(&self) -> Result<PledgeTransactionRequest<'_>, Problem> {
        PledgeTransactionRequest::parse(&self.body, MAX_ISSUES).map_err(|report| {
            let (count, issues) = (report.count(), report.into_issues());
            issues.first().map(|first| self.journal.issue.get_or_init(|| first.into()));
            Problem::InvalidRequest(summary(&issues, count))
        })
    }

    /// Returns the terms of a create at this moment.
    pub fn terms(
        &self,
        payload: &PledgeTransactionRequest<'_>,
        now_ms: u64,
    ) -> Result<Terms, Problem> {
        let none = Catalogue::default(); // nothing has a price
        let catalogue = self.catalogue.as_ref().map_err(Problem::clone)?;
        let catalogue = (**catalogue).as_ref().unwrap_or(&none);
        Ok(Terms {
            created_at: date_time(now_ms),
            amount: catalogue.amount(impacts(payload)),
            currency_code: catalogue.currency_code.code().to_owned(),
            origin: self.origin.to_owned(),
        })
    }

    /// Returns the summary of a transaction, for its metadata.
    pub fn summary(&self, payload: &PledgeTransactionRequest<'_>, terms: &Terms) -> Summary {
        let (scope, email) = (&self.caller.scope, &payload.recipient.email);
        let catalogue = self.catalogue.as_ref().ok().and_then(|catalogue| (**catalogue).as_ref());
        let unpriced = |catalogue: &Catalogue| catalogue.unpriced(impacts(payload));
        Summary {
            created_at: Some(terms.created_at.clone()),
            amount: Some(terms.amount.clone()),
            currency_code: CurrencyCode::from_code(&terms.currency_code),
            unpriced: catalogue.map(unpriced).filter(|count| *count > 0),
            lookup: Some(self.secret.hashes(scope, &payload.reference, email)),
            key: Some(self.caller.key.id()),
            prices: catalogue.and_then(|catalogue| catalogue.prices.clone()),
            quantities: Quantities::of(impacts(payload), MAX_MESSAGE_BYTES),
            ..Summary::default()
        }
    }

    /// Returns the ID of the transaction.
    pub fn id(&self, payload: &PledgeTransactionRequest<'_>, ids: &Ids<'_>) -> TransactionId {
        let unique = ids.bytes("transaction", 0);
        TransactionId::new(self.secret, &self.caller.scope, &payload.reference, unique)
    }

    /// Frees the body, and reserves bytes for the answer and the record instead.
    pub fn reserve(self, prepared: &Prepared) -> Result<Reservation<'r>, Problem> {
        let Creation { body, mut reservation, .. } = self;
        drop(body); // frees it before the other bytes are reserved
        let bytes = prepared.answer.len().saturating_add(prepared.record.len());
        reservation.resize(bytes)?;
        Ok(reservation)
    }
}

fn impacts<'p, 'a>(
    payload: &'p PledgeTransactionRequest<'a>,
) -> impl Iterator<Item = &'p Impact<'a>> {
    payload.pledges.iter().map(|pledge| &pledge.impact)
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
    request.body(MAX_BODY_BYTES, reservation).await.map_err(|error| match error {
        BodyError::TooLarge => Problem::ContentTooLarge,
        BodyError::Busy => Problem::Busy,
        BodyError::Broken => Problem::UnreadableBody,
        BodyError::Slow => Problem::SlowBody,
    })
}
