//! The fixed sentences and the dates of pages and e-mails: a file for each language, a line for each sentence.

use super::language::Language;
use std::borrow::Cow;

/// A sentence. Its position is the line in the file. `{}` is replaced by a value; `|` separates parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sentence {
    /// The heading, with the recipient's name.
    PledgedFor,
    /// The heading for a recipient without a name.
    PledgedForYou,
    /// The heading of the cause, if the shop sent no phrase.
    Cause,
    /// The number of pledges, in two or three parts. The first part is for 1, and the last one for most numbers. The
    /// part between them is for Polish's `few`, or for 0 in languages whose plural category of 0 is `one`.
    Pledges,
    /// The number of pledges that are not shown.
    More,
    /// The text of a link, with the host.
    SeeAt,
    /// An amount without a noun or name.
    Quantity,
    /// The shop's reference of the transaction.
    Reference,
    /// The request to keep the link to the page private.
    Private,
    /// Test mode: its name, and an explanation.
    Test,
    /// The page for a URL that belongs to no transaction: heading, cause, and what to do.
    NotFound,
    /// The page that is shown if the store does not answer: heading, what happened, and what to do, with the text of a
    /// link.
    Unavailable,
    /// A date. `{d}`, `{m}` and `{y}` are replaced by day, month and year.
    Date,
    /// The names of the months in the form for dates, separated by spaces.
    Months,
    /// The subject of an e-mail, with the shop. Its parts: for one pledge, with its quantity; for one pledge whose quantity has
    /// no words; for several, with their number, in one or two parts as in [`Sentence::Pledges`].
    MailSubject,
    /// The greeting, in two parts: with the recipient's name, and without.
    MailGreeting,
    /// The text of the link to the page.
    MailLink,
    /// The request to keep the link in an e-mail private.
    MailPrivate,
    /// Why the recipient gets the e-mail, with the shop.
    MailWhy,
    /// Why the recipient gets a message by a messaging service, with the shop.
    MessageWhy,
    /// The line for a pledge without noun and name: its quantity, and the ID of its offering.
    MailOf,
    /// The note on a page that an operator cancelled the transaction, with the date.
    Cancelled,
    /// The heading that names the shop, in pairs: for a recipient without a name, and with one. The pairs: with a
    /// quantity; for one pledge whose quantity has no words; for several pledges, with their number. In Polish, a
    /// fourth pair is for `few` pledges. `{shop}`, `{quantity}`, `{count}` and `{name}` are replaced.
    ShopPledged,
    /// The line above many pledges, with the sums of their quantities.
    Totals,
    /// The time zone of the dates.
    Zone,
    /// The text that a recipient may share: its label, what to do with it, and the text, with `{shop}` and `{quantity}`.
    Share,
    /// The heading of the updates, in two parts: without and with the offering that they are about.
    Since,
    /// Which pledges the updates are about.
    SinceNote,
    /// What stands in place of updates if there are none.
    NoUpdates,
    /// What stands in place of updates if they could not be read.
    UpdatesUnavailable,
    /// The names of the stages: funded, under way, done, verified.
    Stages,
    /// The labels of an update's facts: quantity, place, partner, report.
    Facts,
    /// The label of the older updates, with their number.
    EarlierUpdates,
    /// The word above the heading of a printed page.
    Certificate,
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
            Language::PtBr => include_str!("words/pt-BR.txt"),
            Language::Sv => include_str!("words/sv.txt"),
            Language::Zh => include_str!("words/zh.txt"),
        }
    }
}

/// Returns a part of a sentence, counted from 0.
pub(super) fn part(sentence: &'static str, index: usize) -> &'static str {
    sentence.split('|').nth(index).unwrap_or_default()
}

/// Returns the pieces of a sentence: each with whether it is a value. `values` has the names of the placeholders, such
/// as `shop` for `{shop}`, with their values. The name of `{}` is empty.
pub(super) fn pieces<'s>(
    sentence: &'s str,
    values: &'s [(&str, Cow<'_, str>)],
) -> impl Iterator<Item = (bool, &'s str)> {
    sentence.split(['{', '}']).enumerate().map(|(index, piece)| {
        let value = values.iter().find(|(name, _)| index % 2 == 1 && *name == piece);
        value.map_or((false, piece), |(_, value)| (true, &**value))
    })
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
