mod arguments;
mod change;
pub(crate) mod listing;
mod read;
mod steps;

pub use change::{CHANGE, REMOVE, SET, change, check_set, remove, set};
pub use read::{HISTORY, SHOW, history, show};
