//! Connections to shop systems, such as WooCommerce: what each of them pledges, and what became of the orders that it sent.

pub mod operation;
pub mod page;
pub mod rows;
pub mod rule;
