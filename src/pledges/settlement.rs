//! Payments of shops, by month. A settlement is the record that a shop has paid for its transactions of a
//! month. The get operation shows the time of payment (§2.2).
//!
//! A payment does not change the records of transactions. So `paidAt` is always null in the answer to a
//! create request, and in its idempotent replays.

use super::http::Splice;
use super::scope::Scope;
use super::time::{date_time, parse_ms};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt::{self, Display, Formatter};

/// A month counts as ended this many hours after its last moment. Until then, transactions may still be added to the
/// month, because clocks differ and writes may arrive late.
pub const ENDED_AFTER_HOURS: u64 = 24;
const ENDED_AFTER_MS: u64 = ENDED_AFTER_HOURS * 3_600_000;

/// The first year of a month: this service counts times from 1970.
const FIRST_YEAR: u16 = 1970;

/// A month of a year, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Month {
    year: u16,
    /// From 1 to 12.
    month: u8,
}

impl Month {
    /// Parses a month such as `2026-11`. Returns `None` for any other text, and for a year before 1970, which
    /// is a mistake such as `0206-11`.
    pub fn parse(text: &str) -> Option<Self> {
        let (year, month) = text.split_once('-')?;
        let number = |part: &str, length| {
            let is_number = part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| part.parse::<u16>().ok()).flatten()
        };
        let month =
            u8::try_from(number(month, 2)?).ok().filter(|month| (1..=12).contains(month))?;
        let year = number(year, 4).filter(|year| *year >= FIRST_YEAR)?;
        Some(Month { year, month })
    }

    /// Returns the month of an RFC 3339 date-time in UTC. Returns `None` for a text that does not begin with a month.
    pub fn of(date_time: &str) -> Option<Self> {
        Month::parse(date_time.get(.."2026-11".len())?)
    }

    /// Returns the month before; `None` for the first month of the calendar.
    pub fn previous(self) -> Option<Self> {
        match self.month {
            1 if self.year == FIRST_YEAR => None,
            1 => Some(Month { year: self.year.saturating_sub(1), month: 12 }),
            month => Some(Month { month: month - 1, ..self }),
        }
    }

    pub fn next(self) -> Self {
        match self.month {
            12 => Month { year: self.year.saturating_add(1), month: 1 },
            month => Month { month: month + 1, ..self },
        }
    }

    /// Returns the month as a number such as `202611`.
    pub fn number(self) -> u32 {
        u32::from(self.year) * 100 + u32::from(self.month)
    }

    /// Returns the month of a time, in milliseconds since 1970.
    pub fn at(now_ms: u64) -> Option<Self> {
        Month::of(&date_time(now_ms))
    }

    /// Returns the current month and the months before it, `count` months in all, newest first.
    pub fn last(now_ms: u64, count: usize) -> Vec<Self> {
        let running = Month::at(now_ms);
        std::iter::successors(running, |month| month.previous()).take(count).collect()
    }

    /// Returns when this month and the next one begin, in milliseconds since 1970. Returns `None` before 1970 and after
    /// the year 9999.
    pub fn span_ms(self) -> Option<(u64, u64)> {
        let begins = |month: Month| parse_ms(&format!("{month}-01T00:00:00Z"));
        Some((begins(self)?, begins(self.next())?))
    }

    pub fn has_begun(self, now_ms: u64) -> bool {
        Month::at(now_ms).is_none_or(|now| self <= now)
    }

    /// Returns when the month counts as ended, in milliseconds since 1970: [`ENDED_AFTER_HOURS`] after its last moment.
    pub fn ended_ms(self) -> u64 {
        self.span_ms().map_or(u64::MAX, |(_, end_ms)| end_ms.saturating_add(ENDED_AFTER_MS))
    }

    pub fn has_ended(self, now_ms: u64) -> bool {
        now_ms >= self.ended_ms()
    }
}

impl Display for Month {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{:04}-{:02}", self.year, self.month)
    }
}

impl Serialize for Month {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Month {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Month::parse(&text).ok_or_else(|| {
            D::Error::custom(format_args!("`{text}` is not a month: write it as `2026-11`"))
        })
    }
}

/// A month of a scope, which is summed and paid as one. Sorted by unit, mode and month.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ScopeMonth {
    #[serde(flatten)]
    pub scope: Scope,
    /// The month in which the transactions were created, in UTC.
    pub month: Month,
}

/// When a month was paid: an RFC 3339 date-time in UTC with milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct PaidAt(String);

/// The text that marks the record of a transaction as unpaid. The time of payment replaces its null. Quotes
/// within strings are escaped, so the first occurrence of this text is the charge's member `paidAt`.
const UNPAID: &str = r#""paidAt":null"#;

impl PaidAt {
    /// Parses an RFC 3339 date-time in UTC. Returns `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        parse_ms(text).map(|ms| PaidAt(date_time(ms)))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the replacement for `paidAt` in a transaction's record: this time instead of null.
    pub fn splice(&self) -> Splice {
        Splice { old: UNPAID, new: UNPAID.replace("null", &format!("\"{}\"", self.0)) }
    }
}

impl<'de> Deserialize<'de> for PaidAt {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        PaidAt::parse(&text).ok_or_else(|| {
            D::Error::custom(format_args!(
                "`{text}` is not a date-time in UTC: write it as `2026-11-05T00:00:00Z`"
            ))
        })
    }
}

/// The record that a month of a scope was paid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Settlement {
    pub paid_at: PaidAt,
    /// The paid amounts, one sum for each currency.
    pub sums: Vec<SettledSum>,
    /// The number of the invoice.
    pub invoice: String,
    pub by: String,
    /// When the month was marked as paid, an RFC 3339 date-time.
    pub at: String,
}

impl Settlement {
    /// Returns what was paid in a currency.
    pub fn of(&self, currency_code: &str) -> Option<&SettledSum> {
        self.sums.iter().find(|sum| sum.currency_code == currency_code)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SettledSum {
    /// The code of the currency, which may be one that only a later release knows.
    pub currency_code: String,
    pub amount: String,
    pub transactions: u64,
    /// Number of pledges whose offering had no price.
    pub unpriced: usize,
    /// The amounts that explain why the paid amount differs from the charges, such as credits. `None` if the
    /// paid amount equals the charges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credits: Option<Deductions>,
}

/// The amounts from which the paid amount is computed, as decimals with two places.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Deductions {
    /// The sum of the charges.
    pub counted: String,
    /// The credits of the month.
    pub credited: String,
    /// The balance that was carried over from earlier months.
    pub carried: String,
}
