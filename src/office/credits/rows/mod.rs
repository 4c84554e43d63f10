//! Credits: amounts and quantities that are taken back from a transaction. Constraints of their table
//! guarantee that the credits of a transaction never exceed its charge, and that a credit is never changed.
//!
//! A credit reduces the sum of its order's month, or of the current month if the order's month is already
//! marked as paid. So the sums of a paid month never change.
//!
//! If a month is marked as paid while a credit is made that counts in it, the later of the two changes is refused.

mod credits;
mod sums;

pub use credits::*;
pub use sums::*;
