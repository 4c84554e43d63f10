//! Transactions, for support and accounting.
//!
//! Lists come from the ledger. They show times, charges and IDs, but no personal data.

mod brief;
mod elsewhere;
mod erase;
mod erasure_cursor;
mod export;
mod export_line;
mod filter;
mod find;
mod history;
mod list;
mod listed;
mod names;
mod note;
mod person;
mod record;
mod restore;
mod show;

pub use brief::{Brief, cancelled, mark_cancelled};
pub use elsewhere::add_ids;
pub(crate) use erase::quantities_to_keep;
pub use erase::{ERASABLE_MINUTES, Erased, check_erasable, erase};
pub use erasure_cursor::ErasureCursor;
pub use export::Export;
pub use export_line::{Line, LineKind};
pub use filter::TransactionFilter;
pub use find::{Found, SearchKey, counts_by_scope, find, find_secret, find_within};
pub use history::{Event, EventKind, History, history};
pub use list::{ListQuery, MAX_DAYS, TransactionPage, list};
pub use listed::{ListedOrder, ListedOrders, Mark, listed};
pub(crate) use names::{names_person, says};
pub use note::{NoteChange, add_note, end_hand_over};
pub use person::{NotErased, PersonErasure, PersonStep, erase_person_step, units_to_erase};
pub use record::{Record, get};
pub use restore::{about, erase_restored, is_erased, marked};
pub(crate) use show::masked;
pub use show::{TransactionView, ViewOptions, reveal};

use record::order;
