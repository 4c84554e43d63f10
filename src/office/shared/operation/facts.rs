//! What a change is about, or what it did, as facts: pairs of a label and a value. A command prints them as lines, and the
//! dashboard shows them as a list.

use super::link;
use super::table::{facts, time};
use crate::office::shared::rule::csv;
use crate::pledges::scope::Mode;
use crate::pledges::settlement::Month;
use crate::pledges::time::date_time;

/// The value of a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A text of our own.
    Words(String),
    /// A text that a shop, a recipient or an operator wrote.
    Text(String),
    /// An error message: pages show its values between backticks as code.
    Message(String),
    /// An ID, or another text that people copy.
    Id(String),
    /// A decimal. Pages group its digits.
    Number(String),
    /// A decimal that is left out if it is 0, except in files.
    Some(String),
    /// An RFC 3339 date-time.
    Time(String),
    /// A day, such as `2026-11-03`.
    Day(String),
    Month(Month),
    Mode(Mode),
    Money {
        amount: String,
        currency: String,
    },
    Link(String),
    /// A value that is a link to a page of the dashboard, with the page's address.
    Page(String, Box<Fact>),
    /// A value that pages set in bold.
    Strong(Box<Fact>),
    /// A state, which pages show as a label.
    Tag(Tone, String),
    /// A unit, by its name if it has one.
    Unit {
        id: String,
        name: Option<String>,
    },
    /// A text of several lines, which people copy.
    Lines(String),
    /// Several values, one below the other.
    List(Vec<Fact>),
    /// Several values, one beside the other.
    Row(Vec<Fact>),
}

/// What a state means for the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Plain,
    /// Something to note.
    Note,
    /// Something is wrong.
    Alarm,
}

/// Pairs of a label and a value. Empty values are not shown.
pub type Facts = Vec<(&'static str, Fact)>;

impl Fact {
    pub fn none() -> Self {
        Fact::Words(String::new())
    }

    pub fn words(words: &str) -> Self {
        Fact::Words(words.to_owned())
    }

    /// Creates a text that may be missing.
    pub fn text(text: Option<&str>) -> Self {
        Fact::Text(text.unwrap_or_default().to_owned())
    }

    pub fn id(id: &str) -> Self {
        Fact::Id(id.to_owned())
    }

    pub fn money(amount: &str, currency: &str) -> Self {
        Fact::Money { amount: amount.to_owned(), currency: currency.to_owned() }
    }

    pub fn number(number: impl ToString) -> Self {
        Fact::Number(number.to_string())
    }

    /// Creates a number that is left out if it is 0.
    pub fn some(number: impl ToString) -> Self {
        Fact::Some(number.to_string())
    }

    /// Creates a time from an RFC 3339 date-time that may be missing.
    pub fn time<'t>(time: impl Into<Option<&'t str>>) -> Self {
        Fact::Time(time.into().unwrap_or_default().to_owned())
    }

    /// Creates a time from milliseconds since 1970.
    pub fn time_of(ms: u64) -> Self {
        Fact::Time(date_time(ms))
    }

    /// Creates a link to a unit that is called by its ID.
    pub fn unit(id: &str) -> Self {
        Fact::unit_named(id, None)
    }

    /// Creates a link to a unit.
    pub fn unit_named(id: &str, name: Option<&str>) -> Self {
        let unit = Fact::Unit { id: id.to_owned(), name: name.map(str::to_owned) };
        unit.at(link::path(&["units", id]))
    }

    /// Creates a link to a transaction.
    pub fn transaction(id: &str) -> Self {
        Fact::id(id).at(link::path(&["transactions", id]))
    }

    /// Creates a link to a transaction that is called by its reference, or by its ID if the reference is not known.
    pub fn order(id: &str, reference: Option<&str>) -> Self {
        match reference.filter(|reference| !reference.trim().is_empty()) {
            Some(reference) => {
                Fact::Text(reference.to_owned()).at(link::path(&["transactions", id]))
            }
            None => Fact::transaction(id),
        }
    }

    /// Makes the value a link to a page of the dashboard.
    #[must_use]
    pub fn at(self, address: String) -> Self {
        Fact::Page(address, Box::new(self))
    }

    #[must_use]
    pub fn strong(self) -> Self {
        Fact::Strong(Box::new(self))
    }

    pub fn is_empty(&self) -> bool {
        self.in_words().is_empty()
    }

    pub fn is_number(&self) -> bool {
        match self {
            Fact::Number(_) | Fact::Some(_) | Fact::Money { .. } => true,
            Fact::Page(_, fact) | Fact::Strong(fact) => fact.is_number(),
            Fact::List(facts) => facts.first().is_some_and(Fact::is_number),
            _ => false,
        }
    }

    /// Returns the value as one line of text.
    pub fn in_words(&self) -> String {
        match self {
            Fact::Words(text)
            | Fact::Text(text)
            | Fact::Message(text)
            | Fact::Id(text)
            | Fact::Number(text)
            | Fact::Day(text)
            | Fact::Link(text)
            | Fact::Lines(text)
            | Fact::Tag(_, text)
            | Fact::Unit { id: text, .. } => text.clone(),
            Fact::Some(number) if matches!(&**number, "0" | "0.00") => String::new(),
            Fact::Some(number) => number.clone(),
            Fact::Time(text) => time(text),
            Fact::Mode(mode) => mode.name().to_owned(),
            Fact::Month(month) => month.to_string(),
            Fact::Money { amount, currency } => format!("{amount} {currency}"),
            Fact::Page(_, fact) | Fact::Strong(fact) => fact.in_words(),
            Fact::List(facts) => joined(facts, "; "),
            Fact::Row(facts) if matches!(facts.first(), Some(Fact::Tag(..))) => joined(facts, ", "),
            Fact::Row(facts) => joined(facts, " "),
        }
    }

    /// Returns the value as a cell of a CSV file. Numbers are those of the service, so a minus sign begins no formula. An
    /// amount is without its currency, for which the list has a column.
    pub fn in_csv(&self) -> String {
        match self {
            Fact::Number(number) | Fact::Some(number) => number.clone(),
            Fact::Money { amount, .. } => amount.clone(),
            Fact::Time(time) => csv::text(time),
            Fact::Page(_, fact) | Fact::Strong(fact) => fact.in_csv(),
            fact => csv::text(&fact.in_words()),
        }
    }
}

fn joined(facts: &[Fact], separator: &str) -> String {
    let words = facts.iter().map(Fact::in_words).filter(|words| !words.is_empty());
    words.collect::<Vec<_>>().join(separator)
}

/// Formats facts as lines of text, with the labels in a column.
pub fn in_lines(all: &[(&'static str, Fact)]) -> String {
    facts(all.iter().map(|(label, fact)| (*label, Some(fact.in_words()))))
}
