pub(crate) mod day_charges;
pub(crate) mod due_versions;
pub mod scope_months;
pub(crate) mod settled;
pub mod sums;
