//! The e-mail that informs a recipient about the pledges.
//!
//! The e-mail has the same content as plain text and as HTML. Neither loads anything, and each has one link: to the
//! page of the transaction. A buyer may abuse the recipient's name to send a message to somebody else. Therefore names
//! and other texts of a shop are [truncated, and broken where a mail program would turn them into a link](brief).

use super::accent::{Colour, DARK_PAPER, LIGHT_PAPER};
use super::calendar::Calendar;
use super::language::{Language, Plural};
use super::page::{SERVICE_NAME, recipient_name};
use super::profile::Profile;
use super::quantity::Line;
use super::text::{brief, sender};
use super::words::{Sentence, fill, part};
use crate::pledge::{RetrievedPledgeTransaction, Trigger};
use crate::time::TimeZones;
use crate::web_address::WebAddress;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::borrow::Cow;

/// Maximum number of pledges that are listed. Of the others, the e-mail says only how many there are.
const MAX_PLEDGES: usize = 20;

/// The service's green on light and on dark paper.
const LEAF: (Colour, Colour) = (Colour([0x2c, 0x6a, 0x4a]), Colour([0x86, 0xcd, 0xa2]));

// All mail programs apply inline styles. Some also apply the styles of a `style` element.
const PAPER: &str = "margin:0;padding:0;background:#fbfaf5;color:#1c2822";
const COLUMN: &str = "max-width:560px;border-collapse:collapse";
const TEXT: &str = "font:17px/1.55 system-ui,-apple-system,'Segoe UI',sans-serif;text-align:start;\
                    overflow-wrap:anywhere";
const HEADING: &str = "margin:0 0 20px;font:400 26px/1.25 ui-serif,Palatino,'Palatino Linotype',Georgia,serif;\
     text-wrap:balance;word-break:auto-phrase";
const PARAGRAPH: &str = "margin:0 0 20px;text-wrap:pretty";
const SOFT: &str = "margin:0 0 8px;font-size:14px;color:#56635b;text-wrap:pretty";
const FOOT: &str = "margin:28px 0 0;padding:20px 0 0;border-top:1px solid #dde3da";
const BUTTON: &str = "display:inline-block;padding:12px 22px;border-radius:6px;\
                      text-decoration:none;font-weight:600";

/// An e-mail without the addresses of sender and recipient.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mail {
    /// The language of the e-mail.
    pub language: Language,
    /// The name of the sender, which is the unit's name.
    pub sender: String,
    /// The subject: one line.
    pub subject: String,
    /// The content as plain text.
    pub text: String,
    /// The content as HTML.
    pub html: String,
}

/// Writes the e-mail about a transaction. The profile sets the language and the time zone of dates; the defaults are
/// English and UTC. Returns `None` if the record lacks the URL of the page.
pub fn mail(
    transaction: &RetrievedPledgeTransaction<'_>,
    profile: Option<&Profile>,
    zones: &dyn TimeZones,
) -> Option<Mail> {
    let link = transaction.timeline_url.as_deref().and_then(WebAddress::parse)?.href;
    let language = profile.and_then(|profile| profile.language).unwrap_or_default();
    let calendar = Calendar::new(language, profile, zones);
    let content = Content::new(transaction, profile, calendar, link);
    Some(Mail {
        language: content.language,
        sender: sender(content.shop).unwrap_or_else(|| SERVICE_NAME.to_owned()),
        subject: content.subject(),
        text: content.text(),
        html: content.html(profile),
    })
}

/// The content of the e-mail, for plain text and HTML.
struct Content<'c> {
    language: Language,
    shop: &'c str,
    /// The recipient's name.
    name: Option<String>,
    /// The pledges that are listed, such as `12 trees` and `Mangroves`.
    pledges: Vec<Line>,
    count: usize,
    /// The action that caused the pledges.
    cause: Option<String>,
    day: Option<String>,
    reference: Option<String>,
    is_test: bool,
    link: &'c str,
}

