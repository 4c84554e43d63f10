use super::data::{EarlierOrder, Shop};
use crate::pledges::api::{JSON, header};
use crate::pledges::http::{BodyError, Request, Reservation};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The body of a create request (contract §4.1).
#[derive(Serialize)]
pub(super) struct Order<'o> {
    pub(super) reference: String,
    pub(super) recipient: &'o RawValue,
    pub(super) pledges: &'o RawValue,
    pub(super) trigger: Trigger<'o>,
    pub(super) notifications: &'static [&'static str],
    #[serde(skip)]
    pub(super) is_repeatable: bool,
}

#[derive(Serialize)]
pub(super) struct Trigger<'t> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) date: Option<String>,
    pub(super) phrase: &'t str,
}

impl EarlierOrder {
    pub(super) fn as_order(&self) -> Order<'_> {
        Order {
            reference: self.reference.clone(),
            recipient: &self.recipient,
            pledges: &self.pledges,
            trigger: Trigger { date: None, phrase: "placed an order at Small Hours Coffee" },
            notifications: &[],
            is_repeatable: true,
        }
    }
}

/// The members that are read from the answer to a create request.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Created {
    pub(super) id: String,
    pub(super) created_at: String,
}

pub(super) struct Create<'c> {
    pub(super) url: String,
    pub(super) shop: &'c Shop,
    pub(super) body: Vec<u8>,
    pub(super) idempotency_key: Option<String>,
}

impl Request for Create<'_> {
    fn method(&self) -> Cow<'_, str> {
        Cow::Borrowed("POST")
    }

    fn url(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.url)
    }

    fn header(&self, name: &'static str) -> Option<String> {
        match name {
            header::AUTHORIZATION => Some(["Bearer ", &self.shop.key].concat()),
            header::CONTENT_TYPE => Some(JSON.to_owned()),
            header::UNIT_ID => Some(self.shop.scope.unit.clone()),
            header::IDEMPOTENCY_KEY => self.idempotency_key.clone(),
            _ => None,
        }
    }

    fn id(&self) -> String {
        "demo".to_owned()
    }

    async fn body(&self, _: usize, _: &mut Reservation<'_>) -> Result<Vec<u8>, BodyError> {
        Ok(self.body.clone())
    }

    async fn is_over_limit(&self, _: &str) -> bool {
        false
    }

    async fn pause(&self, _: u32) {}
}
