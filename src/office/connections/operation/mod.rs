//! Operations on connections to shop systems, and on what these have sent.

mod arguments;
mod change;
mod read;

pub(super) use arguments::{in_words, path};
pub use change::{ADD, END, FETCH, RETRY, SET, add, end, fetch, retry, set};
pub use read::{DELIVERIES, LIST, PREVIEW, deliveries, list, preview};
pub(crate) use read::{listing, received};
