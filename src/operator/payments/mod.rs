//! Payments: marks a shop's month as paid, and as unpaid again. A shop is a unit in a mode.
//!
//! A payment is one record. It is written once, while a claim in the ledger locks the month (module `claimed_change`).
//! The ledger must have all transactions of the month, and the amount must be what is due: their sum, less credits. So
//! books and service agree.

mod mark;
mod month;
mod payable;
mod payment;
mod settled;
mod undo;
mod words;

pub use mark::{check, mark};
pub use month::ShopMonth;
pub(super) use payable::stated_money;
pub use payment::{CheckedPayment, Paid, Payment, StatedAmount};
pub use settled::{get, list};
pub use undo::undo;

use settled::look;
use words::{CHANGED, changed_in_words, in_money};
