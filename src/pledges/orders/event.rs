//! What the body of a webhook says.

use super::order::{Order, Refund};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use strum::{EnumMessage, EnumString, IntoStaticStr, VariantArray};

/// The content of a webhook's body, or of an order that was fetched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", content = "content", rename_all = "camelCase")]
pub enum Event {
    Order(Box<Order>),
    Refund(RefundOfOrder),
    /// The body only names an order, which must be fetched.
    OrderId(String),
    /// The body has nothing to pledge.
    Ignored(Ignored),
}

/// A refund that came without its order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RefundOfOrder {
    pub order_id: String,
    #[serde(flatten)]
    pub refund: Refund,
}

/// The reason why a body has nothing to pledge.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    EnumMessage,
    EnumString,
    IntoStaticStr,
)]
#[serde(rename_all = "camelCase")]
#[strum(serialize_all = "camelCase")]
pub enum Ignored {
    #[strum(message = "This type of event has no order.")]
    OtherEvent,
    #[strum(
        message = "This is a thin event, which has no order. Choose snapshot events in the settings of the webhook."
    )]
    ThinEvent,
    #[strum(
        message = "This is an action hook, whose body has no order. Choose the topics “Order created” and “Order updated”."
    )]
    Action,
    #[strum(message = "The order was deleted in the shop.")]
    Deleted,
}

/// The reason why a body cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, VariantArray)]
#[serde(tag = "code", rename_all = "camelCase")]
pub enum ReadError {
    /// The body is not JSON in UTF-8.
    NotJson,
    /// The body nests deeper than 64 levels.
    TooDeep,
    /// The body has more values than are read.
    TooLarge,
    /// The body is JSON, but not of this system.
    Unknown,
    /// The order has no ID that can be used: at most 100 characters of printable ASCII.
    NoId,
    /// The order has no currency of three letters.
    NoCurrency,
    /// The order has more lines than are read.
    TooManyLines,
}

/// Writes a sentence for the people of the shop.
impl Display for Ignored {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(self.get_message().unwrap_or_default())
    }
}

/// Writes a sentence for the people of the shop.
impl Display for ReadError {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            ReadError::NotJson => "The body is not JSON. Choose JSON as the format of the webhook.",
            ReadError::TooDeep => "The body nests deeper than 64 levels.",
            ReadError::TooLarge => "The body has too many values.",
            ReadError::Unknown => {
                "The body is not an order of this shop system. Check the topic of the webhook."
            }
            ReadError::NoId => "The order has no valid ID.",
            ReadError::NoCurrency => "The order has no currency.",
            ReadError::TooManyLines => "The order has more than 5,000 lines.",
        })
    }
}
