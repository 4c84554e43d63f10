//! Helpers of several kinds of tests: a store in memory, a service over it, and a reference implementation
//! of the contract.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected should panic")]

#[cfg(not(target_family = "wasm"))]
pub mod bucket;
#[cfg(not(target_family = "wasm"))]
pub mod contract;
#[cfg(not(target_family = "wasm"))]
pub mod ledger;
#[cfg(not(target_family = "wasm"))]
pub mod memory;
#[cfg(not(target_family = "wasm"))]
pub mod money;
#[cfg(not(target_family = "wasm"))]
pub mod pictures;
#[cfg(not(target_family = "wasm"))]
pub mod service;
#[cfg(not(target_family = "wasm"))]
pub mod slow;
pub mod stores;
