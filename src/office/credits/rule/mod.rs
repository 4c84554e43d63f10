//! Credits take back a transaction's charge, or a part of it, for example after a refund. Each credit
//! states a reason. Credits do not change the transaction's record or the API.
//!
//! A credit's row in the ledger is written in one transaction with its audit log entry. If the buyer is to be told that the
//! order was cancelled, then a record for the order's timeline is written.
//!
//! Credits contain no personal data. The reason may not name the recipient. If an offering's ID names the
//! recipient, the credit contains a replacement for the ID: the same text that an erasure would put there.

mod add;
mod credit;
mod creditable;
mod plan;
mod reason;
mod refusal;

pub(crate) use add::add_with;
pub use add::{add, check};
pub use credit::{Credit, CreditRequest, Credits, Left, OfferingQuantity, Part};
pub use creditable::of;
pub(crate) use reason::check_reason;
