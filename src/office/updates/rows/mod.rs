pub mod changes;
pub mod records;
pub mod told;
pub mod updates;
