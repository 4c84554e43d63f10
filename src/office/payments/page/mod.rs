pub mod chart;
pub mod payment;
pub mod payments;
pub(crate) mod several;
pub mod statement;
pub mod statements;
mod table;
pub mod unit;
