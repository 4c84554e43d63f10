pub mod chart;
pub mod month;
pub mod payment;
pub mod payments;
pub(crate) mod several;
pub mod statement;
pub mod statements;
pub mod usage;
