//! The fixed sentences and the date formats of pages and e-mails. Each language has a file, with one line for
//! each sentence.

use super::language::Language;
use std::borrow::Cow;

/// A fixed sentence. The sentences are in the same order as the lines of each language's file. `{}` is
/// replaced by a value; `|` separates the parts of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sentence {
    /// The heading, with the recipient's name.
    PledgedFor,
    /// The heading for a recipient without a name.
    PledgedForYou,
    /// The heading above the reason for the pledges, if the shop sent no phrase of its own.
    Cause,
    /// The number of pledges, in two or three plural forms. The first part is for 1, and the last part for
    /// most numbers. If there is a middle part, it is for `few` in Polish, or for 0 in languages that treat 0
    /// like 1.
    Pledges,
    /// The line that says how many pledges are not shown.
    More,
    /// The text of a link to another website, with the website's host.
    SeeAt,
    /// A quantity without any words for the offering, such as `Quantity: 3`.
    Quantity,
    Reference,
    /// The request to keep the link to the page private.
    Private,
    /// The notice on pages of test mode: the mode's name, and an explanation.
    Test,
    /// The texts of the page for a URL that belongs to no transaction: heading, cause, and what to do.
    NotFound,
    /// The texts of the page that is shown if the store does not answer: heading, what happened, and what
    /// to do. The last text has three parts: before, in and after a link.
    Unavailable,
    /// A date. `{d}`, `{m}` and `{y}` are replaced by day, month and year.
    Date,
    /// The names of the months, separated by spaces, in the grammatical form that dates need.
    Months,
    /// The subject of an e-mail, with the shop's name. The first part is for one pledge, with its quantity.
    /// The second part is for one pledge whose quantity cannot be put into words. The other parts are for
    /// several pledges, with their number: one or two plural forms, as in [`Sentence::Pledges`].
    MailSubject,
    /// The greeting, in two parts: with the recipient's name, and without.
    MailGreeting,
    /// The text of the link to the page.
    MailLink,
    /// The request to keep the link in an e-mail private.
    MailPrivate,
    /// The reason why the recipient gets the e-mail, with the shop's name.
    MailWhy,
    /// The reason why the recipient gets a message from a messaging service, with the shop's name.
    MessageWhy,
    /// The line for a pledge that has neither a noun nor a name: its quantity, and the ID of its offering.
    MailOf,
    /// The note on the page of a cancelled transaction, with the date of the cancellation.
    Cancelled,
    /// The heading that names the shop, in six parts; Polish has two more.
    ///
    /// - parts 1 and 2: with the quantity
    /// - parts 3 and 4: for one pledge whose quantity cannot be put into words
    /// - parts 5 and 6: for several pledges, with their number
    /// - parts 7 and 8: for `few` pledges in Polish
    ///
    /// The first part of each pair is for a recipient without a name, and the second part for a recipient
    /// with a name. The placeholders are `{shop}`, `{quantity}`, `{count}` and `{name}`.
    ShopPledged,
    /// The line with the total quantities, above a long list of pledges.
    Totals,
    /// The note that says in which time zone the dates are.
    Zone,
    /// A text that the recipient may share, in three parts: a label, what to do with the text, and the text
    /// itself, with `{shop}` and `{quantity}`.
    Share,
    /// The heading of the updates, in two parts: one without the name of the offering, and one with it.
    Since,
    /// The note on the updates, in two parts: which pledges they are about, and the reader's part, with its quantity.
    SinceNote,
    /// The text that is shown if there are no updates yet.
    NoUpdates,
    /// The text that is shown if the updates could not be read.
    UpdatesUnavailable,
    /// The names of the stages of the work: funded, under way, done, verified.
    Stages,
    /// The labels of an update's facts: quantity, place, partner, report.
    Facts,
    /// The label of the older updates, with their number.
    EarlierUpdates,
    /// The word above the heading of a printed page.
    Certificate,
    /// The form for e-mails with news, in four parts: the button that asks for them, what they are, that the buyer gets them,
    /// and the button that ends them.
    NewsForm,
    /// The texts of the page after these e-mails were ended: heading, and how to ask for them again.
    NewsEnded,
    /// The subject of an e-mail with news, with the shop's name.
    NewsSubject,
    /// The reason why the buyer gets an e-mail with news.
    NewsWhy,
}

impl Language {
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

/// Returns the part of a sentence with this index, counted from 0.
pub(super) fn part(sentence: &'static str, index: usize) -> &'static str {
    sentence.split('|').nth(index).unwrap_or_default()
}

/// Splits a sentence at its placeholders, and replaces them by their values. Returns the pieces in order,
/// each with a flag that is true for a value. `values` are pairs of name and value: the name is `shop` for
/// `{shop}`, and empty for `{}`.
pub(super) fn pieces<'s>(
    sentence: &'s str,
    values: &'s [(&str, Cow<'_, str>)],
) -> impl Iterator<Item = (bool, &'s str)> {
    sentence.split(['{', '}']).enumerate().map(|(index, piece)| {
        let value = values.iter().find(|(name, _)| index % 2 == 1 && *name == piece);
        value.map_or((false, piece), |(_, value)| (true, &**value))
    })
}

/// Replaces each `{}` in a sentence with the next of the values.
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
