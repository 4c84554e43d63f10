//! Credits: a transaction's charge, or a part of it, is taken back with a reason, for example after a refund. The
//! transaction's record and the API do not change.
//!
//! A credit takes these steps:
//!
//! 1. Write an entry in the audit log, which contains the whole credit.
//! 2. Write the credit's row in the ledger. If the row cannot be written, withdraw the entry.
//! 3. If the timeline is to say that the transaction was cancelled, write the mark that it reads.
//! 4. Write a second entry, which confirms that the credit was made.
//!
//! A retry finds the row by the hash of the operation. So a credit is made only once, even if an attempt stops between
//! two steps. If a database has lost its rows, [`restore`] writes them again, but only for credits with a second entry:
//! the others may not have been made.
//!
//! Credits contain no personal data. The reason may not name the recipient. An erasure replaces
//! offering IDs that name the recipient, so a credit contains the replacement from the beginning.

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
