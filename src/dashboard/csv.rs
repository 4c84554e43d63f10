//! Tables for a spreadsheet, as RFC 4180 has them.

/// A file of these rows, the first of which has the headings.
pub(super) fn file(rows: &[Vec<String>]) -> Vec<u8> {
    let line = |row: &Vec<String>| {
        row.iter().map(|cell| quoted(cell)).collect::<Vec<_>>().join(",") + "\r\n"
    };
    rows.iter().map(line).collect::<String>().into_bytes()
}

/// A text that a person wrote. A spreadsheet would take one that begins like this for a formula.
pub(super) fn text(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
    if is_formula { ["'", text].concat() } else { text.to_owned() }
}

fn quoted(cell: &str) -> String {
    if cell.contains(['"', ',', '\r', '\n']) {
        return ["\"", &cell.replace('"', "\"\""), "\""].concat();
    }
    cell.to_owned()
}
