//! Pages of connections to shop systems.

mod address;
mod connection;
mod examples;
mod list;
mod missed;
mod steps;
mod troubles;

pub(crate) use connection::{connection, try_order};
pub(crate) use list::{ended, of_unit};
pub(crate) use troubles::troubles;
