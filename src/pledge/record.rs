//! What the service keeps and answers (§2, §4.2).
//!
//! Each type is one JSON object of the contract. Members that may be null are `Option`s, and absent
//! members read as null. The service writes and reads them by [`json`](crate::json), which the tests
//! hold to serde's derived coders.

use super::Amount;
use crate::decimal::{Decimal, number_as_money};
use crate::json::{Decode, Encode, Mismatch, Object, Value, object};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::fmt::{self, Formatter};

/// A pledge transaction, as the create operation answers it (§2.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PledgeTransaction<'a> {
    /// Unique ID: `ptran_` and an opaque identifier.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// The caller's unique reference.
    pub reference: Cow<'a, str>,
    /// Creation time, an RFC 3339 date-time.
    pub created_at: Cow<'a, str>,
    /// Whether a live key made it.
    pub is_live: bool,
    /// Its monetary value.
    pub charge: Charge<'a>,
    /// Who the pledges are for.
    pub recipient: Recipient<'a>,
    /// The action that caused the pledges.
    pub trigger: Trigger<'a>,
    /// One entry per requested pledge.
    pub pledges: Vec<Pledge<'a>>,
    /// One entry per requested notification service.
    pub notifications: Vec<Notification<'a>>,
    /// Address of the timeline: for the recipient only.
    pub timeline_url: Cow<'a, str>,
}

/// A pledge transaction, as the get operation answers it (§4.2).
///
/// The members in `Option`s are those that the contract lets a service leave out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RetrievedPledgeTransaction<'a> {
    /// Creation time, an RFC 3339 date-time.
    #[serde(borrow)]
    pub created_at: Cow<'a, str>,
    /// The caller's unique reference.
    pub reference: Cow<'a, str>,
    /// Whether a live key made it.
    pub is_live: bool,
    /// Its monetary value.
    pub charge: Charge<'a>,
    /// The action that caused the pledges.
    pub trigger: Trigger<'a>,
    /// The pledges.
    pub pledges: Vec<RetrievedPledge<'a>>,
    /// Statuses of the notification services.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notifications: Option<Vec<Notification<'a>>>,
    /// Address of the timeline: for the recipient only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeline_url: Option<Cow<'a, str>>,
}

/// The monetary value of a transaction (§2.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Charge<'a> {
    /// A decimal with two places. Reads a number as well.
    #[serde(borrow, deserialize_with = "string_or_number")]
    pub amount: Cow<'a, str>,
    /// The currency of `amount`.
    pub currency_code: CurrencyCode,
    /// When it was paid; `None` until then.
    pub paid_at: Option<Cow<'a, str>>,
}

/// The currencies of the contract (§2.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[expect(missing_docs, reason = "ISO 4217 codes")]
pub enum CurrencyCode {
    #[default]
    Usd,
    Gbp,
    Eur,
}

impl CurrencyCode {
    /// Every currency, in order of declaration.
    pub const ALL: &'static [CurrencyCode] =
        &[CurrencyCode::Usd, CurrencyCode::Gbp, CurrencyCode::Eur];

    /// The ISO 4217 code.
    pub const fn as_str(self) -> &'static str {
        match self {
            CurrencyCode::Usd => "USD",
            CurrencyCode::Gbp => "GBP",
            CurrencyCode::Eur => "EUR",
        }
    }
}

/// Who a pledge is for (§2.3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Recipient<'a> {
    /// E-mail address.
    #[serde(borrow)]
    pub email: Cow<'a, str>,
    /// First name.
    pub first_name: Option<Cow<'a, str>>,
    /// Full name.
    pub name: Option<Cow<'a, str>>,
}

/// The action that caused the pledges (§2.4).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Trigger<'a> {
    /// When the action was triggered, an RFC 3339 date-time.
    #[serde(borrow)]
    pub date: Option<Cow<'a, str>>,
    /// A short verb phrase such as "placed an order".
    pub phrase: Option<Cow<'a, str>>,
    /// Address of the action.
    pub external_url: Option<Cow<'a, str>>,
}

