//! Impact pledges for any transaction of a shop: an order, a sign-up, a donation.
//!
//! One crate becomes two products: the npm package `impact-pledge` (feature `client`) and the
//! service, a Cloudflare Worker (feature `server`). Features open a door to JavaScript on
//! wasm32 and do nothing on any other target; all other modules are plain Rust.
//!
//! - A [`pledge`] request has the shape of the [`schema`], is checked by [`validate`], and becomes
//!   a record: who, what, how much.
//! - [`api`] is the wire, written once for both sides: paths, headers, statuses, bodies.
//! - [`handle`] takes a request and gives a response: [`auth`] says whose it is, [`charge`] what
//!   it is worth in exact decimals, [`idempotency`] whether it is a repeat; a [`store`] keeps it,
//!   the namespace's [`secret`] keys the hashes that an operator finds it by, and [`timeline`]
//!   shows it to its recipient.
//! - A client asks again when that can help: [`retry`] says when.
//! - All of these build on [`scope`] (modes and units), [`time`], [`http`] and [`version`] (the format
//!   of records), which use no other module.
//! - An [`operator`] makes keys and sets prices: the scripts run it as wasm (feature `operator`).

pub mod api;
pub mod auth;
pub mod charge;
mod decimal;
pub mod handle;
mod hash;
pub mod http;
pub mod idempotency;
#[cfg(any(not(target_family = "wasm"), feature = "operator"))] // else the service's wasm grows
pub mod operator;
pub mod pledge;
pub mod retry;
pub mod schema;
pub mod scope;
pub mod secret;
pub mod store;
pub mod time;
pub mod timeline;
pub mod validate;
pub mod version;

#[cfg(all(target_family = "wasm", feature = "client"))]
mod client;
#[cfg(all(target_family = "wasm", feature = "validate"))]
mod exports;
#[cfg(all(target_family = "wasm", feature = "operator"))]
mod operator_exports;
#[cfg(all(target_family = "wasm", feature = "server"))]
pub mod server;
