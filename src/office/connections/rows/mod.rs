pub mod connections;
pub mod orders;
pub mod received;
