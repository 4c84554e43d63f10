//! Pledge transactions as the service stores and returns them (§2, §4.2).
//!
//! Each type is one JSON object of the contract. Members that may be null are `Option`s, and absent members are read as
//! null. Unknown members are ignored, so that a release can be rolled back.

use super::amount::Amount;
use crate::pledges::decimal::number_as_money;
use crate::pledges::validate::number::to_double;
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::fmt::{self, Formatter};
use strum::{IntoStaticStr, VariantArray};

/// A pledge transaction, as the create operation returns it (§2.1).
///
/// `R` is the type of the recipient, and `D` that of a pledge's description. When a transaction is written,
/// both may be text that already is JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "R: Deserialize<'de>, D: Deserialize<'de>"))]
pub struct PledgeTransaction<'a, R = Recipient<'a>, D = PledgeDetail<'a>> {
    /// The unique ID: `ptran_` and an opaque identifier.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// The caller's unique reference.
    pub reference: Cow<'a, str>,
    /// When the transaction was created, an RFC 3339 date-time.
    pub created_at: Cow<'a, str>,
    /// Whether a live key created the transaction.
    pub is_live: bool,
    /// The monetary value of the transaction.
    pub charge: Charge<'a>,
    /// Who the pledges are for.
    pub recipient: R,
    /// The action that caused the pledges.
    pub trigger: Trigger<'a>,
    /// One entry per requested pledge.
    pub pledges: Vec<Pledge<'a, D>>,
    /// One entry per requested notification service.
    pub notifications: Vec<Notification<'a>>,
    /// The URL of the timeline. It is for the recipient only.
    pub timeline_url: Cow<'a, str>,
}

/// A pledge transaction, as the get operation returns it (§4.2).
///
/// The contract allows a service to leave out the members that are `Option`s. `R` and `D` are as in
/// [`PledgeTransaction`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "R: Deserialize<'de>, D: Deserialize<'de>"))]
pub struct RetrievedPledgeTransaction<'a, R = Recipient<'a>, D = PledgeDetail<'a>> {
    #[serde(borrow)]
    pub created_at: Cow<'a, str>,
    pub reference: Cow<'a, str>,
    pub is_live: bool,
    pub charge: Charge<'a>,
    pub trigger: Trigger<'a>,
    pub pledges: Vec<RetrievedPledge<'a, R, D>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notifications: Option<Vec<Notification<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeline_url: Option<Cow<'a, str>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Charge<'a> {
    /// A decimal with two places. It can also be read from a number.
    #[serde(deserialize_with = "money")]
    pub amount: Cow<'a, str>,
    /// The code of the currency: a [`CurrencyCode`], or one that a later release knows.
    pub currency_code: Cow<'a, str>,
    /// When the transaction was paid; `None` if it is unpaid.
    #[serde(borrow)]
    pub paid_at: Option<Cow<'a, str>>,
}

/// The currencies of the contract (§2.2).
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE")]
pub enum CurrencyCode {
    #[default]
    Usd,
    Gbp,
    Eur,
}

/// The e-mail address that replaces the address of an erased recipient. No real address can have its domain
/// (RFC 2606).
pub const ERASED_EMAIL: &str = "erased@erased.invalid";

impl CurrencyCode {
    /// Returns the code of ISO 4217, such as `USD`.
    pub fn code(self) -> &'static str {
        self.into()
    }

    /// Returns the currency with this code; `None` if this release does not know it.
    pub fn from_code(code: &str) -> Option<Self> {
        CurrencyCode::VARIANTS.iter().copied().find(|known| known.code() == code)
    }
}

/// Who a pledge is for (§2.3).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Recipient<'a> {
    #[serde(borrow)]
    pub email: Cow<'a, str>,
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
#[serde(bound(deserialize = "D: Deserialize<'de>"))]
pub struct Pledge<'a, D = PledgeDetail<'a>> {
    /// Unique ID: `p_` and an opaque identifier.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// The offering and the quantity.
    pub impact: Impact<'a>,
    /// The description of the pledge for the timeline.
    pub detail: D,
}

/// A pledge of a [`RetrievedPledgeTransaction`] (§4.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(deserialize = "R: Deserialize<'de>, D: Deserialize<'de>"))]
pub struct RetrievedPledge<'a, R = Recipient<'a>, D = PledgeDetail<'a>> {
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    pub impact: Impact<'a>,
    /// Descriptions for the timeline. This service always returns one.
    pub details: Vec<D>,
    /// Who the pledge is for.
    pub recipient: R,
}

/// A quantity of an impact offering (§2.5).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Impact<'a> {
    pub amount: Amount,
    #[serde(borrow)]
    pub offering_id: Cow<'a, str>,
}

/// The descriptive members of a pledge (§2.5).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PledgeDetail<'a> {
    #[serde(borrow)]
    pub name: Option<Cow<'a, str>>,
    pub description: Option<Cow<'a, str>>,
    /// Singular noun for the item category.
    pub noun_singular: Option<Cow<'a, str>>,
    /// Plural noun for the item category.
    pub noun_plural: Option<Cow<'a, str>>,
    /// The URL of an image.
    pub image: Option<Cow<'a, str>>,
    /// The caller's ID of the item.
    pub external_id: Option<Cow<'a, str>>,
    /// The URL of the item.
    pub external_url: Option<Cow<'a, str>>,
}

/// A requested notification (§2.6).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Notification<'a> {
    /// The notification service.
    #[serde(borrow, rename = "type")]
    pub kind: Cow<'a, str>,
    /// The status, always `Pending`: the contract shows no other value.
    pub status: Cow<'a, str>,
}

// ---- Conversions ---------------------------------------------------------------------------------

impl<'a, R: Clone, D> PledgeTransaction<'a, R, D> {
    pub fn into_retrieved(self) -> RetrievedPledgeTransaction<'a, R, D> {
        let recipient = self.recipient;
        let pledge = |pledge: Pledge<'a, D>| RetrievedPledge {
            id: pledge.id,
            impact: pledge.impact,
            details: vec![pledge.detail],
            recipient: recipient.clone(), // §4.2: each pledge has its own
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
    /// Converts the transaction to the form in which the create operation returned it.
    ///
    /// Returns `None` if a member is missing. The contract lets a service leave out some members of a
    /// retrieved transaction.
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

/// Reads an amount. In a retrieved transaction, the amount may be a string or a number (§2.2).
fn money<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Cow<'de, str>, D::Error> {
    deserializer.deserialize_any(Money).map(Cow::Owned)
}

struct Money;

impl Visitor<'_> for Money {
    type Value = String;

    fn expecting(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("a finite decimal")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<String, E> {
        Ok(format!("{number}.00"))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<String, E> {
        Ok(format!("{number}.00"))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<String, E> {
        number_as_money(zmij::Buffer::new().format_finite(number), to_double)
            .ok_or_else(|| E::invalid_value(Unexpected::Float(number), &self))
    }
}
