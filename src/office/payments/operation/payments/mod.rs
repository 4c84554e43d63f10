//! Operations on payments: months that shops have paid.

mod mark;
mod show;

pub use mark::{MARK, UNDO, check, mark, undo};
pub(crate) use mark::{MODE, MONTH, UNIT, stated};
pub use show::{LIST, SHOW, list, show};
