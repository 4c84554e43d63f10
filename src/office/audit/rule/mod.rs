//! The audit log: who changed what, by which command, and when. An entry is written before its change is made. If the
//! entry cannot be written, nothing is changed.

mod author;
mod change;
mod entry;
mod list;
mod own;
mod search;
mod sentence;

pub use author::{Author, THE_OPERATOR};
pub use change::{Change, MemberChange, Subject};
pub use list::since;
pub use own::{AN_OPERATOR, OwnPlaces};
pub use search::{AuditFilter, AuditPage, page};
pub use sentence::{GROUPS, Part, is_known};

pub(crate) use author::{Attempt, EarlierAttempt};
pub(crate) use entry::{Entry, Written, change_of};
pub(crate) use list::notes;