/// A pledge of a [`PledgeTransaction`] (§2.5).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pledge<'a> {
    /// Unique ID: `p_` and an opaque identifier.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// What is pledged, and how much.
    pub impact: Impact<'a>,
    /// What the timeline shows of it.
    pub detail: PledgeDetail<'a>,
}

/// A pledge of a [`RetrievedPledgeTransaction`] (§4.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RetrievedPledge<'a> {
    /// Unique ID: `p_` and an opaque identifier.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// What is pledged, and how much.
    pub impact: Impact<'a>,
    /// What the timeline shows of it: always one entry from this service.
    pub details: Vec<PledgeDetail<'a>>,
    /// Who the pledge is for.
    pub recipient: Recipient<'a>,
}

/// A quantity of one impact offering (§2.5).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Impact<'a> {
    /// The quantity.
    pub amount: Amount,
    /// ID of the offering.
    #[serde(borrow)]
    pub offering_id: Cow<'a, str>,
}

/// Descriptive members of a pledge (§2.5).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PledgeDetail<'a> {
    /// Name of the pledge.
    #[serde(borrow)]
    pub name: Option<Cow<'a, str>>,
    /// Description of the pledge.
    pub description: Option<Cow<'a, str>>,
    /// Singular noun for the item category.
    pub noun_singular: Option<Cow<'a, str>>,
    /// Plural noun for the item category.
    pub noun_plural: Option<Cow<'a, str>>,
    /// Address of an image.
    pub image: Option<Cow<'a, str>>,
    /// The caller's ID of the item.
    pub external_id: Option<Cow<'a, str>>,
    /// Address of the item.
    pub external_url: Option<Cow<'a, str>>,
}

/// A notification service that was asked for (§2.6).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Notification<'a> {
    /// The service.
    #[serde(borrow, rename = "type")]
    pub kind: Cow<'a, str>,
    /// `Pending`, the only value that the contract shows.
    pub status: Cow<'a, str>,
}

// ---- As JSON -------------------------------------------------------------------------------------

impl Encode for PledgeTransaction<'_> {
    fn encode(&self, out: &mut Vec<u8>) {
        object!(
            out,
            "id": self.id,
            "reference": self.reference,
            "createdAt": self.created_at,
            "isLive": self.is_live,
            "charge": self.charge,
            "recipient": self.recipient,
            "trigger": self.trigger,
            "pledges": self.pledges,
            "notifications": self.notifications,
            "timelineUrl": self.timeline_url,
        );
    }
}

/// This service has all members that the contract lets a service leave out.
impl Encode for RetrievedPledgeTransaction<'_> {
    fn encode(&self, out: &mut Vec<u8>) {
        object!(
            out,
            "createdAt": self.created_at,
            "reference": self.reference,
            "isLive": self.is_live,
            "charge": self.charge,
            "trigger": self.trigger,
            "pledges": self.pledges,
            "notifications": self.notifications,
            "timelineUrl": self.timeline_url,
        );
    }
}

impl Encode for Charge<'_> {
    fn encode(&self, out: &mut Vec<u8>) {
        let currency = self.currency_code.as_str();
        object!(out, "amount": self.amount, "currencyCode": currency, "paidAt": self.paid_at);
    }
}

impl Encode for Recipient<'_> {
    fn encode(&self, out: &mut Vec<u8>) {
        object!(out, "email": self.email, "firstName": self.first_name, "name": self.name);
    }
}

impl Encode for Trigger<'_> {
    fn encode(&self, out: &mut Vec<u8>) {
        let url = &self.external_url;
        object!(out, "date": self.date, "phrase": self.phrase, "externalUrl": url);
    }
}

impl Encode for Pledge<'_> {
    fn encode(&self, out: &mut Vec<u8>) {
        object!(out, "id": self.id, "impact": self.impact, "detail": self.detail);
    }
}

