//! Dates as a person reads them.

use crate::validate::format::is_date_time;
use maud::{Markup, Render, html};

const MONTHS: &str = "January February March April May June July \
     August September October November December";

/// A calendar day, such as `21 November 2026`.
#[derive(Clone, Copy, Debug)]
pub struct Day<'a> {
    iso: &'a str,
    year: &'a str,
    month: &'static str,
    day: &'a str,
}

impl<'a> Day<'a> {
    /// The day that an RFC 3339 date-time names, in its own offset: where the shop is, it was then.
    pub fn of(date_time: &'a str) -> Option<Self> {
        let iso = date_time.get(..10).filter(|_| is_date_time(date_time.as_bytes()))?;
        let (year, month_day) = iso.split_once('-')?;
        let (month, day) = month_day.split_once('-')?;
        let month = MONTHS.split(' ').nth(month.parse::<usize>().ok()?.checked_sub(1)?)?;
        Some(Day { iso, year, month, day: day.trim_start_matches('0') })
    }
}

impl Render for Day<'_> {
    fn render(&self) -> Markup {
        html! { time datetime=(self.iso) { (self.day) " " (self.month) " " (self.year) } }
    }
}
