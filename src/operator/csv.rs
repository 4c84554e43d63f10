//! Tables for a spreadsheet, as RFC 4180 has them. A byte order mark tells Excel that they are UTF-8.

/// The beginning of a file.
pub const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Writes rows, each as a line.
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

/// Where a cell may begin within a text: a spreadsheet may split lines at another character than the comma.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// At the beginning, or behind a separator.
    Beginning,
    /// Behind a blank, which separates cells where somebody has chosen that.
    BehindBlank,
    Within,
}

/// A text that a person wrote, in one line. A spreadsheet would take `=`, `+`, `-` and `@` at the beginning of a cell for
/// a formula: an apostrophe before them makes it a text.
pub fn text(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + 1);
    let mut place = Place::Beginning;
    let mut characters = text.chars().map(visible).peekable();
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

/// With the forms of full width, which a spreadsheet with Chinese or Japanese settings takes, too.
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
        _ => Place::Within,
    }
}

/// Controls and what turns the direction of text could show another line than there is.
fn visible(character: char) -> char {
    let turns = matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if character.is_control() || turns { '\u{fffd}' } else { character }
}
