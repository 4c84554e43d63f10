pub mod notices;
pub mod people;
pub mod switches;
