//! Operations on the ledger.

mod check;
mod status;

pub use check::{ACCEPT_LOSS, CHECK, KEEP_FROM, REBUILD, accept_loss, check, keep_from, rebuild};
pub use status::{STATUS, status};
pub(crate) use status::{findings, health_facts};
