//! The rows in the ledger, and their SQL.

pub mod attention;
pub mod check;
pub mod epoch;
pub mod findings;
pub mod health;
pub mod imports;
pub mod kept;
pub mod own_rows;
pub mod receive;
pub mod reconcile;
pub mod state;
pub mod transactions;
pub mod unread;
pub mod upkeep;
