//! Impact pledges for any transaction of a shop: an order, a sign-up, a donation.
//!
//! This crate is compiled to WebAssembly for three products. Each has features of its own:
//!
//! - the npm package `impact-pledge`: `client` and `validate`
//! - the service, a Cloudflare Worker: `server`, and `consumer` to receive the messages of its queue
//! - the dashboard, a second Worker: `dashboard`
//!
//! On wasm32, a feature adds modules that export functions to JavaScript. On other targets, features change
//! nothing. The modules in this list are plain Rust:
//!
//! - [`pledge`] has the types of requests and records. [`schema`] describes their JSON, and [`validate`]
//!   checks it.
//! - [`api`] defines the HTTP API for the client and the service: paths, headers, statuses, bodies.
//! - [`service`] answers requests. [`auth`] identifies the caller. [`idempotency`] recognises repeated create
//!   requests.
//! - [`charge`] computes the charge in exact decimals, and [`quantities`] the sums by offering.
//!   [`settlement`] records that a month was paid, and [`updates`] what was done for the pledges.
//! - [`store`] keeps the records. [`secret`] has the key for the hashes by which operators find records.
//!   [`recipient`] shows a record to the recipient, and [`timelines`] serves these pages.
//! - [`notify`] sends e-mails and messages of messaging services, which create requests have put into the
//!   queue. [`messaging`] knows how to reach the operator's adapters, and signs the requests to them.
//! - [`retry`] decides when a client retries a request.
//! - All of these use [`scope`] (modes and units), [`time`], [`decimal`], [`http`], [`mailbox`] (e-mail
//!   addresses), [`order_number`] (spellings of references), [`visible`] and [`web_address`] (texts that
//!   pages may show) and [`version`] (the format of records).
//! - [`operator`] manages keys, prices and transactions. [`operations`] is the table of its commands, which
//!   scripts run as wasm (feature `operator`). [`dashboard`] has pages and forms for the same functions.

pub mod api;
pub mod auth;
pub mod charge;
#[cfg(any(not(target_family = "wasm"), feature = "dashboard"))]
pub mod dashboard;
pub mod decimal;
mod hash;
pub mod http;
pub mod idempotency;
#[cfg(any(not(target_family = "wasm"), feature = "dashboard", feature = "operator"))]
pub mod ledger;
pub mod mailbox;
pub mod messaging;
pub mod notify;
#[cfg(any(not(target_family = "wasm"), feature = "operator"))]
pub mod operations;
#[cfg(any(not(target_family = "wasm"), feature = "dashboard", feature = "operator"))]
// Without this condition, the service's wasm would grow.
pub mod operator;
pub mod order_number;
pub mod pledge;
pub mod quantities;
pub mod recipient;
pub mod retry;
pub mod schema;
pub mod scope;
pub mod secret;
pub mod service;
pub mod settlement;
pub mod store;
pub mod time;
pub mod timelines;
pub mod updates;
pub mod validate;
pub mod version;
pub mod visible;
pub mod web_address;

#[cfg(all(target_family = "wasm", feature = "client"))]
mod client;
#[cfg(all(target_family = "wasm", feature = "consumer"))]
// Without this condition, `impact-pledge/testing` would grow.
mod consumer;
#[cfg(all(target_family = "wasm", feature = "dashboard"))]
mod dashboard_wasm;
#[cfg(all(target_family = "wasm", feature = "operator"))]
mod operator_wasm;
#[cfg(all(
    target_family = "wasm",
    any(feature = "dashboard", feature = "operator", feature = "server")
))]
mod platform;
#[cfg(all(target_family = "wasm", feature = "server"))]
pub mod server;
#[cfg(all(target_family = "wasm", feature = "validate"))]
mod validator_wasm;
#[cfg(all(target_family = "wasm", any(feature = "dashboard", feature = "server")))]
pub mod workers;
