pub mod payments;
pub mod statements;
pub mod sums;
