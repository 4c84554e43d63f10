//! The page's own sentences and dates: a file for each language, a line for each sentence.

use super::language::Language;

/// A sentence, by its line in the file. `{}` stands for a value; `|` separates the parts that are
/// shown apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sentence {
    /// The heading, with the recipient's name.
    PledgedFor,
    /// The heading for a recipient without a name.
    PledgedForYou,
    /// The heading of the cause, if the shop sent no phrase.
    Cause,
    /// How many pledges there are, in two or three parts: for 1; for Polish's `few`, or for 0 in
    /// languages in which that is `one`; for any other number.
    Pledges,
    /// How many pledges are not shown.
    More,
    /// A link, with its host.
    SeeAt,
    /// An amount without a noun or name.
    Quantity,
    /// The shop's reference of the transaction.
    Reference,
    /// The request not to publish the page's address.
    Private,
    /// Test mode: its name, and an explanation.
    Test,
    /// An address that leads to no transaction: heading, why, and what to do.
    NotFound,
    /// The store does not answer: heading, what happened, and what to do, with the link's text.
    Unavailable,
    /// A date: `{d}`, `{m}` and `{y}` stand for day, month and year.
    Date,
    /// The months in the form that dates have, separated by blanks.
    Months,
    /// The subject of an e-mail, with the shop: for one pledge, with its quantity; for one without
    /// words; for several, with their number, in one or two parts as in [`Sentence::Pledges`].
    MailSubject,
    /// The greeting, with the recipient's name; for a recipient without a name.
    MailGreeting,
    /// The link to the page.
    MailLink,
    /// Whose the page is.
    MailPrivate,
    /// Why the recipient gets the e-mail, with the shop.
    MailWhy,
    /// A pledge without noun and name: its quantity, and the ID of its offering.
    MailOf,
}

impl Language {
    /// Returns a sentence in this language, with its placeholders.
    pub fn text(self, sentence: Sentence) -> &'static str {
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

/// Returns one of the parts of a sentence, counted from 0.
pub(super) fn part(sentence: &'static str, index: usize) -> &'static str {
    sentence.split('|').nth(index).unwrap_or_default()
}

/// Inserts values into a sentence, one after another.
pub(super) fn fill(sentence: &str, values: &[&str]) -> String {
    let mut values = values.iter();
    let mut pieces = sentence.split("{}");
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        text.push_str(values.next().unwrap_or(&""));
        text.push_str(piece);
    }
    text
}
