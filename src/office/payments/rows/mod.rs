pub mod settled;
pub mod shop_months;
pub mod sums;
