//! What a shop and the API agree on (the contract): rules, types, wire format, records, and the service that answers.
//!
//! - [`schema`] describes the JSON of requests, [`validate`] checks it, and [`types`] has the types of requests and records.
//! - [`api`] defines the HTTP API for the client and the service: paths, headers, statuses, bodies.
//! - [`service`] answers requests. [`auth`] identifies the caller. [`idempotency`] recognises repeated create requests.
//! - [`charge`] computes the charge in exact decimals, and [`quantities`] the sums by offering. [`settlement`] records
//!   that a month was paid.
//! - [`orders`] receives the orders of shop systems, such as WooCommerce, and decides what each of them pledges.
//! - [`picture`] names the pictures that timelines show. [`store`] keeps the records. [`secret`] has the key for the hashes by which operators find records.
//! - [`orders`] reads the orders of shop systems, and computes the pledges that they make.
//! - [`retry`] decides when a client retries a request.

pub mod api;
pub mod auth;
pub mod charge;
pub mod decimal;
pub mod hash;
pub mod http;
pub mod idempotency;
pub mod mailbox;
pub mod order_number;
pub mod orders;
pub mod picture;
pub mod quantities;
pub mod retry;
pub mod schema;
pub mod scope;
pub mod sealed;
pub mod secret;
pub mod service;
pub mod settlement;
pub mod store;
pub mod time;
pub mod types;
pub mod validate;
pub mod version;
