//! Pages of connections to shop systems.

mod connection;
mod examples;
mod list;

pub(crate) use connection::{connection, try_order};
pub(crate) use list::{ended, of_unit};
