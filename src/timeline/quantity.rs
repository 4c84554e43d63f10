//! Quantities as a person reads them.

use super::language::{Language, Plural};
use super::shown;
use crate::pledge::{Amount, PledgeDetail, RetrievedPledge};
use std::borrow::Cow;

/// How much of what.
pub struct Quantity<'p> {
    /// The amount, such as `1,000`.
    pub amount: String,
    /// What it is an amount of.
    pub of: Of<'p>,
}

/// What an amount is of.
pub enum Of<'p> {
    /// What it counts: `12 trees`.
    Noun(&'p str),
    /// A name, in place of a noun: `12 × Mangrove`.
    Name(Cow<'p, str>),
    /// Nothing that a person can read.
    Unnamed,
}

impl<'p> Quantity<'p> {
    /// The noun in the number that the language has for the amount, and either one for the other;
    /// else the name, else the offering's ID if it is words.
    pub fn of(
        language: Language,
        pledge: &'p RetrievedPledge<'_>,
        detail: &'p PledgeDetail<'_>,
    ) -> Self {
        let amount = pledge.impact.amount;
        let (first, second) = match language.plural(amount.get()) {
            Plural::One => (&detail.noun_singular, &detail.noun_plural),
            // Nouns may be of another language than the page, and none of Japanese has a plural.
            _ if amount.as_integer() == Some(1) => (&detail.noun_singular, &detail.noun_plural),
            _ => (&detail.noun_plural, &detail.noun_singular),
        };
        let noun = shown(first).or_else(|| shown(second)).map(Of::Noun);
        let name = || shown(&detail.name).map(Cow::Borrowed);
        let id = || words_of(&pledge.impact.offering_id).map(Cow::Owned);
        let of = noun.or_else(|| name().or_else(id).map(Of::Name)).unwrap_or(Of::Unnamed);
        Quantity { amount: readable(language, amount), of }
    }

    /// What a reader calls it.
    pub fn title(&self) -> Option<&str> {
        match &self.of {
            Of::Noun(noun) => Some(noun),
            Of::Name(name) => Some(name),
            Of::Unnamed => None,
        }
    }
}

/// Most bytes of an ID that can be words.
const MAX_WORDS_LENGTH: usize = 40;

/// `plastic-kg` becomes `plastic kg`; an ID with digits in it, or a long one, is nothing to read.
fn words_of(id: &str) -> Option<String> {
    let is_readable = |byte: u8| byte.is_ascii_alphabetic() || !byte.is_ascii();
    let mut words = String::new();
    for word in id.split(|character| "-_. ".contains(character)) {
        if word.is_empty() || id.len() > MAX_WORDS_LENGTH || !word.bytes().all(is_readable) {
            return None;
        }
        words.push_str(word);
        words.push(' ');
    }
    words.pop();
    Some(words)
}

/// The amount, exactly, as its shortest decimal: `1,000`, `0.5`, `1 × 10³⁰⁸`.
///
/// Powers of ten begin where their digits would be too many to read: at 10¹⁶, and below 10⁻⁵.
fn readable(language: Language, amount: Amount) -> String {
    let mut buffer = zmij::Buffer::new();
    let shortest = buffer.format_finite(amount.get());
    let (digits, exponent) = shortest.split_once('e').unwrap_or((shortest, ""));
    let digits = language.decimal(digits.strip_suffix(".0").unwrap_or(digits));
    if exponent.is_empty() { digits } else { scientific(&digits, exponent) }
}

/// `5` and `-324` become `5 × 10⁻³²⁴`.
fn scientific(digits: &str, exponent: &str) -> String {
    let exponent: String = exponent.trim_start_matches('+').chars().map(superscript).collect();
    format!("{digits} × 10{exponent}")
}

fn superscript(character: char) -> char {
    let digit = character.to_digit(10).and_then(|digit| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(digit as usize));
    digit.unwrap_or('⁻')
}
