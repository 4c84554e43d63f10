//! A list, or sums, as one value: columns, and rows of facts. A page and a command show it as a table, and a CSV file has it
//! for a spreadsheet.

use super::facts::Fact;
use super::table::in_columns;
use crate::office::shared::rule::csv;
use crate::office::shared::rule::csv::BYTE_ORDER_MARK;

/// A column of a list: its name, and the value that a row has in it.
pub type Column<'c, R> = (&'c str, &'c dyn Fn(&R) -> Fact);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    pub columns: Vec<String>,
    /// The rows, each with a value for each column.
    pub rows: Vec<Vec<Fact>>,
    /// What is said instead of an empty table.
    pub empty: String,
}

impl Listing {
    /// Creates a list. `empty` is said if there are no rows.
    pub fn new<R>(
        rows: impl IntoIterator<Item = R>,
        empty: &str,
        columns: &[Column<'_, R>],
    ) -> Self {
        let row = |row: R| columns.iter().map(|(_, value)| value(&row)).collect();
        Listing {
            columns: columns.iter().map(|(name, _)| (*name).to_owned()).collect(),
            rows: rows.into_iter().map(row).collect(),
            empty: empty.to_owned(),
        }
    }

    /// Leaves out these columns: those that a page, a command or a file does not show.
    #[must_use]
    pub fn without(mut self, names: &[&str]) -> Self {
        let is_kept: Vec<_> =
            self.columns.iter().map(|column| !names.contains(&&**column)).collect();
        keep(&mut self.columns, &is_kept);
        self.rows.iter_mut().for_each(|row| keep(row, &is_kept));
        self
    }

    /// Leaves out all columns but these.
    #[must_use]
    pub fn only(self, names: &[&str]) -> Self {
        let others = self.columns.iter().filter(|column| !names.contains(&&***column));
        let others: Vec<_> = others.cloned().collect();
        self.without(&others.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Leaves out all rows but the first `most`.
    #[must_use]
    pub fn first(mut self, most: usize) -> Self {
        self.rows.truncate(most);
        self
    }

    /// Replaces the text for an empty list.
    #[must_use]
    pub fn or(self, empty: &str) -> Self {
        Listing { empty: empty.to_owned(), ..self }
    }

    /// Returns whether the column has numbers, which are aligned at their end.
    pub fn is_number(&self, column: usize) -> bool {
        self.values(column).any(Fact::is_number)
    }

    /// Returns whether the column has times.
    pub fn is_time(&self, column: usize) -> bool {
        self.values(column).any(|fact| matches!(fact, Fact::Time(_)))
    }

    fn values(&self, column: usize) -> impl Iterator<Item = &Fact> {
        self.rows.iter().filter_map(move |row| row.get(column))
    }

    /// Formats the list as a table for a terminal.
    pub fn in_lines(&self) -> String {
        if self.rows.is_empty() {
            return self.empty.clone();
        }
        let head = self.columns.iter().map(|column| column.to_uppercase()).collect();
        let rows = self.rows.iter().map(|row| row.iter().map(Fact::in_words).collect());
        in_columns(std::iter::once(head).chain(rows)).join("\n")
    }

    /// Formats the list as a CSV file. Its columns have names such as `to_be_done`.
    pub fn csv(&self) -> String {
        let name = |column: &String| column.to_lowercase().replace(' ', "_");
        let head = csv::lines([self.columns.iter().map(name)]);
        [BYTE_ORDER_MARK, &head, &self.csv_lines()].concat()
    }

    /// Formats the rows as lines of a CSV file, for a file that is written in parts.
    pub fn csv_lines(&self) -> String {
        csv::lines(self.rows.iter().map(|row| row.iter().map(Fact::in_csv)))
    }
}

fn keep<T>(values: &mut Vec<T>, is_kept: &[bool]) {
    let mut is_kept = is_kept.iter();
    values.retain(|_| is_kept.next().copied().unwrap_or_default());
}
