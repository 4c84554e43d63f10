//! The page of fulfilment: what was pledged and done in a month, by offering, over all units. For example, how many trees
//! are still to be planted for October.

mod change;
mod csv;
mod done;
mod form;
mod page;

pub(super) use change::{record, remove};
pub(super) use csv::fulfilment_csv;
pub(super) use page::fulfilment;
