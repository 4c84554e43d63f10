//! Text for a terminal: columns, times and counts.

use crate::buyer::visible::shown;
use crate::pledges::time::{date_time_in_seconds, parse_ms};
use std::fmt::Display;

/// Formats names and texts in two columns. Leaves out rows without a text.
pub fn facts<'f>(rows: impl IntoIterator<Item = (&'f str, Option<String>)>) -> String {
    let named = |(name, text): (&str, Option<String>)| {
        let text = text.filter(|text| !text.is_empty())?;
        Some(vec![name.to_owned(), text])
    };
    in_columns(rows.into_iter().filter_map(named)).join("\n")
}

/// Formats rows as lines in which the cells of a column are below each other.
pub(super) fn in_columns(rows: impl Iterator<Item = Vec<String>>) -> Vec<String> {
    let visible = |cell: String| cell.chars().map(shown).collect::<String>();
    let rows: Vec<Vec<_>> = rows.map(|row| row.into_iter().map(visible).collect()).collect();
    let mut widths = vec![0; rows.first().map_or(0, Vec::len)];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// Formats an RFC 3339 date-time to the second, in UTC. Commands print every time in this format.
pub fn time(text: &str) -> String {
    parse_ms(text).map_or_else(|| text.to_owned(), |ms| date_time_in_seconds(ms / 1_000))
}

/// Returns a count with its noun, such as `1 unit` or `3 units`. `one` is the noun in the singular.
pub fn counted<N: Display + PartialEq + From<u8>>(count: N, one: &str) -> String {
    format!("{count} {one}{}", if count == N::from(1) { "" } else { "s" })
}

/// Joins the non-empty parts, with a blank line between them.
pub fn paragraphs<const N: usize>(parts: [String; N]) -> String {
    let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}

/// Makes the text a sentence: a capital letter and a full stop.
pub fn sentence(text: &str) -> String {
    let text = capital(text);
    if text.ends_with(['.', '!', '?']) { text } else { text + "." }
}

/// Returns the text with its first letter in upper case, unless it begins with an e-mail address.
pub fn capital(text: &str) -> String {
    if text.split(' ').next().is_some_and(|word| word.contains('@')) {
        return text.to_owned();
    }
    let mut characters = text.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + characters.as_str()
}
