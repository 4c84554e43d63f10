//! Dates as a person reads them.

use crate::validate::format::is_date_time;
use maud::{Markup, html};

const MONTHS: &str = "January February March April May June July \
     August September October November December";

/// The calendar day of an RFC 3339 date-time, such as `21 November 2026`, in its own offset: where
/// the shop is, it was then.
pub fn day(date_time: &str) -> Option<Markup> {
    let iso = date_time.get(..10).filter(|_| is_date_time(date_time.as_bytes()))?;
    let (year, month_day) = iso.split_once('-')?;
    let (month, day) = month_day.split_once('-')?;
    let month = MONTHS.split(' ').nth(month.parse::<usize>().ok()?.checked_sub(1)?)?;
    let day = day.trim_start_matches('0');
    Some(html! { time datetime=(iso) { (day) " " (month) " " (year) } })
}
