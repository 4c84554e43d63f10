//! Price lists of modes and units: the current prices as a table to edit, previews of changes, and the history.

mod fields;
mod history;
mod page;
mod preview;
mod request;
mod shown;
mod table;
mod wanted;

pub(super) use request::{prices, set_prices};
pub(super) use shown::of_unit;
