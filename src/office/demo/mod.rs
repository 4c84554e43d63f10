//! Demo data for the dashboard on a developer's machine: three months of two shops. It must not be written to a deployed
//! namespace.
//!
//! The service, its notifier and the operator's functions write the records, with a clock that shows a time in the
//! past.

mod clock;
mod data;
pub mod demo_updates;
pub mod development;
mod order;
mod past;
mod ports;
mod seed;

pub use seed::seed;
