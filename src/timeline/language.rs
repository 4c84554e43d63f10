//! The languages of the page, and how each writes numbers, dates and plurals.
//!
//! The rules are those of Unicode's CLDR, as far as the page needs them; a test compares them with
//! `Intl`. The `icu` crates would be larger than the rest of the service.

use super::words::Sentence;
use crate::http::OWS;
use crate::validate::format::is_date_time;
use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

/// A language that the page is written in: those of the npm package's messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, IntoStaticStr, VariantArray)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
#[expect(missing_docs, reason = "each is its own code, of ISO 639")]
pub enum Language {
    Da,
    De,
    #[default]
    En,
    Es,
    Fr,
    It,
    Ja,
    Nl,
    Pl,
    Pt,
    Sv,
    Zh,
}

/// The plural categories that words are chosen by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plural {
    /// CLDR's `one`.
    One,
    /// CLDR's `few`.
    Few,
    /// CLDR's `many` and `other`, which no word of the page tells apart.
    Other,
}

/// Most bytes of `Accept-Language` that are read: browsers send some dozens.
const MAX_ACCEPT_BYTES: usize = 1_024;

impl Language {
    /// Its code, such as `de`: the value of `lang`.
    pub fn tag(self) -> &'static str {
        self.into()
    }

    /// The language of a code, in any case.
    pub fn of_tag(tag: &str) -> Option<Self> {
        Language::VARIANTS.iter().copied().find(|known| known.tag().eq_ignore_ascii_case(tag))
    }

    /// The language that `Accept-Language` asks for (RFC 9110, section 12.5.4): of the highest
    /// weight, the first among equals; English if it names none of ours. Regions do not matter.
    pub fn accepted(header: &str) -> Self {
        let header = header.as_bytes().get(..MAX_ACCEPT_BYTES).unwrap_or(header.as_bytes());
        let ranges = header.split(|byte| *byte == b',').filter_map(weighted);
        let best =
            ranges.fold((Language::En, 0), |best, next| if next.1 > best.1 { next } else { best });
        best.0
    }

    /// The plural category of a number that is written without trailing zeros.
    pub fn plural(self, number: f64) -> Plural {
        let whole = number as u64; // saturates: the last digits of numbers that large do not matter
        let is_whole = number.trunc() == number;
        match self {
            Language::Ja | Language::Zh => Plural::Other,
            Language::Fr | Language::Pt if whole <= 1 => Plural::One,
            Language::Da if !is_whole && whole <= 1 => Plural::One,
            _ if number == 1.0 => Plural::One,
            Language::Pl if is_whole && is_polish_few(whole) => Plural::Few,
            _ => Plural::Other,
        }
    }

    /// A plain decimal such as `1234.5`, as it is written: `1,234.5`, `1.234,5`, `1 234,5`.
    pub fn decimal(self, plain: &str) -> String {
        let (integer, fraction) = plain.split_once('.').unwrap_or((plain, ""));
        let (group, point) = self.separators();
        let is_grouped = integer.len() >= self.least_grouped();
        let first = if is_grouped { (integer.len() - 1) % 3 + 1 } else { integer.len() };
        let (first, mut rest) = integer.split_at_checked(first).unwrap_or_default();
        let mut text = first.to_owned();
        while let Some((digits, more)) = rest.split_at_checked(3) {
            text.push_str(group);
            text.push_str(digits);
            rest = more;
        }
        if !fraction.is_empty() {
            text.push_str(point);
            text.push_str(fraction);
        }
        text
    }

    fn separators(self) -> (&'static str, &'static str) {
        match self {
            Language::En | Language::Ja | Language::Zh => (",", "."),
            Language::Fr => ("\u{202f}", ","),
            Language::Pl | Language::Sv => ("\u{a0}", ","),
            _ => (".", ","),
        }
    }

    /// The digits of the smallest integer that is grouped.
    fn least_grouped(self) -> usize {
        if matches!(self, Language::Es | Language::It | Language::Pl) { 5 } else { 4 }
    }

    /// The calendar day of an RFC 3339 date-time in its own offset, as ISO 8601 and in words, such
    /// as `21 November 2026`; `None` for what is no date-time.
    pub fn day(self, date_time: &str) -> Option<(&str, String)> {
        let iso = date_time.get(..10).filter(|_| is_date_time(date_time.as_bytes()))?;
        let (year, month_day) = iso.split_once('-')?;
        let (month, day) = month_day.split_once('-')?;
        let (number, day) = (month.trim_start_matches('0'), day.trim_start_matches('0'));
        let index = number.parse::<usize>().ok()?.checked_sub(1)?;
        let month = self.say(Sentence::Months).split(' ').nth(index).unwrap_or(number);
        let words = self.say(Sentence::Date).replace("{d}", day);
        let words = words.replace("{m}", month).replace("{y}", year);
        Some((iso, words))
    }

    /// What stands between a number and a noun: nothing where words are not separated, unless the
    /// noun is of another script.
    pub fn space_before(self, noun: &str) -> &'static str {
        let is_joined = matches!(self, Language::Ja | Language::Zh)
            && !noun.starts_with(|first: char| first.is_ascii());
        if is_joined { "" } else { " " }
    }
}

fn is_polish_few(whole: u64) -> bool {
    (2..=4).contains(&(whole % 10)) && !(12..=14).contains(&(whole % 100))
}

/// A range of languages such as `de-AT;q=0.8`, as one of ours and its weight in thousandths.
/// `*` is English.
fn weighted(range: &[u8]) -> Option<(Language, u16)> {
    let range = str::from_utf8(range).ok()?;
    let (tag, parameters) = range.split_once(';').unwrap_or((range, "q=1"));
    let primary = tag.trim_matches(OWS).split('-').next()?;
    let language = if primary == "*" { Language::En } else { Language::of_tag(primary)? };
    Some((language, weight(parameters.trim_matches(OWS))?))
}

/// `q=0.8` in thousandths: at most three digits behind the point, at most 1.
fn weight(parameter: &str) -> Option<u16> {
    let value = parameter.strip_prefix(['q', 'Q'])?.strip_prefix('=')?;
    let (whole, digits) = value.split_once('.').unwrap_or((value, ""));
    let whole = match whole {
        "0" => 0,
        "1" => 1_000,
        _ => return None,
    };
    let mut weight = whole;
    let mut unit = 100;
    for digit in digits.bytes() {
        weight += u16::from(digit.checked_sub(b'0').filter(|digit| *digit <= 9)?) * unit;
        unit /= 10;
    }
    (digits.len() <= 3 && weight <= 1_000).then_some(weight)
}
