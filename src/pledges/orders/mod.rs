//! Orders of shop systems, and the pledges that they make.
//!
//! - [`Connection`] is what the service needs to receive orders.
//! - [`signature`] checks that a system sent the body of a webhook.
//! - [`read`] reads the body by the [`table`] of its system, into an [`Order`], a refund or another [`Event`].
//! - [`pledge`] applies the rules of a connection's [`OrderSettings`] to an order.
//! - [`freeze`] keeps what later events need: [`Frozen::refunded`] says what refunds credit, and [`differences`] what
//!   changed.

mod amount;
pub mod connection;
mod differences;
mod event;
mod formula;
mod frozen;
mod json;
mod order;
mod path;
mod pledge;
mod read;
mod reason;
mod remaining;
mod request;
mod rules;
mod settings;
mod settings_field;
mod settings_issue;
mod settings_schema;
mod settings_table;
pub mod signature;
mod system;
pub mod table;
mod tables;
mod text;

pub use connection::{Connection, ConnectionId};
pub use differences::{Difference, differences};
pub use event::{Event, Ignored, ReadError, RefundOfOrder};
pub use frozen::{Frozen, Refunded, freeze};
pub use order::{Line, LineKind, Order, Payment, Refund, Sums, TaxedSum};
pub use pledge::{Capped, OrderPledge, pledge};
pub use read::read;
pub use reason::{SumPart, Unpledged};
pub use settings::{Basis, DEFAULT_CAP, OrderSettings, Rule, RuleDetail, SumRule, TriggerSettings};
pub use settings_issue::SettingsIssue;
pub use settings_schema::json_schema;
pub use signature::Refusal;
pub use system::System;
