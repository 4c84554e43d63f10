//! Units: their entries in the register, and their profiles with the name, logo and style that a shop's timelines show.

mod change;
mod conflict;
mod difference;
mod members;
mod read;
mod remove;
mod row;

pub(crate) use conflict::REMOVE;

pub use change::{replace, set, unset};
pub use members::{Member, ProfileMembers};
pub use read::{get, list};
pub use remove::remove;
pub use row::UnitRow;
