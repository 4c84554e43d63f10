//! What is decided, checked and changed.

pub mod register;
pub mod teams;
pub mod units;
