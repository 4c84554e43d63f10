//! Price lists: of a mode, and of one unit in a mode, which replaces the mode's list for that unit. Parses lists from
//! files, sets and removes lists, and returns the current ones and their history.

mod change;
mod current;
mod edit;
mod file;
mod history;
mod removal;
mod rules;
mod set;

pub use change::{Change, ChangeCounts, PriceChange};
pub use current::{Current, current, get, units};
pub use edit::Edit;
pub use file::parse;
pub use history::{PriceListEntry, PriceListVersion, charged_by, history, listed};
pub(super) use removal::{lists_of, remove_lists};
pub use rules::charged_keys;
pub use set::{remove, set};
