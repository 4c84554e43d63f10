pub mod scope_months;
pub mod settled;
pub mod sums;
