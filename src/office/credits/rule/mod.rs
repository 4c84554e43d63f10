//! Credits take back a transaction's charge, or a part of it, for example after a refund. Each credit
//! states a reason. Credits do not change the transaction's record or the API.
//!
//! A credit takes these steps:
//!
//! 1. Write an entry in the audit log, which contains the whole credit.
//! 2. Write the credit's row in the ledger. If the row cannot be written, withdraw the entry.
//! 3. If the buyer is to be told that the transaction was cancelled, write a record for the transaction's
//!    timeline.
//! 4. Write a second entry in the audit log, which confirms that the credit was made.
//!
//! A retry finds the row by the hash of the operation. So a credit is made only once, even if an attempt
//! stops between two steps. If a database has lost its rows, [`restore`] writes them again. It restores
//! only credits with a second entry, because a credit without one may not have been made.
//!
//! Credits contain no personal data. The reason may not name the recipient. If an offering's ID names the
//! recipient, the credit contains a replacement for the ID: the same text that an erasure would put there.

mod add;
mod credit;
mod creditable;
mod plan;
mod reason;
mod refusal;
mod restore;

pub use add::{add, check};
pub use credit::{Credit, CreditRequest, Credits, Left, OfferingQuantity, Part};
pub use creditable::{of, offerings};
pub use reason::MAX_REASON_BYTES;
pub use restore::{RestoredCredits, restore};
