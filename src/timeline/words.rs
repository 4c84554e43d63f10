//! The page's own sentences: a file for each language, a line for each sentence.

use super::language::Language;

/// A sentence, by its line. `{}` is where a value goes; `|` separates what is shown apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sentence {
    /// The heading, with the recipient's name.
    PledgedFor,
    /// The heading for a recipient without a name.
    PledgedForYou,
    /// Stands in for what caused the pledges.
    Cause,
    /// How many pledges there are: of one; then of `few`, in Polish, or of 0, where that is `one`;
    /// last of any other number.
    Pledges,
    /// How many pledges are not shown.
    More,
    /// A link, with the host that it leads to.
    SeeAt,
    /// An amount of something that has no name.
    Quantity,
    /// What the shop calls the transaction.
    Reference,
    /// Asks not to publish the address.
    Private,
    /// Test mode: what it is called, and what it means.
    Test,
    /// An address that opens nothing: heading, why, and what to do.
    NotFound,
    /// The store does not answer: heading, what happened, and what to do, with the link's text.
    Unavailable,
    /// A date: `{d}`, `{m}` and `{y}` are day, month and year.
    Date,
    /// The months as they stand in a date, with blanks between them.
    Months,
}

impl Language {
    /// What the page says in this language.
    pub fn say(self, sentence: Sentence) -> &'static str {
        self.sentences().lines().nth(sentence as usize).unwrap_or_default()
    }

    const fn sentences(self) -> &'static str {
        match self {
            Language::Da => include_str!("words/da.txt"),
            Language::De => include_str!("words/de.txt"),
            Language::En => include_str!("words/en.txt"),
            Language::Es => include_str!("words/es.txt"),
            Language::Fr => include_str!("words/fr.txt"),
            Language::It => include_str!("words/it.txt"),
            Language::Ja => include_str!("words/ja.txt"),
            Language::Nl => include_str!("words/nl.txt"),
            Language::Pl => include_str!("words/pl.txt"),
            Language::Pt => include_str!("words/pt.txt"),
            Language::Sv => include_str!("words/sv.txt"),
            Language::Zh => include_str!("words/zh.txt"),
        }
    }
}
