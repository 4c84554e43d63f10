pub mod changed;
pub mod entry;
pub mod listing;
pub mod order;
pub mod orders;
pub mod related;
pub mod removal;
