//! What a caller asks for: untrusted bytes parsed into values that need no further check.

use super::{Amount, Impact, PledgeDetail, Recipient, Trigger};
use crate::schema::{BODY, NOTIFICATION_TYPES, Slot};
use crate::validate::Report;
use crate::validate::json::{self, Sink, Text};
use serde::Serialize;
use std::borrow::Cow;

/// A create request that obeys every rule of §4.1. Strings borrow from its bytes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PledgeTransactionRequest<'a> {
    reference: Cow<'a, str>,
    recipient: Recipient<'a>,
    pledges: Vec<PledgeRequest<'a>>,
    trigger: Trigger<'a>,
    notifications: Vec<&'static str>,
}

/// The members of a [`PledgeTransactionRequest`].
pub(crate) struct RequestParts<'a> {
    pub reference: Cow<'a, str>,
    pub recipient: Recipient<'a>,
    pub pledges: Vec<PledgeRequest<'a>>,
    pub trigger: Trigger<'a>,
    pub notifications: Vec<&'static str>,
}

/// One pledge of a request (§4.1).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PledgeRequest<'a> {
    impact: Impact<'a>,
    detail: PledgeDetail<'a>,
}

impl<'a> PledgeTransactionRequest<'a> {
    /// Parses JSON bytes.
    ///
    /// # Errors
    /// The problems, of which at most `limit` are kept and all are counted.
    pub fn parse(bytes: &'a [u8], limit: usize) -> Result<Self, Report<'a>> {
        let mut draft = Draft::default();
        let mut report = Report::keeping(limit);
        json::walk(bytes, &BODY, &mut draft, &mut report);
        match draft.finish() {
            Some(request) if report.is_empty() => Ok(request),
            _ => Err(report),
        }
    }

    /// Its members, to build the record of.
    pub(crate) fn into_parts(self) -> RequestParts<'a> {
        let PledgeTransactionRequest { reference, recipient, pledges, trigger, notifications } =
            self;
        RequestParts { reference, recipient, pledges, trigger, notifications }
    }

    /// The caller's unique reference.
    pub fn reference(&self) -> &Cow<'a, str> {
        &self.reference
    }

    /// Who the pledges are for.
    pub fn recipient(&self) -> &Recipient<'a> {
        &self.recipient
    }

    /// The pledges, at least one.
    pub fn pledges(&self) -> &[PledgeRequest<'a>] {
        &self.pledges
    }

    /// The action that caused the pledges.
    pub fn trigger(&self) -> &Trigger<'a> {
        &self.trigger
    }

    /// The notification services asked for, at most three.
    pub fn notifications(&self) -> &[&'static str] {
        &self.notifications
    }
}

impl<'a> PledgeRequest<'a> {
    /// What is pledged, and what the timeline shows of it.
    pub(crate) fn into_parts(self) -> (Impact<'a>, PledgeDetail<'a>) {
        (self.impact, self.detail)
    }

    /// What is pledged, and how much.
    pub fn impact(&self) -> &Impact<'a> {
        &self.impact
    }

    /// What the timeline shows of it.
    pub fn detail(&self) -> &PledgeDetail<'a> {
        &self.detail
    }
}

/// A request whose members arrive one by one, in any order.
#[derive(Default)]
struct Draft<'a> {
    reference: Option<Cow<'a, str>>,
    email: Option<Cow<'a, str>>,
    first_name: Option<Cow<'a, str>>,
    name: Option<Cow<'a, str>>,
    pledges: Vec<PledgeDraft<'a>>,
    trigger: Trigger<'a>,
    notifications: Vec<&'static str>,
}

#[derive(Default)]
struct PledgeDraft<'a> {
    amount: Option<Amount>,
    offering_id: Option<Cow<'a, str>>,
    detail: PledgeDetail<'a>,
}

impl<'a> Draft<'a> {
    fn finish(self) -> Option<PledgeTransactionRequest<'a>> {
        Some(PledgeTransactionRequest {
            reference: self.reference?,
            recipient: Recipient {
                email: self.email?,
                first_name: self.first_name,
                name: self.name,
            },
            pledges: self.pledges.into_iter().map(PledgeDraft::finish).collect::<Option<_>>()?,
            trigger: self.trigger,
            notifications: self.notifications,
        })
    }

    fn text_slot(&mut self, slot: Slot) -> Option<&mut Option<Cow<'a, str>>> {
        Some(match slot {
            Slot::Reference => &mut self.reference,
            Slot::RecipientEmail => &mut self.email,
            Slot::RecipientFirstName => &mut self.first_name,
            Slot::RecipientName => &mut self.name,
            Slot::TriggerDate => &mut self.trigger.date,
            Slot::TriggerPhrase => &mut self.trigger.phrase,
            Slot::TriggerExternalUrl => &mut self.trigger.external_url,
            _ => return self.pledges.last_mut()?.text_slot(slot),
        })
    }
}

impl<'a> PledgeDraft<'a> {
    fn finish(self) -> Option<PledgeRequest<'a>> {
        let impact = Impact { amount: self.amount?, offering_id: self.offering_id? };
        Some(PledgeRequest { impact, detail: self.detail })
    }

    fn text_slot(&mut self, slot: Slot) -> Option<&mut Option<Cow<'a, str>>> {
        Some(match slot {
            Slot::ImpactOfferingId => &mut self.offering_id,
            Slot::DetailName => &mut self.detail.name,
            Slot::DetailDescription => &mut self.detail.description,
            Slot::DetailNounSingular => &mut self.detail.noun_singular,
            Slot::DetailNounPlural => &mut self.detail.noun_plural,
            Slot::DetailImage => &mut self.detail.image,
            Slot::DetailExternalId => &mut self.detail.external_id,
            Slot::DetailExternalUrl => &mut self.detail.external_url,
            _ => return None,
        })
    }
}

impl<'a> Sink<'a> for Draft<'a> {
    fn begin(&mut self, slot: Slot) {
        if slot == Slot::Pledge {
            self.pledges.push(PledgeDraft::default());
        }
    }

    fn text(&mut self, slot: Slot, text: Text<'a, '_>) {
        if let Some(place) = self.text_slot(slot) {
            *place = Some(text.into_cow());
        }
    }

    fn number(&mut self, _: Slot, double: f64) {
        if let Some(pledge) = self.pledges.last_mut() {
            pledge.amount = Amount::new(double);
        }
    }

    fn choice(&mut self, _: Slot, index: usize) {
        self.notifications.extend(NOTIFICATION_TYPES.get(index));
    }
}
