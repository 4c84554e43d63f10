pub mod day_quantities;
pub mod fulfilments;
pub mod quantities;
pub mod unit_quantities;
