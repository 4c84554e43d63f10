pub mod changes;
pub mod news;
pub mod records;
pub mod told;
pub mod updates;
