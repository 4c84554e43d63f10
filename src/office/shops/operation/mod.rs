pub mod register;
pub mod teams;
pub mod units;
