//! A shop requests a credit, for example after a refund. Accounts confirm or refuse the request; up to the limit of the
//! unit, the credit is made at once. [`credits`](crate::office::credits::rule) makes each credit, and checks its amount.
//!
//! Requests contain no personal data: the reasons of a request and of a refusal obey the rule for the reason of a credit.

mod at_once;
mod decide;
mod limit;
mod make;
mod request;

pub use at_once::{at_once, is_at_once};
pub use decide::{check_open, confirm, refuse, wanted};
pub use limit::{CreditLimit, UnitLimit, limit, set_limit};
pub use make::{check, make};
pub use request::{Request, last, list};
