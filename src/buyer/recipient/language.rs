//! The languages of the page: their plurals, and how they write numbers.
//!
//! The rules are a small part of Unicode's locale data (CLDR). A test compares them with JavaScript's `Intl`.
//! The `icu` crates are not used, because they would be larger than the rest of the service.

use crate::pledges::http::OWS;
use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

/// A language of the page. The npm package has messages in the same languages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, IntoStaticStr, VariantArray)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
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
    /// Portuguese of Portugal.
    Pt,
    /// Portuguese of Brazil.
    #[serde(rename = "pt-BR")]
    #[strum(serialize = "pt-BR")]
    PtBr,
    Sv,
    Zh,
}

/// The plural category that selects a noun or a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plural {
    /// CLDR's `one`.
    One,
    /// CLDR's `few`.
    Few,
    /// The categories `many` and `other` of Unicode's locale data (CLDR), for which the page has the same
    /// words.
    Other,
}

/// Maximum number of bytes of `Accept-Language` that are read. Browsers send a few dozen.
const MAX_ACCEPT_BYTES: usize = 1_024;

impl Language {
    /// Returns the language tag, such as `de`, for the attribute `lang`.
    pub fn tag(self) -> &'static str {
        self.into()
    }

    /// Returns the language with this tag, which may be in upper or lower case.
    pub fn from_tag(tag: &str) -> Option<Self> {
        Language::VARIANTS.iter().copied().find(|known| known.tag().eq_ignore_ascii_case(tag))
    }

    /// Selects the language with the highest weight in `Accept-Language` (RFC 9110, section 12.5.4). If
    /// several languages have this weight, selects the first of them. If the page has none of the languages,
    /// selects English. Ignores regions other than Brazil: `pt-BR` selects [`Language::PtBr`], `pt` and
    /// `pt-AO` select [`Language::Pt`].
    pub fn accepted(header: &str) -> Self {
        let header = header.as_bytes().get(..MAX_ACCEPT_BYTES).unwrap_or(header.as_bytes());
        let ranges = header.split(|byte| *byte == b',').filter_map(parse_range);
        let best =
            ranges.fold((Language::En, 0), |best, next| if next.1 > best.1 { next } else { best });
        best.0
    }

    /// Returns the plural category of a number that is written without trailing zeros.
    pub fn plural(self, number: f64) -> Plural {
        let whole = number as u64; // saturates, but the last digits of such large numbers do not matter
        let is_whole = number.trunc() == number;
        match self {
            Language::Ja | Language::Zh => Plural::Other,
            Language::Fr | Language::PtBr if whole <= 1 => Plural::One,
            Language::Da if !is_whole && whole <= 1 => Plural::One,
            _ if number == 1.0 => Plural::One,
            Language::Pl if is_whole && is_polish_few(whole) => Plural::Few,
            _ => Plural::Other,
        }
    }

    /// Writes a plain decimal such as `1234.5` in this language: `1,234.5`, `1.234,5`, `1 234,5`.
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

    /// Returns the separator of groups of three digits, and the decimal separator.
    fn separators(self) -> (&'static str, &'static str) {
        match self {
            Language::En | Language::Ja | Language::Zh => (",", "."),
            Language::Fr => ("\u{202f}", ","),
            Language::Pl | Language::Pt | Language::Sv => ("\u{a0}", ","),
            _ => (".", ","),
        }
    }

    /// Returns how many digits an integer must have for its digits to be grouped, as in `1,234`.
    fn least_grouped(self) -> usize {
        let groups_late = [Language::Es, Language::It, Language::Pl, Language::Pt];
        if groups_late.contains(&self) { 5 } else { 4 }
    }

    /// Returns the text between two items of a list.
    pub fn comma(self) -> &'static str {
        if matches!(self, Language::Ja | Language::Zh) { "、" } else { ", " }
    }

    /// Returns the space between a number and a noun. Japanese and Chinese have none, unless the noun is in
    /// another script, such as `trees` or `شجرة`.
    pub fn space_before(self, noun: &str) -> &'static str {
        let is_joined =
            matches!(self, Language::Ja | Language::Zh) && noun.starts_with(is_east_asian);
        if is_joined { "" } else { " " }
    }
}

/// Returns whether a character belongs to Japanese or Chinese text, which has no spaces between words.
fn is_east_asian(character: char) -> bool {
    matches!(
        character,
        '\u{2e80}'..='\u{a4cf}' | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe4f}' | '\u{ff01}'..='\u{ff9f}'
            | '\u{20000}'..='\u{3ffff}'
    )
}

fn is_polish_few(whole: u64) -> bool {
    (2..=4).contains(&(whole % 10)) && !(12..=14).contains(&(whole % 100))
}

/// Parses a language range such as `de-AT;q=0.8`. Returns the language and the weight in thousandths. `*`
/// stands for English. Returns `None` if the page is not available in that language.
fn parse_range(range: &[u8]) -> Option<(Language, u16)> {
    let range = str::from_utf8(range).ok()?;
    let (tag, parameters) = range.split_once(';').unwrap_or((range, "q=1"));
    let language = match tag.trim_matches(OWS) {
        "*" => Language::En,
        tag => most_specific(tag)?,
    };
    Some((language, parse_weight(parameters.trim_matches(OWS))?))
}

/// Returns the language of the first two subtags of a tag, such as `pt-BR`. If no language has these, returns
/// the language of the first subtag.
fn most_specific(tag: &str) -> Option<Language> {
    let end = tag.match_indices('-').nth(1).map_or(tag.len(), |(end, _)| end);
    let regional = Language::from_tag(tag.get(..end)?);
    regional.or_else(|| Language::from_tag(tag.split('-').next()?))
}

/// Parses a weight such as `q=0.8`, at most 1 and with at most three decimals. Returns thousandths.
fn parse_weight(parameter: &str) -> Option<u16> {
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