impl Encode for RetrievedPledge<'_> {
    fn encode(&self, out: &mut Vec<u8>) {
        object!(
            out,
            "id": self.id,
            "impact": self.impact,
            "details": self.details,
            "recipient": self.recipient,
        );
    }
}

impl Encode for Impact<'_> {
    fn encode(&self, out: &mut Vec<u8>) {
        object!(out, "amount": self.amount, "offeringId": self.offering_id);
    }
}

impl Encode for PledgeDetail<'_> {
    fn encode(&self, out: &mut Vec<u8>) {
        object!(
            out,
            "name": self.name,
            "description": self.description,
            "nounSingular": self.noun_singular,
            "nounPlural": self.noun_plural,
            "image": self.image,
            "externalId": self.external_id,
            "externalUrl": self.external_url,
        );
    }
}

impl Encode for Notification<'_> {
    fn encode(&self, out: &mut Vec<u8>) {
        object!(out, "type": self.kind, "status": self.status);
    }
}

impl<'a> Decode<'a> for RetrievedPledgeTransaction<'a> {
    fn decode(value: Value<'a>) -> Result<Self, Mismatch> {
        let mut members = value.object("it")?;
        Ok(RetrievedPledgeTransaction {
            created_at: members.text("createdAt")?,
            reference: members.text("reference")?,
            is_live: members.bool("isLive")?,
            charge: Charge::decode(members.take("charge"))?,
            trigger: Trigger::decode(members.take("trigger"))?,
            pledges: members.array("pledges", RetrievedPledge::decode)?,
            notifications: match members.take("notifications") {
                Value::Null => None,
                value => Some(value.array("notifications", Notification::decode)?),
            },
            timeline_url: members.optional_text("timelineUrl")?,
        })
    }
}

impl<'a> Decode<'a> for Charge<'a> {
    fn decode(value: Value<'a>) -> Result<Self, Mismatch> {
        let mut members = value.object("charge")?;
        Ok(Charge {
            amount: money(members.take("amount"))?,
            currency_code: CurrencyCode::take(&mut members)?,
            paid_at: members.optional_text("paidAt")?,
        })
    }
}

/// §2.2: on retrieval the amount can be a string or a number.
fn money(value: Value<'_>) -> Result<Cow<'_, str>, Mismatch> {
    match value {
        Value::Number(number) => number_as_money(number.as_bytes())
            .map(Cow::Owned)
            .ok_or(Mismatch::member("amount", "a finite number")),
        value => value.text("amount"),
    }
}

impl CurrencyCode {
    /// Takes a currency out of an object.
    pub(crate) fn take(members: &mut Object<'_>) -> Result<Self, Mismatch> {
        let text = members.text("currencyCode")?;
        let code = CurrencyCode::ALL.iter().find(|code| code.as_str() == text);
        code.copied().ok_or(Mismatch::member("currencyCode", "one of `USD`, `GBP` and `EUR`"))
    }
}

impl<'a> Decode<'a> for Recipient<'a> {
    fn decode(value: Value<'a>) -> Result<Self, Mismatch> {
        let mut members = value.object("recipient")?;
        Ok(Recipient {
            email: members.text("email")?,
            first_name: members.optional_text("firstName")?,
            name: members.optional_text("name")?,
        })
    }
}

impl<'a> Decode<'a> for Trigger<'a> {
    fn decode(value: Value<'a>) -> Result<Self, Mismatch> {
        let mut members = value.object("trigger")?;
        Ok(Trigger {
            date: members.optional_text("date")?,
            phrase: members.optional_text("phrase")?,
            external_url: members.optional_text("externalUrl")?,
        })
    }
}

impl<'a> Decode<'a> for RetrievedPledge<'a> {
    fn decode(value: Value<'a>) -> Result<Self, Mismatch> {
        let mut members = value.object("pledge")?;
        Ok(RetrievedPledge {
            id: members.text("id")?,
            impact: Impact::decode(members.take("impact"))?,
            details: members.array("details", PledgeDetail::decode)?,
            recipient: Recipient::decode(members.take("recipient"))?,
        })
    }
}

