//! Amounts and quantities in the texts of a body.

use super::table::{MAX_DIGITS, MAX_PLACES, NO_PLACES, THREE_PLACES};
use crate::pledges::decimal::Decimal;

/// An exact decimal with a sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SignedDecimal {
    pub(super) is_negative: bool,
    pub(super) size: Decimal,
}

/// Parses an amount such as `-12.50`: at most 15 digits, and perhaps a point and at most 20 decimal places. Returns `None`
/// for any other text, such as one with an exponent.
pub(super) fn parse(text: &str) -> Option<SignedDecimal> {
    let size = text.strip_prefix('-');
    let digits = size.unwrap_or(text);
    let (whole, places) = digits.split_once('.').unwrap_or((digits, "0"));
    let is_short = |digits: &str, most| {
        (1..=most).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    if !is_short(whole, MAX_DIGITS) || !is_short(places, MAX_PLACES) {
        return None;
    }
    let decimal = Decimal::parse(digits)?.trimmed();
    Some(SignedDecimal { is_negative: size.is_some() && !decimal.is_zero(), size: decimal })
}

/// Returns how many decimal places Stripe's amounts in a currency have.
pub(super) fn minor_places(currency: &str) -> i32 {
    match currency {
        _ if NO_PLACES.contains(&currency) => 0,
        _ if THREE_PLACES.contains(&currency) => 3,
        _ => 2,
    }
}
