mod profile;
mod register;
mod rows;
mod unset;

pub use profile::{SET, check, set};
pub use register::{ADD, LIST, REMOVE, SHOW, add, list, remove, show};
pub use unset::{UNSET, unset};
