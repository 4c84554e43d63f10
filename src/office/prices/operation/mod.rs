mod arguments;
mod change;
pub(crate) mod listing;
mod read;

pub use change::{CHANGE, REMOVE, SET, change, remove, set};
pub use read::{HISTORY, SHOW, history, show};
