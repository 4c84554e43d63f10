//! The ledger: a D1 database of all transactions. It has three tasks:
//!
//! - It answers operators' lists and sums.
//! - It locks facts that two people may change at the same time.
//! - It makes each operation take effect once.
//!
//! The records in Workers KV remain the system of record. A row is made from the metadata of a record
//! ([`Entry`]). Most rows arrive as messages from the service ([`receive`]). The [reconciliation](reconcile)
//! compares all rows with KV, and says up to when the ledger is complete. All SQL is in this module;
//! `src/office/system/migrations` defines the tables.
//!
//! Each statement has one parameter, a JSON text, and each row of its answer is one JSON text. So no number
//! is rounded, and D1's limit of 100 parameters does not matter.

mod attention;
mod changed;
mod check;
pub mod claims;
pub mod credits;
mod day_quantities;
mod entry;
pub mod epoch;
mod findings;
pub mod fulfilments;
mod health;
mod imports;
mod kept;
mod listing;
mod money;
pub mod names;
pub mod operations;
mod order;
mod orders;
pub mod own_rows;
mod page;
pub mod people;
pub mod people_changes;
mod port;
mod priced;
mod quantities;
mod receive;
mod reconcile;
mod related;
mod removal;
mod settled;
mod shop_months;
mod shops;
mod state;
mod sums;
mod unread;
pub mod update_changes;
pub mod update_records;
pub mod updates;
mod upkeep;

pub use attention::{
    LEAST_CHARGES, UNUSUAL_TIMES, Unsettled, UnusualCharge, UnusualCharges, unpriced, unsettled,
    unusual,
};
pub use changed::{ChangedPage, Next, changed};
pub use check::{CheckReport, check, clear};
pub use entry::{Entry, Origin, offering_in_rows, stored_quantities, write};
pub use findings::{Finding, FindingKind, findings};
pub use health::{Health, MAX_BYTES, Pass, health};
pub use kept::keep_from;
pub use order::{Filter, Order, PageCursor};
pub use orders::{Direction, OrderPage, by_email, by_reference, like, orders};
pub use port::{Ledger, LedgerError, QueryFuture, Rows, Statement};
pub use priced::{PricedBy, PricedCharges, PricedMonth, PricedQuantity, priced};
pub use quantities::{OfferingSum, quantities};
pub use receive::{Delivered, RecordedKey, Verdict, load, receive};
pub use reconcile::{Counts, PassOutcome, PassTiming, reconcile};
pub use related::{Likeness, Related, related};
pub use removal::Removed;
pub use settled::settled;
pub use shop_months::{ShopMonthFilter, shop_months};
pub use shops::{ListedMonth, shops};
pub use state::{Part, SHOWN_AFTER_MS, State, state};
pub use sums::{MonthSum, listed_sums, months_of, sums};
pub use upkeep::{Limits, Upkeep, holder, keep_up};

use port::{Query, Result, ask};
