//! The room of the people who run the service: a folder for each subject, and what the subjects share.
//!
//! A subject has up to four parts, each a file or a folder. A part uses only parts above its own, of any subject:
//!
//! - `rows`: its rows in the ledger (a D1 database), and their SQL
//! - `rule`: what is decided, checked and changed
//! - `operation`: its operations, for commands and forms
//! - `page`: its pages and forms of the dashboard
//!
//! [`operations`] is the table of all operations, and [`dashboard`] serves all pages.

pub mod audit;
pub mod connections;
pub mod credit_requests;
pub mod credits;
pub mod dashboard;
pub mod demo;
pub mod fulfilment;
pub mod keys;
pub mod mails;
pub mod notices;
pub mod operations;
pub mod orders;
pub mod payments;
pub mod people;
pub mod prices;
pub mod request;
pub mod route;
pub(crate) mod routes;
pub mod shared;
pub mod shops;
pub mod system;
pub mod totals;
pub mod updates;
