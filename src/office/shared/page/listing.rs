//! Renders lists as tables.

use super::list_times::ListTimes;
use super::{facts, view};
use crate::office::shared::operation::facts::Fact;
use crate::office::shared::operation::listing::Listing;
use crate::pledges::time::TimeZones;
use maud::{Markup, html};

/// A text with more characters than this takes the whole width of a narrow screen.
const LONG: usize = 40;

/// Renders a list, with times in UTC.
pub(crate) fn table(listing: &Listing) -> Markup {
    render(listing, &view::time, &str::to_owned, None)
}

/// Renders the first [`MAX_ROWS`](view::MAX_ROWS) rows of a list; nothing if it has none.
pub(crate) fn bounded(listing: &Listing) -> Markup {
    let all = listing.rows.len();
    html! { @if all > 0 { (table(&listing.clone().first(view::MAX_ROWS))) (view::more(all)) } }
}

/// Renders a list like [`table`], with a last column for the cells of the page, such as buttons.
pub(crate) fn table_with(listing: &Listing, heading: &str, cells: Vec<Markup>) -> Markup {
    render(listing, &view::time, &str::to_owned, Some((heading, cells)))
}

impl<Z: TimeZones> ListTimes<'_, Z> {
    /// Renders a list with times in the time zone, which the headings of their columns name.
    pub fn table(&self, listing: &Listing) -> Markup {
        render(listing, &|text| self.cell(text), &|name| self.heading(name), None)
    }

    /// Renders a list like [`table`](Self::table), with a last column for the cells of the page.
    pub fn table_with(&self, listing: &Listing, heading: &str, cells: Vec<Markup>) -> Markup {
        let last = Some((heading, cells));
        render(listing, &|text| self.cell(text), &|name| self.heading(name), last)
    }
}

fn render(
    listing: &Listing,
    time: &dyn Fn(&str) -> Markup,
    heading_of_times: &dyn Fn(&str) -> String,
    last: Option<(&str, Vec<Markup>)>,
) -> Markup {
    let heading = |(index, name): (usize, &String)| match listing.is_time(index) {
        true => heading_of_times(name),
        false => name.clone(),
    };
    let mut headings: Vec<_> = listing.columns.iter().enumerate().map(heading).collect();
    let numbers = headings.iter().enumerate().filter(|(index, _)| listing.is_number(*index));
    let numbers: Vec<_> = numbers.map(|(_, heading)| heading.clone()).collect();
    let cells = |row: &Vec<Fact>| row.iter().map(|fact| cell(fact, time)).collect();
    let mut rows: Vec<Vec<_>> = listing.rows.iter().map(cells).collect();
    if let Some((heading, cells)) = last {
        headings.push(heading.to_owned());
        rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell));
    }
    let headings: Vec<_> = headings.iter().map(String::as_str).collect();
    let numbers: Vec<_> = numbers.iter().map(String::as_str).collect();
    view::table_of(&headings, &numbers, &rows, &listing.empty)
}

fn cell(fact: &Fact, time: &dyn Fn(&str) -> Markup) -> Markup {
    match fact {
        fact if fact.is_empty() => html! {},
        Fact::Text(text) | Fact::Words(text) | Fact::Message(text) | Fact::Link(text)
            if text.chars().nth(LONG).is_some() =>
        {
            html! { div.wide { (facts::value(fact, time)) } }
        }
        Fact::Month(month) => html! { (view::month(*month).replace(' ', "\u{a0}")) },
        fact => facts::value(fact, time),
    }
}
