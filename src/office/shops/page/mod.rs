pub mod profile;
pub mod register;
pub mod shop;
pub mod team;
pub mod unit;
