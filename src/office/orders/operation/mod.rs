mod erase;
mod erase_person;
pub(crate) mod facts;
mod find;
mod list;
pub(crate) mod listing;
mod note;
mod parts;
mod receipt;
mod show;

pub use erase::{ERASE, check_erase, erase};
pub use find::{FIND, check_find, find};
pub use list::{LIST, list};
pub use listing::exported;
pub(crate) use listing::listed;
pub use note::{NOTE, NOTE_DONE, NOTES, note, note_done, notes};
pub use parts::MONTH;
pub use show::{SHOW, show};
