pub mod impact;
mod lines;
mod part;
pub mod profile;
pub mod register;
pub mod shop;
pub mod team;
mod total;
pub mod unit;
