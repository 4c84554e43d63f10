pub mod members;
pub mod updates;
