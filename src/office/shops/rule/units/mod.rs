//! Units: their entries in the register, and their profiles with the name, logo and style that a shop's timelines show.

mod change;
mod difference;
mod members;
mod names;
mod read;
mod remove;
mod row;

pub use change::{set, tried, unset};
pub use members::{Member, ProfileMembers};
pub use read::{get, list, newest};
pub use remove::remove;
pub use row::UnitRow;