impl<'c> Content<'c> {
    fn new(
        transaction: &'c RetrievedPledgeTransaction<'_>,
        profile: Option<&'c Profile>,
        calendar: Calendar<'_>,
        link: &'c str,
    ) -> Self {
        let language = calendar.language;
        let pledges = transaction.pledges.iter().take(MAX_PLEDGES);
        Content {
            language,
            shop: profile.map_or(SERVICE_NAME, |profile| &profile.name),
            name: recipient_name(transaction).and_then(brief),
            pledges: pledges.map(|pledge| Line::new(language, pledge)).collect(),
            count: transaction.pledges.len(),
            cause: cause(calendar, &transaction.trigger),
            day: calendar.day(&transaction.created_at).map(|day| day.words),
            reference: brief(&transaction.reference),
            is_test: !transaction.is_live,
            link,
        }
    }

    /// Returns the sentence about the pledges, and the values to insert: the shop, and the quantity or number.
    fn statement(&self) -> (&'static str, [Cow<'_, str>; 2]) {
        let words = self.language.text(Sentence::MailSubject);
        let shop = Cow::Borrowed(self.shop);
        let pledged = self.pledges.first().and_then(|line| line.words.as_deref());
        match (self.count, pledged) {
            (1, Some(pledged)) => (part(words, 0), [shop, Cow::Borrowed(pledged)]),
            (1, None) => (part(words, 1), [shop, Cow::Borrowed("")]),
            (count, _) => {
                let last = words.matches('|').count();
                let few = self.language.plural(count as f64) == Plural::Few;
                let form = if few { 2 } else { last };
                (part(words, form), [shop, Cow::Owned(self.language.decimal(&count.to_string()))])
            }
        }
    }

    /// Returns the statement as the subject. Encoded words (`=?…?=`) are broken up, because mail programs decode them
    /// in headers.
    fn subject(&self) -> String {
        let (sentence, [shop, other]) = self.statement();
        fill(sentence, &[&shop, &other]).replace("=?", "= ?")
    }

    fn greeting(&self) -> (&'static str, &str) {
        let words = self.language.text(Sentence::MailGreeting);
        match &self.name {
            Some(name) => (part(words, 0), name),
            None => (part(words, 1), ""),
        }
    }

    /// Returns the lines of the list, one for each pledge. If there is one pledge, and the statement contains its
    /// quantity, the line leaves the quantity out.
    fn lines(&self) -> impl Iterator<Item = (Option<&str>, Option<&str>)> {
        let lines = self.pledges.iter().map(|line| {
            let is_stated = self.count == 1 && line.words.is_some();
            ((!is_stated).then_some(&*line.quantity), line.name.as_deref())
        });
        lines.filter(|line| *line != (None, None))
    }

    fn more(&self) -> Option<String> {
        let rest = self.count.checked_sub(self.pledges.len()).filter(|rest| *rest > 0)?;
        let rest = self.language.decimal(&rest.to_string());
        Some(fill(self.language.text(Sentence::More), &[&rest]))
    }

    // ---- As text -------------------------------------------------------------------------------

    fn text(&self) -> String {
        let (greeting, name) = self.greeting();
        let say = |sentence| self.language.text(sentence);
        let cause = self.cause.iter().map(|cause| format!("{}\n{cause}", say(Sentence::Cause)));
        let mut paragraphs = Vec::from_iter(self.test_note().map(str::to_owned));
        paragraphs.extend([fill(greeting, &[name]), self.subject(), self.list_as_text()]);
        paragraphs.extend(cause);
        paragraphs.push(format!("{}\n{}", say(Sentence::MailLink), self.link));
        paragraphs.push(say(Sentence::MailPrivate).to_owned());
        paragraphs.push(format!("-- \n{}\n{}", self.facts(), self.why()));
        paragraphs.retain(|paragraph| !paragraph.is_empty());
        paragraphs.join("\n\n") + "\n"
    }

    fn list_as_text(&self) -> String {
        let line = |(quantity, name): (Option<&str>, Option<&str>)| {
            let parts = [quantity, name].into_iter().flatten().collect::<Vec<_>>();
            format!("- {}", parts.join(" · "))
        };
        self.lines().map(line).chain(self.more()).collect::<Vec<_>>().join("\n")
    }

    fn test_note(&self) -> Option<&'static str> {
        self.is_test.then(|| part(self.language.text(Sentence::Test), 0))
    }

    /// Returns the reference and the day of the transaction.
    fn facts(&self) -> String {
        let reference = self.reference.as_deref();
        let reference =
            reference.map(|text| fill(self.language.text(Sentence::Reference), &[text]));
        [reference, self.day.clone()].into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }

    fn why(&self) -> String {
        fill(self.language.text(Sentence::MailWhy), &[self.shop])
    }

    // ---- As HTML -------------------------------------------------------------------------------

    fn html(&self, profile: Option<&Profile>) -> String {
        let (light, dark) = profile.and_then(Profile::accent_colours).unwrap_or(LEAF);
        let column = html! {
            p.leaf style={ "margin:0 0 28px;font-weight:600;color:" (light) } { bdi { (self.shop) } }
            (self.message(light))
            p style="margin:28px 0 16px" { (self.button(light)) }
            p.soft style=(SOFT) { (self.language.text(Sentence::MailPrivate)) }
            div.foot style=(FOOT) {
                p.soft style=(SOFT) { bdi { (self.facts()) } }
                p.soft style=(SOFT) {
                    (fill_isolated(self.language.text(Sentence::MailWhy), &[self.shop]))
                }
            }
        };
        document(self.language, &self.subject(), &dark_style(dark), &column).into_string()
    }

    fn message(&self, leaf: Colour) -> Markup {
        let (greeting, name) = self.greeting();
        let (sentence, [shop, other]) = self.statement();
        html! {
            @if let Some(note) = self.test_note() { p style=(PARAGRAPH) { strong { (note) } } }
            p style=(PARAGRAPH) { (fill_isolated(greeting, &[name])) }
            h1 style=(HEADING) { (fill_isolated(sentence, &[&shop, &other])) }
            (self.list(leaf))
            @if let Some(cause) = &self.cause {
                p.soft style=(SOFT) { (self.language.text(Sentence::Cause)) }
                p style=(PARAGRAPH) { bdi { (cause) } }
            }
        }
    }

    fn button(&self, leaf: Colour) -> Markup {
        let style = format!("{BUTTON};background:{leaf};color:{LIGHT_PAPER}");
        html! { a.button href=(self.link) style=(style) { (self.language.text(Sentence::MailLink)) } }
    }

    fn list(&self, leaf: Colour) -> Markup {
        html! {
            ul style="margin:0 0 20px;padding:0;list-style:none" {
                @for (quantity, name) in self.lines() {
                    li style="margin:0 0 6px" {
                        @if let Some(quantity) = quantity {
                            strong.leaf style={ "color:" (leaf) } { bdi { (quantity) } } " "
                        }
                        @if let Some(name) = name { bdi { (name) } }
                    }
                }
                @if let Some(more) = self.more() { li { (more) } }
            }
        }
    }
}

