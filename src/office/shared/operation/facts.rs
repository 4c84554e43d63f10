//! What a change is about, or what it did, as facts: pairs of a label and a value. A command prints them as lines, and the
//! dashboard shows them as a list.

use super::table::{columns, facts, time};
use crate::pledges::settlement::Month;

/// The value of a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A text of our own.
    Words(String),
    /// A text that a shop, a recipient or an operator wrote.
    Text(String),
    /// An ID, or another text that people copy.
    Id(String),
    /// An RFC 3339 date-time.
    Time(String),
    /// A day, such as `2026-11-03`.
    Day(String),
    Month(Month),
    Money {
        amount: String,
        currency: String,
    },
    Link(String),
    /// A text of several lines, which people copy.
    Lines(String),
    /// Several values, one below the other.
    List(Vec<Fact>),
}

/// Pairs of a label and a value. Empty values are not shown.
pub type Facts = Vec<(&'static str, Fact)>;

impl Fact {
    /// Creates a text that may be missing.
    pub fn text(text: Option<&str>) -> Self {
        Fact::Text(text.unwrap_or_default().to_owned())
    }

    pub fn money(amount: &str, currency: &str) -> Self {
        Fact::Money { amount: amount.to_owned(), currency: currency.to_owned() }
    }

    pub fn is_empty(&self) -> bool {
        self.in_words().is_empty()
    }

    /// Returns the value as one line of text.
    pub fn in_words(&self) -> String {
        match self {
            Fact::Words(text)
            | Fact::Text(text)
            | Fact::Id(text)
            | Fact::Day(text)
            | Fact::Link(text)
            | Fact::Lines(text) => text.clone(),
            Fact::Time(text) => time(text),
            Fact::Month(month) => month.to_string(),
            Fact::Money { amount, currency } => format!("{amount} {currency}"),
            Fact::List(facts) => facts.iter().map(Fact::in_words).collect::<Vec<_>>().join("; "),
        }
    }
}

/// A table of facts: each row has a value for each heading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    pub heads: &'static [&'static str],
    pub rows: Vec<Vec<Fact>>,
}

impl Rows {
    /// Formats the table as text; empty if it has no rows.
    pub fn in_words(&self) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let heads: Vec<_> = self.heads.iter().map(|head| head.to_uppercase()).collect();
        let cells = |row: &Vec<Fact>| row.iter().map(Fact::in_words).collect::<Vec<_>>();
        let rows: Vec<_> = self.rows.iter().map(cells).collect();
        columns(std::iter::once(&heads).chain(&rows).map(Vec::as_slice))
    }
}

/// Formats facts as lines of text, with the labels in a column.
pub fn in_lines(all: &[(&'static str, Fact)]) -> String {
    facts(all.iter().map(|(label, fact)| (*label, Some(fact.in_words()))))
}
