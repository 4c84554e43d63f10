//! E-mails and messages to recipients: their state, failures and resends.

pub mod operation;
pub mod page;
pub mod rule;
