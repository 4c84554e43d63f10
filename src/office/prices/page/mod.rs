//! Price lists of modes and units: the current prices as a table to edit, previews of changes, and the history.

mod fields;
mod history;
pub mod overview;
mod preview;
mod request;
mod shown;
mod table;
mod wanted;

pub(crate) use request::{prices, set_prices};
pub(crate) use shown::of_unit;
