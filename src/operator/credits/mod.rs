//! Credits: a transaction's charge, or a part of it, is taken back with a reason, for example after a refund. The
//! transaction's record and the API do not change.
//!
//! A credit takes three steps: an entry in the audit log, which has the whole credit; its row in the ledger; and an entry
//! that it was made. If the row cannot be written, the first entry is withdrawn. A repeated request finds the row by its
//! operation, so a credit is made once, wherever an attempt stops. The second entry distinguishes a credit that was made
//! from one that was only begun, for a database that has lost its rows ([`restore`]).
//!
//! Credits contain no personal data: the reason may not name the recipient, and an offering that would be replaced in an
//! erasure is replaced here, too.

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
