//! Amounts and quantities in the texts of a body.

use super::table::{MAX_AMOUNT, NO_PLACES, THREE_PLACES};
use crate::pledges::decimal::Decimal;

/// An exact decimal with a sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SignedDecimal {
    pub(super) is_negative: bool,
    pub(super) size: Decimal,
}

/// Parses digits with at most one point and one minus sign, of at most 40 characters. Returns `None` for any other
/// text, such as one with an exponent.
pub(super) fn parse(text: &str) -> Option<SignedDecimal> {
    let size = text.strip_prefix('-');
    let digits = size.unwrap_or(text);
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if !is_plain || text.len() > MAX_AMOUNT {
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
