pub(crate) mod due_versions;
pub mod scope_months;
pub(crate) mod settled;
pub mod sums;
