//! The question that a person must confirm before a change.

use super::facts::{Fact, Facts, in_lines};
use super::listing::Listing;
use super::table::paragraphs;

/// What a person must confirm before a change. A command prints it and reads `yes`. The dashboard shows a page with a
/// button.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// The question, such as `Remove this fulfilment?`.
    pub ask: String,
    /// What was not done if the person does not confirm, such as `nothing was removed`.
    pub otherwise: &'static str,
    /// The label of the button that confirms, such as `Remove`.
    pub button: String,
    /// What the change is about.
    pub facts: Facts,
    /// What the change is about, as a table.
    pub rows: Listing,
    /// What the change does: one or more sentences, or empty.
    pub effect: String,
    /// The word that a person types in the dashboard to confirm; empty if pressing the button is enough.
    pub typed: String,
    /// Other arguments that the person may have meant, which the dashboard offers with a button of their own.
    pub instead: Option<Instead>,
}

/// Arguments that a person may have meant instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instead {
    /// The label of the button, such as `Use the unit shop_1`.
    pub button: String,
    /// The names and values of the arguments.
    pub arguments: Vec<(&'static str, String)>,
}

impl Question {
    pub fn new(ask: impl Into<String>, otherwise: &'static str) -> Self {
        Question { ask: ask.into(), otherwise, button: "Confirm".to_owned(), ..Question::default() }
    }

    #[must_use]
    pub fn button(self, button: impl Into<String>) -> Self {
        Question { button: button.into(), ..self }
    }

    #[must_use]
    pub fn about(self, facts: Facts) -> Self {
        Question { facts, ..self }
    }

    #[must_use]
    pub fn with_rows(self, rows: Listing) -> Self {
        Question { rows, ..self }
    }

    #[must_use]
    pub fn typed(self, word: impl Into<String>) -> Self {
        Question { typed: word.into(), ..self }
    }

    #[must_use]
    pub fn effect(self, effect: impl Into<String>) -> Self {
        Question { effect: effect.into(), ..self }
    }

    #[must_use]
    pub fn or(self, instead: Option<Instead>) -> Self {
        Question { instead, ..self }
    }

    /// Returns the question as text for a command. Its last paragraph is the question itself. `place` says where the
    /// records are.
    pub fn in_words(&self, place: &str) -> String {
        let place = ("In", Fact::Words(place.to_owned()));
        let facts: Facts = self.facts.iter().cloned().chain([place]).collect();
        paragraphs([in_lines(&facts), self.rows.in_lines(), self.effect.clone(), self.ask.clone()])
    }
}
