//! Operations on the transactions of whole months: sums, quantities and exports.

mod export;
mod of_month;
mod quantities;
mod summed;
mod usage;

pub use export::{EXPORT, export};
pub use quantities::{QUANTITIES, quantities};
pub(crate) use summed::{in_table, listing};
pub use usage::{USAGE, usage};
