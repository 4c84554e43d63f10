//! Quantities as a person reads them.

use super::{beginning, shown};
use crate::pledge::{Amount, PledgeDetail, RetrievedPledge};

/// How much of what.
pub struct Quantity<'p> {
    /// The amount, such as `1,000`.
    pub amount: String,
    /// What it counts.
    pub noun: &'p str,
    /// Whether the noun is one: a name or an ID, in its place if there is none, only stands in.
    pub is_counted: bool,
}

impl<'p> Quantity<'p> {
    /// One of the singular, anything else of the plural, and either one for the other.
    pub fn of(pledge: &'p RetrievedPledge<'_>, detail: &'p PledgeDetail<'_>) -> Self {
        let amount = pledge.impact.amount;
        let (first, second) = match amount.as_integer() {
            Some(1) => (&detail.noun_singular, &detail.noun_plural),
            _ => (&detail.noun_plural, &detail.noun_singular),
        };
        let noun = shown(first).or_else(|| shown(second));
        let stand_in = || shown(&detail.name).unwrap_or(beginning(&pledge.impact.offering_id));
        Quantity {
            amount: readable(amount),
            noun: noun.unwrap_or_else(stand_in),
            is_counted: noun.is_some(),
        }
    }
}

/// The amount, exactly, as its shortest decimal: `1,000`, `0.5`, `1 × 10³⁰⁸`.
///
/// Powers of ten begin where their digits would be too many to read: at 10¹⁶, and below 10⁻⁵.
fn readable(amount: Amount) -> String {
    let mut buffer = zmij::Buffer::new();
    let shortest = buffer.format_finite(amount.get());
    match shortest.split_once('e') {
        Some((digits, exponent)) => scientific(digits, exponent),
        None => grouped(shortest.strip_suffix(".0").unwrap_or(shortest)),
    }
}

/// `1234.5678` becomes `1,234.5678`.
pub fn grouped(decimal: &str) -> String {
    let integer = decimal.split('.').next().unwrap_or_default();
    let mut text = String::with_capacity(decimal.len() * 4 / 3);
    for (index, character) in decimal.chars().enumerate() {
        let remaining = integer.len().saturating_sub(index);
        if index > 0 && remaining > 0 && remaining % 3 == 0 {
            text.push(',');
        }
        text.push(character);
    }
    text
}

/// `5e-324` becomes `5 × 10⁻³²⁴`.
fn scientific(digits: &str, exponent: &str) -> String {
    let exponent: String = exponent.trim_start_matches('+').chars().map(superscript).collect();
    format!("{} × 10{exponent}", digits.trim_end_matches(".0"))
}

fn superscript(character: char) -> char {
    let digit = character.to_digit(10).and_then(|digit| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(digit as usize));
    digit.unwrap_or('⁻')
}
