mod profile;
mod register;
mod rows;
mod unset;

pub(crate) use profile::{READER, texts};
pub use profile::{SET, Set, check, set};
pub use register::{ADD, LIST, REMOVE, SHOW, add, list, remove, show};
pub(crate) use rows::{ONLY_IN_COMMANDS, listing};
pub use unset::{UNSET, unset};
