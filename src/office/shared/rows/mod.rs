//! The ledger: a D1 database of all transactions. It has three tasks:
//!
//! - It answers operators' lists and sums.
//! - It locks facts that two people may change at the same time.
//! - It makes each operation take effect once.
//!
//! The records in Workers KV remain the system of record. A row is made from the metadata of a record
//! ([`Entry`](crate::office::orders::rows::entry::Entry)). Most rows arrive as messages from the service
//! ([`receive`](crate::office::system::rows::receive)). The
//! [reconciliation](crate::office::system::rows::reconcile) compares all rows with KV, and says up to when the
//! ledger is complete. All SQL is in the `rows` of the subjects; `src/office/system/migrations` defines the tables.
//!
//! Each statement has one parameter, a JSON text, and each row of its answer is one JSON text. So no number
//! is rounded, and D1's limit of 100 parameters does not matter.

pub mod money;
pub mod operations;
pub mod port;
pub mod published;
