//! The fuzz targets of the service and of the client, for libFuzzer.

#[path = "../targets/mod.rs"]
pub mod targets;
