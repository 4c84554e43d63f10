//! Text for a terminal: columns, times and counts.

use crate::buyer::visible::shown;
use crate::pledges::time::{date_time_in_seconds, parse_ms};

/// Formats rows in columns, below headings. Each cell is one line.
pub fn table<const N: usize>(headings: [&str; N], rows: &[[String; N]]) -> String {
    let headings = headings.map(str::to_owned);
    columns(std::iter::once(&headings[..]).chain(rows.iter().map(<[_; N]>::as_slice)))
}

/// Formats names and texts in two columns. Leaves out rows without a text.
pub fn facts<'f>(rows: impl IntoIterator<Item = (&'f str, Option<String>)>) -> String {
    let named = |(name, text): (&str, Option<String>)| {
        let text = text.filter(|text| !text.is_empty())?;
        Some([name.to_owned(), text])
    };
    let rows: Vec<_> = rows.into_iter().filter_map(named).collect();
    columns(rows.iter().map(<[_; 2]>::as_slice))
}

/// Formats rows in columns. All rows have the same number of cells.
pub fn columns<'r>(rows: impl Iterator<Item = &'r [String]>) -> String {
    let cell = |cell: &String| cell.chars().map(shown).collect::<String>();
    let rows: Vec<Vec<_>> = rows.map(|row| row.iter().map(cell).collect()).collect();
    let mut widths = vec![0; rows.first().map_or(0, Vec::len)];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Formats an RFC 3339 date-time to the second, in UTC. Commands print every time in this format.
pub fn time(text: &str) -> String {
    parse_ms(text).map_or_else(|| text.to_owned(), |ms| date_time_in_seconds(ms / 1_000))
}

/// Formats milliseconds since 1970 as [`time`] does.
pub fn time_of(ms: u64) -> String {
    date_time_in_seconds(ms / 1_000)
}

/// Returns the text; empty for `None`.
pub fn text(text: Option<&str>) -> String {
    text.unwrap_or_default().to_owned()
}

/// Returns the count as text; empty for 0.
pub fn some(count: usize) -> String {
    if count == 0 { String::new() } else { count.to_string() }
}

/// Returns a count with its noun, such as `1 unit` or `3 units`.
pub fn counted(count: usize, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

/// Joins the non-empty parts, with a blank line between them.
pub fn paragraphs<const N: usize>(parts: [String; N]) -> String {
    let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}

/// Makes the text a sentence: a capital letter and a full stop.
pub fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|char| char.to_ascii_uppercase());
    let end = if text.ends_with('.') { "" } else { "." };
    first.into_iter().chain(chars).chain(end.chars()).collect()
}
