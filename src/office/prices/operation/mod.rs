mod arguments;
mod change;
mod read;
mod steps;
mod words;

pub use change::{CHANGE, REMOVE, SET, change, check_set, remove, set};
pub use read::{HISTORY, SHOW, history, show};
pub(crate) use words::text_of;
