//! What is decided, checked and changed.

pub mod bound;
pub mod claimed_change;
pub mod coverage;
pub mod csv;
pub mod delays;
pub mod error;
pub(crate) mod ids;
pub mod once;
pub mod operation_id;
pub mod position;
pub mod records;
pub mod refused;
pub mod roles;
pub mod shared_record;
