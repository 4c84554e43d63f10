//! Price lists. Each mode, test or live, has a price list. A unit can have a list of its own in a mode, which
//! replaces the mode's list for that unit.
//!
//! This module parses lists from files, sets and removes lists, and returns the current lists and their
//! history.

mod change;
mod current;
mod edit;
mod file;
mod history;
pub mod price_versions;
mod rules;
mod set;
mod versions;

pub use change::{Change, ChangeCounts, PriceChange};
pub use current::{Current, current, get, units};
pub use edit::{Edit, PriceEdits};
pub use file::parse;
pub use history::{PriceListEntry, PriceListVersion, charged_by, history, listed};
pub use rules::charged_keys;
pub use set::{remove, set};
pub(crate) use versions::publish;
