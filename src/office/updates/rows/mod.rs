pub mod changes;
pub mod news;
pub mod pictures;
pub mod records;
pub mod told;
pub mod updates;
