//! Bar charts of amounts by month, as inline SVG.

use crate::office::shared::page::view;
use crate::pledges::settlement::Month;
use maud::{Markup, html};
use std::iter::successors;

/// Number of months in a chart.
const MONTHS: usize = 12;
/// Number of leading digits of an amount that decide the height of its bar. They fit into a `u64`.
const DIGITS: usize = 15;
/// The width of a month in the chart, in units of the SVG's `viewBox`. In the same units, `BAR` is the width
/// of a bar, and `HEIGHT` is the height of the longest bar.
const SLOT: u64 = 28;
const BAR: u64 = 18;
const HEIGHT: u64 = 100;
/// The height of a line of labels. The first line shows the months, the second the years.
const LABEL: u64 = 16;

/// A bar: the usage of one month.
pub(crate) struct Bar<'b> {
    pub month: Month,
    /// The amount, a decimal with two places.
    pub amount: &'b str,
    pub is_paid: bool,
}

/// Draws the usage in one currency, for the 12 months that end with `last`. Draws nothing if these months have no
/// usage.
pub(crate) fn chart(currency: &str, last: Month, bars: &[Bar<'_>]) -> Markup {
    let mut months: Vec<_> =
        successors(Some(last), |month| month.previous()).take(MONTHS).collect();
    months.reverse();
    let bars: Vec<_> = bars.iter().filter(|bar| months.contains(&bar.month)).collect();
    let length = bars.iter().map(|bar| bar.amount.len()).max().unwrap_or_default();
    let size = |bar: &Bar<'_>| size(bar.amount, length);
    let Some(most) = bars.iter().copied().max_by_key(|bar| size(bar)) else { return html! {} };
    let height = |bar: &Bar<'_>| (size(bar) * HEIGHT).checked_div(size(most)).unwrap_or_default();
    let years = years(&months);
    let (width, whole) = (SLOT * MONTHS as u64, HEIGHT + 2 * LABEL);
    html! {
        figure {
            figcaption {
                (currency) " by month (UTC)"
                small {
                    ". Highest: " (view::grouped(most.amount)) " " (currency) " (" (view::month(most.month)) ")."
                }
            }
            (legend())
            svg.chart viewBox={ "0 0 " (width) " " (whole) } role="img" aria-label=(in_words(currency, &bars)) {
                @for (slot, month) in (0u64..).zip(&months) {
                    @for bar in bars.iter().filter(|bar| bar.month == *month) {
                        rect class=[bar.is_paid.then_some("paid")] x=(slot * SLOT + (SLOT - BAR) / 2) y=(HEIGHT - height(bar))
                            width=(BAR) height=(height(bar)) rx="1.5" {}
                    }
                    (label(slot, *month, years.contains(&slot)))
                }
                line x1="0" y1=(HEIGHT) x2=(width) y2=(HEIGHT) {}
            }
        }
    }
}

/// Converts an amount to an integer, which decides the height of its bar. `longest` is the length of the
/// chart's longest amount. If `longest` is greater than [`DIGITS`], the difference is the number of digits
/// that are cut from the end of each amount.
fn size(amount: &str, longest: usize) -> u64 {
    let digits: String = amount.chars().filter(char::is_ascii_digit).collect();
    let kept = digits.len().saturating_sub(longest.saturating_sub(DIGITS));
    digits.get(..kept).and_then(|digits| digits.parse().ok()).unwrap_or_default()
}

/// Explains the two kinds of bars.
fn legend() -> Markup {
    html! {
        ul.legend {
            @for (class, name) in [(None, "unpaid"), (Some("paid"), "paid")] {
                li {
                    svg.swatch viewBox="0 0 14 14" width="14" height="14" aria-hidden="true" {
                        rect class=[class] x="1" y="1" width="12" height="12" rx="1.5" {}
                    }
                    (name)
                }
            }
        }
    }
}

/// Returns the slots whose labels also name the year: the first slot and each January. If January is in the
/// second slot, the first slot is left out, because it has no room for its year.
fn years(months: &[Month]) -> Vec<u64> {
    let is_january = |month: &Month| view::month(*month).starts_with("Jan");
    let januaries = (0u64..).zip(months).filter(|(_, month)| is_january(month));
    let mut years: Vec<_> = januaries.map(|(slot, _)| slot).collect();
    if years.first().is_none_or(|slot| *slot > 1) {
        years.push(0);
    }
    years
}

/// Labels a slot with its month and, if `has_year`, with the year below it.
fn label(slot: u64, month: Month, has_year: bool) -> Markup {
    let words = view::month(month);
    let (name, year) = words.split_once(' ').unwrap_or((&words, ""));
    let x = slot * SLOT + SLOT / 2;
    html! {
        text x=(x) y=(HEIGHT + LABEL - 4) text-anchor="middle" { (name) }
        @if has_year {
            text x=(x) y=(HEIGHT + 2 * LABEL - 4) text-anchor="middle" { (year) }
        }
    }
}

/// Describes a chart for screen readers: `USD by month: Oct 2026 12.50, paid; …`.
fn in_words(currency: &str, bars: &[&Bar<'_>]) -> String {
    let word = |bar: &&Bar<'_>| {
        let paid = if bar.is_paid { ", paid" } else { "" };
        [&*view::month(bar.month), " ", &view::grouped(bar.amount), paid].concat()
    };
    format!("{currency} by month: {}", bars.iter().map(word).collect::<Vec<_>>().join("; "))
}
