//! Text for a terminal: columns, times, counts.

use crate::time::{date_time_in_seconds, parse_ms};

/// What moves a terminal's cursor, or turns text around, is shown as U+FFFD.
fn visible(text: &str) -> String {
    let hides = |char: char| {
        char.is_control() || matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|char| if hides(char) { '\u{fffd}' } else { char }).collect()
}

/// Rows in columns, below headings. Each cell is one line.
pub fn table<const N: usize>(headings: [&str; N], rows: &[[String; N]]) -> String {
    let headings = headings.map(str::to_owned);
    lines_of(std::iter::once(&headings).chain(rows)).join("\n")
}

/// Names and texts in two columns. A row without a text is left out.
pub fn facts<'f>(rows: impl IntoIterator<Item = (&'f str, Option<String>)>) -> String {
    let named = |(name, text): (&str, Option<String>)| {
        let text = text.filter(|text| !text.is_empty())?;
        Some([name.to_owned(), text])
    };
    let rows: Vec<_> = rows.into_iter().filter_map(named).collect();
    lines_of(rows.iter()).join("\n")
}

fn lines_of<'r, const N: usize>(rows: impl Iterator<Item = &'r [String; N]>) -> Vec<String> {
    let rows: Vec<_> = rows.map(|row| row.each_ref().map(|cell| visible(cell))).collect();
    let mut widths = [0; N];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// An RFC 3339 date-time to the second, in UTC: the one way in which commands print times.
pub fn time(text: &str) -> String {
    parse_ms(text).map_or_else(|| text.to_owned(), |ms| date_time_in_seconds(ms / 1_000))
}

/// The same of milliseconds since 1970.
pub fn time_of(ms: u64) -> String {
    date_time_in_seconds(ms / 1_000)
}

/// Empty for none.
pub fn text(text: Option<&str>) -> String {
    text.unwrap_or_default().to_owned()
}

/// Empty for 0.
pub fn some(count: usize) -> String {
    if count == 0 { String::new() } else { count.to_string() }
}

/// `1 unit`, `3 units`
pub fn counted(count: usize, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

/// The parts that are there, separated by a blank line.
pub fn paragraphs<const N: usize>(parts: [String; N]) -> String {
    let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}

/// A text as a sentence.
pub fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|char| char.to_ascii_uppercase());
    let end = if text.ends_with('.') { "" } else { "." };
    first.into_iter().chain(chars).chain(end.chars()).collect()
}
