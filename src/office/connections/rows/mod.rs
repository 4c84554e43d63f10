pub mod connections;
pub mod fetches;
pub mod orders;
pub(crate) mod people;
pub mod received;
pub mod troubles;
