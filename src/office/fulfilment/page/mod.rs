//! The fulfilment page: for each offering, how much all units pledged in a month, and how much of that was done. For
//! example, it shows how many trees are still to be planted for October.

mod done;
pub mod overview;
mod shops;

pub(crate) use overview::{fulfilment, fulfilment_csv};
pub(crate) use shops::{shops, shops_csv};
