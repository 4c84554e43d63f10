//! Fulfilments: what was done for pledges, such as trees that were planted, and what is still to be done.

mod balance;
mod checked;
mod record;

pub use balance::{Balance, Balances, balances, beyond};
pub use checked::check;
pub(super) use checked::{MAX_OFFERING, is_offering};
pub use record::{add, get, list, remove};

use super::once::StoredAsIs;
use crate::ledger::fulfilments::Fulfilment;

impl StoredAsIs for Fulfilment {}
