//! The operator's functions: create keys and teams, set prices and profiles, find, sum and erase transactions, resend
//! e-mails, mark payments. They run on an [`OperatorStore`] and hold at most one page of records in memory.
//!
//! The caller, such as a command or a page of the dashboard, handles input and output.

pub mod attention;
pub mod audit;
pub mod backups;
mod bound;
mod claimed_change;
mod coverage;
pub mod credits;
pub mod csv;
pub mod delays;
pub mod demo;
pub mod demo_updates;
mod due;
pub mod due_months;
pub mod dues;
pub mod epoch;
mod error;
pub mod fulfilments;
pub mod increment;
pub mod kept;
pub mod keys;
pub mod notifications;
mod once;
mod operation_id;
pub mod own_rows;
pub mod payments;
pub mod people;
mod position;
mod price_versions;
pub mod prices;
pub mod quantities;
mod records;
pub mod register;
pub mod restore;
pub mod roles;
mod secret;
pub mod seed;
mod shared_record;
pub mod statement;
mod sum;
pub mod teams;
pub mod transactions;
pub mod units;
pub mod updates;
pub mod usage;

pub use bound::bound;
pub use coverage::{Coverage, DamagedRecords};
pub use error::OperatorError;
pub use once::{Done, was_done};
pub use operation_id::OperationId;
pub use records::MAX_PAGES;
pub use shared_record::RecordVersion;
pub use sum::{Settled, Sum};

use error::{Result, without_position};
use records::{Pages, encode, load, names, put_record, read_value, read_values};
