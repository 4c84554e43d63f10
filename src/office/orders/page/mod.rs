pub mod find;
pub mod orders;
pub mod own;
pub mod person;
pub mod transaction;
