mod profile;
mod register;
mod rows;
mod unset;

pub(crate) use profile::{READER, texts};
pub use profile::{SET, Set, check, set};
pub use register::{ADD, LIST, REMOVE, SHOW, add, list, remove, show};
pub use unset::{UNSET, unset};