/// Writes the action that caused the pledges: `placed an order · 20 November 2026`.
fn cause(calendar: Calendar<'_>, trigger: &Trigger<'_>) -> Option<String> {
    let phrase = trigger.phrase.as_deref().and_then(brief)?;
    let day = trigger.date.as_deref().and_then(|date| calendar.day(date));
    Some(match day {
        Some(day) => format!("{phrase} · {}", day.words),
        None => phrase,
    })
}

/// Renders a document with one column, in tables: some mail programs apply a width to no other element.
fn document(language: Language, title: &str, style: &str, column: &Markup) -> Markup {
    let column = html! {
        table role="presentation" width="100%" style=(COLUMN) { tr { td style=(TEXT) { (column) } } }
    };
    html! {
        (DOCTYPE)
        html lang=(language.tag()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(style)) }
            }
            body.paper style=(PAPER) {
                table.paper role="presentation" width="100%" style=(PAPER) {
                    tr { td align="center" style="padding:24px 16px" { (column) } }
                }
            }
        }
    }
}

/// Returns the style for the dark colour scheme, with this accent.
fn dark_style(leaf: Colour) -> String {
    format!(
        "@media (prefers-color-scheme:dark){{\
         .paper{{background:{DARK_PAPER}!important;color:#e9ede7!important}}\
         .soft{{color:#a2afa7!important}}.foot{{border-color:#2a362f!important}}\
         .leaf{{color:{leaf}!important}}\
         .button{{background:{leaf}!important;color:{DARK_PAPER}!important}}}}"
    )
}

/// Inserts values into a sentence. Each value gets its own text direction.
fn fill_isolated(sentence: &str, values: &[&str]) -> Markup {
    let mut pieces = sentence.split("{}");
    html! {
        (pieces.next().unwrap_or_default())
        @for (piece, value) in pieces.zip(values) { bdi { (value) } (piece) }
    }
}
