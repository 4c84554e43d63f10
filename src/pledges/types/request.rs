//! Parses untrusted bytes into requests, whose values then need no further check.

use super::amount::Amount;
use super::record::{Impact, PledgeDetail, Recipient, Trigger};
use crate::pledges::schema::{BODY, NOTIFICATION_TYPES, Slot};
use crate::pledges::validate::json;
use crate::pledges::validate::json::Visitor;
use crate::pledges::validate::{Report, Text};
use serde::Serialize;
use std::borrow::Cow;

/// A create request that follows every rule of §4.1. Only [`parse`](Self::parse) makes one.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PledgeTransactionRequest<'a> {
    pub reference: Cow<'a, str>,
    pub recipient: Recipient<'a>,
    /// The pledges: at least one.
    pub pledges: Vec<PledgeRequest<'a>>,
    pub trigger: Trigger<'a>,
    pub notifications: Vec<&'static str>,
}

/// One pledge of a request (§4.1).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PledgeRequest<'a> {
    pub impact: Impact<'a>,
    pub detail: PledgeDetail<'a>,
}

impl<'a> PledgeTransactionRequest<'a> {
    /// Parses JSON bytes.
    ///
    /// # Errors
    /// The issues of the request. The report keeps at most `limit` of them, but counts all.
    pub fn parse(bytes: &'a [u8], limit: usize) -> Result<Self, Report<'a>> {
        let mut request = Self::default();
        let mut report = Report::with_limit(limit);
        json::walk(bytes, &BODY, &mut request, &mut report);
        if report.is_empty() { Ok(request) } else { Err(report) }
    }
}

/// Replaces the placeholders of a request with the values that the parser finds. A valid request has no
/// placeholder left, because a missing required member is reported as an issue.
impl<'a> Visitor<'a> for PledgeTransactionRequest<'a> {
    fn visit_object(&mut self, slot: Slot) {
        if slot == Slot::Pledge {
            let impact = Impact { amount: Amount::ONE, offering_id: Cow::default() };
            self.pledges.push(PledgeRequest { impact, detail: PledgeDetail::default() });
        }
    }

    fn visit_text(&mut self, slot: Slot, text: Text<'a, '_>) {
        let text = text.into_cow();
        match slot {
            Slot::Reference => self.reference = text,
            Slot::RecipientEmail => self.recipient.email = text,
            Slot::RecipientFirstName => self.recipient.first_name = Some(text),
            Slot::RecipientName => self.recipient.name = Some(text),
            Slot::TriggerDate => self.trigger.date = Some(text),
            Slot::TriggerPhrase => self.trigger.phrase = Some(text),
            Slot::TriggerExternalUrl => self.trigger.external_url = Some(text),
            _ => {
                if let Some(pledge) = self.pledges.last_mut() {
                    pledge.set(slot, text);
                }
            }
        }
    }

    fn visit_number(&mut self, _: Slot, double: f64) {
        if let Some((pledge, amount)) = self.pledges.last_mut().zip(Amount::new(double)) {
            pledge.impact.amount = amount;
        }
    }

    fn visit_choice(&mut self, _: Slot, index: usize) {
        self.notifications.extend(NOTIFICATION_TYPES.get(index));
    }
}

impl<'a> PledgeRequest<'a> {
    fn set(&mut self, slot: Slot, text: Cow<'a, str>) {
        match slot {
            Slot::ImpactOfferingId => self.impact.offering_id = text,
            Slot::DetailName => self.detail.name = Some(text),
            Slot::DetailDescription => self.detail.description = Some(text),
            Slot::DetailNounSingular => self.detail.noun_singular = Some(text),
            Slot::DetailNounPlural => self.detail.noun_plural = Some(text),
            Slot::DetailImage => self.detail.image = Some(text),
            Slot::DetailExternalId => self.detail.external_id = Some(text),
            Slot::DetailExternalUrl => self.detail.external_url = Some(text),
            _ => {}
        }
    }
}
