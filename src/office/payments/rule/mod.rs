//! Payments: marks a month of a scope as paid, and as unpaid again.
//!
//! The payment of a month is one record, in the ledger. Workers KV has a copy, from which the API reads when a
//! transaction was paid.
//!
//! A month can be marked as paid only if the ledger has all of its transactions. The payment must be equal to
//! the amount due: the charges less the credits. So the operator's accounting agrees with the service.

pub mod due;
pub mod due_months;
pub mod dues;
mod mark;
mod month;
mod payable;
mod payment;
mod price_lists;
mod settled;
pub mod statement;
pub mod sum;
mod undo;
pub mod usage;
mod words;

pub use mark::{check, mark};
pub(crate) use payable::stated_money;
pub use payment::{CheckedPayment, Paid, Payment, StatedAmount};
pub(crate) use settled::last_change;
pub use settled::{get, list};
pub use undo::undo;

use settled::{LastChange, settled_in};
use words::{CHANGED, changed_in_words, in_money};
