//! CSV for spreadsheets, as in RFC 4180. A byte order mark tells Excel that the file is UTF-8.

use crate::buyer::visible::{is_invisible, shown};

/// The first character of a CSV file.
pub const BYTE_ORDER_MARK: &str = "\u{feff}";

pub fn lines<R: IntoIterator<Item: AsRef<str>>>(rows: impl IntoIterator<Item = R>) -> String {
    rows.into_iter().map(line).collect()
}

fn line(row: impl IntoIterator<Item: AsRef<str>>) -> String {
    let cells: Vec<_> = row.into_iter().map(|cell| quoted(cell.as_ref())).collect();
    cells.join(",") + "\r\n"
}

fn quoted(cell: &str) -> String {
    if cell.contains(['"', ',', ';', '\t', '|', '\r', '\n']) {
        return ["\"", &cell.replace('"', "\"\""), "\""].concat();
    }
    cell.to_owned()
}

/// Says whether a spreadsheet's cell may begin at a position in a text. Besides commas, spreadsheets may
/// split lines at other characters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// At the beginning, or after a separator.
    Beginning,
    /// After a blank. A blank separates cells only if the spreadsheet's user has chosen that.
    BehindBlank,
    /// At any other position.
    Within,
}

/// Makes a text that a person entered safe for a cell: one line that is not a formula. If a cell begins with
/// `=`, `+`, `-` or `@`, a spreadsheet reads it as a formula. An apostrophe before the character prevents
/// that.
pub fn text(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + 1);
    let mut place = Place::Beginning;
    let mut characters = text.chars().map(shown).peekable();
    while let Some(character) = characters.next() {
        let ends = characters.peek().is_none_or(|next| next.is_whitespace());
        if begins_formula(character)
            && (place == Place::Beginning || place == Place::BehindBlank && !ends)
        {
            safe.push('\'');
        }
        safe.push(character);
        place = next_place(place, character);
    }
    safe
}

/// Returns whether a character begins a formula. Includes the full-width forms, which count if the
/// spreadsheet has Chinese or Japanese settings.
fn begins_formula(character: char) -> bool {
    matches!(character, '=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠')
}

fn next_place(place: Place, character: char) -> Place {
    match character {
        ',' | ';' | '|' | ':' => Place::Beginning,
        '"' | '\'' => place, // around a cell
        _ if character.is_whitespace() => match place {
            Place::Within => Place::BehindBlank,
            _ => place,
        },
        _ if is_invisible(character) => place, // some spreadsheets drop U+FEFF and the like
        _ => Place::Within,
    }
}
