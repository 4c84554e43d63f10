pub mod changes;
pub mod records;
pub mod updates;
