//! The audit log: who changed what, by which command, and when. The entry of a change of the ledger is written in the
//! change's own database transaction. The entry of a change in Workers KV is written there first: if it cannot be
//! written, nothing is changed.

mod author;
mod change;
mod entry;
mod notes;
mod own;
mod search;
mod sentence;
mod sentences;

pub use author::{Author, THE_OPERATOR};
pub use change::{Change, MemberChange, Subject};
pub use notes::bring_in;
pub use own::{AN_OPERATOR, OwnPlaces};
pub use search::{AuditFilter, AuditPage, page};
pub use sentence::{Part, is_known};
pub use sentences::GROUPS;

pub(crate) use author::EarlierAttempt;
pub(crate) use entry::{Entry, Written, change_of};
pub(crate) use notes::noted_since;
pub(crate) use search::change_named;
