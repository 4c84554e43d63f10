//! Operations on fulfilments: what was done for pledges.

mod arguments;
mod change;
mod list;
mod shops;

pub use change::{ADD, REMOVE, add, remove};
pub use list::{BALANCE, LIST, balance, list};
pub(crate) use list::{balances, recorded};
pub(crate) use shops::{ONLY_IN_FILES, ShopsOf, shares};
pub use shops::{SHOPS, shops};
