pub mod call;
pub mod covered;
pub mod facts;
pub mod question;
pub mod spec;
pub mod table;
pub mod values;
