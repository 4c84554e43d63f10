//! E-mails to the people of the dashboard: what waits for them, and what went wrong.

pub mod operation;
pub mod page;
pub mod rows;
pub mod rule;