impl<'a> Decode<'a> for Impact<'a> {
    fn decode(value: Value<'a>) -> Result<Self, Mismatch> {
        let mut members = value.object("impact")?;
        let amount = match members.take("amount") {
            Value::Number(text) => Amount::parse(text),
            _ => None,
        };
        let amount = amount.ok_or(Mismatch::member("amount", "a number greater than 0"))?;
        Ok(Impact { amount, offering_id: members.text("offeringId")? })
    }
}

impl<'a> Decode<'a> for PledgeDetail<'a> {
    fn decode(value: Value<'a>) -> Result<Self, Mismatch> {
        let mut members = value.object("details")?;
        Ok(PledgeDetail {
            name: members.optional_text("name")?,
            description: members.optional_text("description")?,
            noun_singular: members.optional_text("nounSingular")?,
            noun_plural: members.optional_text("nounPlural")?,
            image: members.optional_text("image")?,
            external_id: members.optional_text("externalId")?,
            external_url: members.optional_text("externalUrl")?,
        })
    }
}

impl<'a> Decode<'a> for Notification<'a> {
    fn decode(value: Value<'a>) -> Result<Self, Mismatch> {
        let mut members = value.object("notifications")?;
        Ok(Notification { kind: members.text("type")?, status: members.text("status")? })
    }
}

// ---- From one to the other -----------------------------------------------------------------------

impl<'a> PledgeTransaction<'a> {
    /// The same transaction as the get operation answers it.
    pub fn into_retrieved(self) -> RetrievedPledgeTransaction<'a> {
        let recipient = self.recipient;
        let pledge = |pledge: Pledge<'a>| RetrievedPledge {
            id: pledge.id,
            impact: pledge.impact,
            details: vec![pledge.detail],
            recipient: recipient.clone(),
        };
        RetrievedPledgeTransaction {
            created_at: self.created_at,
            reference: self.reference,
            is_live: self.is_live,
            charge: self.charge,
            trigger: self.trigger,
            pledges: self.pledges.into_iter().map(pledge).collect(),
            notifications: Some(self.notifications),
            timeline_url: Some(self.timeline_url),
        }
    }
}

impl<'a> RetrievedPledgeTransaction<'a> {
    /// The same transaction as the create operation answered it.
    ///
    /// `None` if this service did not write it: the members that the contract lets a service
    /// leave out are needed for it.
    pub fn into_created(self, id: Cow<'a, str>) -> Option<PledgeTransaction<'a>> {
        let recipient = self.pledges.first()?.recipient.clone();
        let pledge = |pledge: RetrievedPledge<'a>| {
            let detail = pledge.details.into_iter().next()?;
            Some(Pledge { id: pledge.id, impact: pledge.impact, detail })
        };
        Some(PledgeTransaction {
            id,
            reference: self.reference,
            created_at: self.created_at,
            is_live: self.is_live,
            charge: self.charge,
            recipient,
            trigger: self.trigger,
            pledges: self.pledges.into_iter().map(pledge).collect::<Option<_>>()?,
            notifications: self.notifications?,
            timeline_url: self.timeline_url?,
        })
    }
}

/// §2.2: on retrieval the amount can be a string or a number.
fn string_or_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Cow<'de, str>, D::Error> {
    deserializer.deserialize_any(MoneyVisitor)
}

struct MoneyVisitor;

impl<'de> Visitor<'de> for MoneyVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("a decimal, as a string or a number")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Cow::Owned(itoa::Buffer::new().format(number).to_owned() + ".00"))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Cow::Owned(itoa::Buffer::new().format(number).to_owned() + ".00"))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
        let size =
            Decimal::shortest(number.abs()).ok_or_else(|| E::custom("not a finite number"))?;
        let sign = if number < 0.0 { "-" } else { "" };
        Ok(Cow::Owned(sign.to_owned() + &size.to_money()))
    }
}
