//! Lists of transactions: the page, its filters, the table that other pages show too, and the list as CSV.

mod filters;
mod list;
mod table;

pub(crate) use filters::{BUYER, REFERENCE, address, unit_problem, wrong_filter};
pub(crate) use list::{filter, orders, orders_csv};
pub(crate) use table::{table, table_of_unit};
