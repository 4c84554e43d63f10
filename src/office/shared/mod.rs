//! What the subjects share: the ledger's port, safe changes, the parts of operations, forms and pages.

pub mod operation;
pub mod page;
pub mod rows;
pub mod rule;
