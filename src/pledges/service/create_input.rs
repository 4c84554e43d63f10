//! The input of a create request, and what is computed from it.

use super::RequestLog;
use super::access::Caller;
use super::prepared::{Ids, Prepared};
use crate::pledges::api::Problem;
use crate::pledges::charge::PriceList;
use crate::pledges::http::Reservation;
use crate::pledges::idempotency::Terms;
use crate::pledges::quantities::{MAX_MESSAGE_BYTES, Quantities};
use crate::pledges::secret::NamespaceSecret;
use crate::pledges::store::Summary;
use crate::pledges::time::date_time;
use crate::pledges::types::{
    CurrencyCode, Impact, NotificationService, PledgeTransactionRequest, TransactionId,
};
use crate::pledges::validate::summary;
use std::rc::Rc;

/// Maximum number of a body's issues that the answer lists. Further issues are only counted.
const MAX_ISSUES: usize = 20;

pub(super) struct CreateInput<'r> {
    pub caller: &'r Caller,
    pub secret: &'r NamespaceSecret,
    pub body: Vec<u8>,
    pub price_list: Result<Rc<Option<PriceList>>, Problem>,
    /// The services that may notify recipients, of those that the body may ask for.
    pub deliverable: Vec<NotificationService>,
    pub origin: &'r str,
    pub reservation: Reservation<'r>,
    pub request_log: &'r RequestLog,
}

impl<'r> CreateInput<'r> {
    pub fn payload(&self) -> Result<PledgeTransactionRequest<'_>, Problem> {
        PledgeTransactionRequest::parse(&self.body, MAX_ISSUES).map_err(|report| {
            let (count, issues) = (report.count(), report.into_issues());
            issues.first().map(|first| self.request_log.issue.get_or_init(|| first.into()));
            Problem::InvalidRequest(summary(&issues, count))
        })
    }

    /// Returns the terms of a create request: the current time, the charge by the price list, and the origin of links.
    pub fn terms(
        &self,
        payload: &PledgeTransactionRequest<'_>,
        now_ms: u64,
    ) -> Result<Terms, Problem> {
        let none = PriceList::default(); // nothing has a price
        let price_list = self.price_list.as_ref().map_err(Problem::clone)?;
        let price_list = (**price_list).as_ref().unwrap_or(&none);
        Ok(Terms {
            created_at: date_time(now_ms),
            amount: price_list.amount(impacts(payload)),
            currency_code: price_list.currency_code.code().to_owned(),
            origin: self.origin.to_owned(),
        })
    }

    pub fn summary(&self, payload: &PledgeTransactionRequest<'_>, terms: &Terms) -> Summary {
        let (scope, email) = (&self.caller.scope, &payload.recipient.email);
        let price_list =
            self.price_list.as_ref().ok().and_then(|price_list| (**price_list).as_ref());
        let unpriced = |price_list: &PriceList| price_list.unpriced(impacts(payload));
        Summary {
            created_at: Some(terms.created_at.clone()),
            amount: Some(terms.amount.clone()),
            currency_code: CurrencyCode::from_code(&terms.currency_code),
            unpriced: price_list.map(unpriced).filter(|count| *count > 0),
            lookup: Some(self.secret.hashes(scope, &payload.reference, email)),
            key: Some(self.caller.key.id()),
            prices: price_list.and_then(|price_list| price_list.prices.clone()),
            quantities: Quantities::of(impacts(payload), MAX_MESSAGE_BYTES),
            ..Summary::default()
        }
    }

    pub fn id(&self, payload: &PledgeTransactionRequest<'_>, ids: &Ids<'_>) -> TransactionId {
        let unique = ids.bytes("transaction", 0);
        TransactionId::new(self.secret, &self.caller.scope, &payload.reference, unique)
    }

    /// Frees the memory of the body, and reserves memory for the answer and the record instead.
    pub fn reserve(self, prepared: &Prepared) -> Result<Reservation<'r>, Problem> {
        let CreateInput { body, mut reservation, .. } = self;
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
