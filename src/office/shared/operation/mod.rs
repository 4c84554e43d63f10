pub mod call;
pub mod covered;
pub mod spec;
pub mod table;
pub mod values;
