//! Quantities as a person reads them.

use crate::pledge::Amount;

/// The amount, exactly: `1,000`, `0.5`, `1 × 10³⁰⁸`.
///
/// The thresholds are JavaScript's: a shop's developer sees the same numbers in the same shape.
pub fn readable(amount: Amount) -> String {
    match amount.get() {
        value if (1e-6..1e21).contains(&value) => grouped(&value.to_string()),
        value => scientific(&format!("{value:e}")),
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
fn scientific(number: &str) -> String {
    let (digits, exponent) = number.split_once('e').unwrap_or((number, "0"));
    let exponent: String = exponent.chars().map(superscript).collect();
    format!("{digits} × 10{exponent}")
}

fn superscript(character: char) -> char {
    match character {
        '-' => '⁻',
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        '9' => '⁹',
        other => other,
    }
}
