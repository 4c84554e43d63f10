//! Price lists of modes and units: the current prices as a table to edit, and the history.

mod fields;
mod history;
pub mod overview;
mod shown;

pub(crate) use overview::prices;
pub(crate) use shown::of_unit;
