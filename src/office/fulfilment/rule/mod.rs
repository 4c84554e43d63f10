//! Fulfilments: what was done for pledges, such as trees that were planted, and what is still to be done.

mod balance;
mod checked;
pub mod quantities;
mod record;
mod untold;
mod year;

pub use balance::{Balance, Balances, balances, beyond};
pub use checked::check;
pub(crate) use checked::{MAX_OFFERING, is_offering};
pub use record::{add, check_removable, get, list, remove};
pub use untold::untold;
pub use year::{Year, of_year, orders_of_year, told};

use super::rows::fulfilments::Fulfilment;
use crate::office::shared::rule::once::StoredAsIs;

impl StoredAsIs for Fulfilment {}
