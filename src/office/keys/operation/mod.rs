mod create;
mod list;
mod parts;
mod revoke;
mod rotate;

pub use create::{CREATE, check, create};
pub(crate) use list::listed;
pub use list::{LIST, list};
pub(crate) use parts::facts;
pub use revoke::{REVOKE, revoke};
pub use rotate::{ROTATE, rotate};
