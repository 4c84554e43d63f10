//! The doors of the service and of the client, for libFuzzer.

#[path = "../doors/mod.rs"]
pub mod doors;
