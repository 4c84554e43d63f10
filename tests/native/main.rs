//! The native tests of the crate. They are one binary, because linking takes longer than running the tests.
//!
//! `cargo test --test native timeline` runs the tests of one module.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test that meets the unexpected should panic"
)]

mod answer;
mod audit_log;
mod auth;
mod billing;
mod charge;
mod conflicts;
mod credit_races;
mod credit_requests;
mod credit_table;
mod credits;
mod cron_backup;
mod dashboard;
mod deliveries;
mod descriptions;
mod due_views;
mod dues;
mod faulty_changes;
mod fixtures;
mod formats;
mod fulfilments;
mod fuzz;
mod generated;
mod head;
mod http;
mod idempotency;
mod ids;
mod in_flight;
mod increment;
mod intake;
mod json_schema;
mod layers;
mod ledger;
mod ledger_attention;
mod ledger_plans;
mod ledger_queue;
mod ledger_times;
mod logs;
mod lost_database;
mod mail;
mod mail_words;
mod messaging;
mod notices;
mod notify;
mod number;
mod once;
mod openapi;
mod operations;
mod operator;
mod orders;
mod ordinary;
mod payments;
mod people;
mod pictures;
mod profile;
mod progress;
mod quantities;
mod records;
mod references;
mod retry;
mod rows;
mod statement;
mod store;
mod texts;
mod timeline;
mod tombstones;
mod totals;
mod transactions;
mod unit_prices;
mod update_record;
mod updates;
mod upkeep;
mod usage;
mod validation;
mod waits;
mod wire;
