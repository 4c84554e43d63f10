//! The public total of a shop: what its buyers' orders have pledged in all, rounded. Only a shop that has switched it on in
//! its profile has one, and everyone may read it.
//!
//! A total must not tell what single buyers do. So it is rounded down, small numbers are left out, and it changes once a
//! day.

use crate::pledges::decimal::Decimal;
use crate::pledges::settlement::Month;
use serde::{Deserialize, Serialize};

/// The smallest quantity that is published, the smallest step between two, and the smallest number of orders behind one.
pub const LEAST: u64 = 10;
/// Maximum number of offerings of a total.
pub const MAX_OFFERINGS: usize = 20;
/// Maximum length of an offering's ID in a total, in bytes.
pub const MAX_OFFERING_ID: usize = 200;

/// The value of a record in the store, and the body of its answer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct PublicTotal {
    /// The first month that is counted.
    pub since: Month,
    /// The last day that is counted, such as `2026-11-29`.
    pub until: String,
    /// The offerings with the largest quantities, at most [`MAX_OFFERINGS`].
    pub totals: Vec<OfferingTotal>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OfferingTotal {
    pub offering_id: String,
    /// The quantity, [rounded down](rounded_down).
    pub quantity: u64,
}

/// Rounds a quantity down to two significant digits, in steps of at least [`LEAST`]: 1,299 to 1,200, and 99 to 90. Returns
/// `None` if nothing remains, and for 10¹⁵ and more, which no shop pledges.
pub fn rounded_down(quantity: &Decimal) -> Option<u64> {
    const MAX_DIGITS: usize = 15;
    let exact = quantity.to_exact();
    let whole = exact.split_once('.').map_or(&*exact, |(whole, _)| whole);
    let digits = whole.len();
    let whole: u64 = whole.parse().ok().filter(|_| digits <= MAX_DIGITS)?; // `1e30` is no number
    let power = u32::try_from(digits.saturating_sub(2)).ok()?;
    let step = 10_u64.checked_pow(power)?.max(LEAST);
    Some(whole - whole % step).filter(|rounded| *rounded > 0)
}
