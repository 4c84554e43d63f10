//! Impact pledges for any transaction of a shop: an order, a sign-up, a donation.
//!
//! The crate has three rooms of plain Rust, and doors. Each room uses only the rooms above its own:
//!
//! - [`pledges`] is the product: what a shop and the API agree on.
//! - [`buyer`] is what a buyer sees.
//! - [`office`] runs the business: keys, prices, payments and more, as pages and as commands.
//! - `doors` is the only code that knows JavaScript and Cloudflare. It is compiled for wasm32 alone: for the npm package
//!   (features `client` and `validate`), the service with the consumer of its queue (`server`), and the dashboard with the
//!   operators' commands (`dashboard`).

pub mod buyer;
#[cfg(any(not(target_family = "wasm"), feature = "dashboard"))]
// Without this condition, the service's wasm would grow.
pub mod office;
pub mod pledges;

/// The entry points, and the ports that they share.
#[cfg(target_family = "wasm")]
pub mod doors {
    #[cfg(feature = "server")]
    pub mod api_worker;
    #[cfg(feature = "client")]
    mod client;
    #[cfg(any(feature = "dashboard", feature = "server"))]
    pub mod cloudflare;
    #[cfg(feature = "dashboard")]
    mod commands;
    #[cfg(feature = "dashboard")]
    mod dashboard_worker;
    #[cfg(feature = "server")]
    mod delivery_worker;
    #[cfg(any(feature = "dashboard", feature = "server"))]
    mod mail;
    #[cfg(any(feature = "dashboard", feature = "server"))]
    mod platform;
    #[cfg(feature = "validate")]
    mod validator;
}
