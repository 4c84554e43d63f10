pub mod changes;
pub mod people;
