//! Sums of doubles and prices, and the amounts of other services' answers.

use super::text;
use impact_pledge::api::Operation;
use impact_pledge::api::answer;
use impact_pledge::charge::{Catalogue, UnitPrice};
use impact_pledge::pledge::{Amount, Impact};
use impact_pledge::validate::number::to_double;
use std::borrow::Cow;
use support::money::oracle;

/// Pledges of 8 bytes of a double and 8 of a price each; what is left over is the text of an amount.
pub fn run(input: &[u8]) {
    let (pairs, rest) = input.as_chunks::<16>();
    sum(&pairs.iter().filter_map(pledge).take(64).collect::<Vec<_>>());
    money(&text(rest));
}

/// A double that is not negative, and a price with up to 20 digits.
fn pledge(pair: &[u8; 16]) -> Option<(f64, String)> {
    let (double, price) = pair.split_at(8);
    let amount = f64::from_bits(u64::from_le_bytes(double.try_into().ok()?) & (u64::MAX >> 1));
    let price = u64::from_le_bytes(price.try_into().ok()?);
    let (digits, decimals) = ((price >> 5).to_string(), (price & 31) as usize);
    let digits = format!("{digits:0>width$}", width = decimals + 1);
    let (whole, fraction) = digits.split_at(digits.len() - decimals);
    let price = [whole, if decimals > 0 { "." } else { "" }, fraction].concat();
    (amount.is_finite() && amount > 0.0).then_some((amount, price))
}

/// The sum of these amounts times these prices is that of integers without bounds.
pub fn sum(pledges: &[(f64, String)]) {
    let names: Vec<_> = (0..pledges.len()).map(|index| index.to_string()).collect();
    let price = |(name, (_, price)): (&String, &(f64, String))| {
        (name.clone(), UnitPrice::parse(price).unwrap())
    };
    let unit_prices = names.iter().zip(pledges).map(price).collect();
    let catalogue = Catalogue { unit_prices, ..Default::default() };
    let impact = |(name, (amount, _)): (&String, &(f64, String))| Impact {
        amount: Amount::new(*amount).unwrap(),
        offering_id: Cow::Owned(name.clone()),
    };
    let impacts: Vec<_> = names.iter().zip(pledges).map(impact).collect();
    assert_eq!(catalogue.amount(impacts.iter()), oracle(pledges));
}

/// A decimal in an answer, as a string or as a number, is rounded as a sum of one price is.
fn money(text: &str) {
    if !text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte)) {
        return; // it would be other JSON
    }
    if UnitPrice::parse(text).is_some() {
        assert_eq!(read(&format!("\"{text}\"")).unwrap(), oracle(&[(1.0, text.to_owned())]));
    }
    let double = serde_json::from_str::<f64>(text).ok();
    let read = read(text).ok();
    assert_eq!(read.is_some(), double.is_some(), "{text}");
    let Some((read, double)) = read.zip(double) else { return };
    let size = text.trim_start_matches('-').to_lowercase();
    if double == 0.0 {
        assert_eq!(read, "0.00", "{text}"); // its exponent may be beyond all integers
    } else if size.split_once('e').is_none_or(|(_, exponent)| exponent.len() <= 3)
        && size.len() < 100
    {
        let exact = oracle(&[(1.0, size)]);
        assert_eq!(read.trim_start_matches('-'), exact, "{text}");
        assert_eq!(read.starts_with('-'), double < 0.0 && exact != "0.00", "{text}");
    }
}

fn read(amount: &str) -> Result<String, answer::AnswerError> {
    let body = format!(
        r#"{{"createdAt":"","reference":"","isLive":true,"charge":{{"amount":{amount},"currencyCode":"EUR","paidAt":null}},"trigger":{{"date":null,"phrase":null,"externalUrl":null}},"pledges":[]}}"#
    );
    answer::read(Operation::Get, 200, body.as_bytes(), to_double)
}
