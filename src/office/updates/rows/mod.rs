pub mod changes;
pub mod pictures;
pub mod records;
pub mod told;
pub mod updates;
