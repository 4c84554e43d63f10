pub mod connections;
pub mod fetches;
pub mod orders;
pub mod received;
pub mod troubles;
