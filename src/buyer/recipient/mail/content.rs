//! The content of the e-mail, for both its plain text and its HTML.

use super::events::MailNews;
use crate::buyer::recipient::calendar::Calendar;
use crate::buyer::recipient::heading::recipient_name;
use crate::buyer::recipient::language::{Language, Plural};
use crate::buyer::recipient::page::SERVICE_NAME;
use crate::buyer::recipient::profile::Profile;
use crate::buyer::recipient::quantity::PledgeLine;
use crate::buyer::recipient::text::{brief, own_lines, preview};
use crate::buyer::recipient::words::{Sentence, fill, part};
use crate::pledges::types::{RetrievedPledgeTransaction, Trigger};
use std::borrow::Cow;

/// Maximum number of pledges in the e-mail's list. For the rest, the e-mail only says how many there are.
const MAX_PLEDGES: usize = 100;
/// Maximum size of the list in bytes of HTML. Gmail cuts e-mails of more than 102 KB.
const MAX_LIST_BYTES: usize = 32 * 1024;
/// Upper limit for the bytes of the tags of one pledge in the list.
const MARKUP_BYTES: usize = 200;

pub(super) struct MailContent<'c> {
    pub language: Language,
    pub shop: &'c str,
    /// The lines of the shop's own sentence.
    pub own_lines: Vec<String>,
    /// The action that caused the pledges.
    pub cause: Option<String>,
    /// The URL of the transaction's page.
    pub link: &'c str,
    /// What has happened since, which such an e-mail tells in place of the pledges.
    pub news: Option<MailNews<'c>>,
    name: Option<String>,
    /// The pledges that are listed, such as `12 trees` and `Mangroves`.
    pledges: Vec<PledgeLine>,
    count: usize,
    day: Option<String>,
    reference: Option<String>,
    is_test: bool,
}

impl<'c> MailContent<'c> {
    pub fn new(
        transaction: &'c RetrievedPledgeTransaction<'_>,
        profile: Option<&'c Profile>,
        calendar: Calendar<'_>,
        link: &'c str,
        news: Option<MailNews<'c>>,
    ) -> Self {
        let language = calendar.language;
        MailContent {
            language,
            shop: profile.map_or(SERVICE_NAME, |profile| &profile.name),
            own_lines: profile
                .and_then(|profile| profile.mail_text.as_deref())
                .map(own_lines)
                .unwrap_or_default(),
            cause: cause(calendar, &transaction.trigger),
            link,
            news,
            name: recipient_name(transaction).and_then(brief),
            pledges: listed(language, transaction),
            count: transaction.pledges.len(),
            day: calendar.day(&transaction.created_at).map(|day| day.words),
            reference: brief(&transaction.reference),
            is_test: !transaction.is_live,
        }
    }

    /// Returns the e-mail's main sentence as a template, and the two values to insert. The values are the
    /// shop's name, and either the quantity or the number of pledges.
    pub fn statement(&self) -> (&'static str, [Cow<'_, str>; 2]) {
        let words = self.language.text(Sentence::MailSubject);
        let shop = Cow::Borrowed(self.shop);
        if self.news.is_some() {
            return (self.language.text(Sentence::NewsSubject), [shop, Cow::Borrowed("")]);
        }
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

    /// Returns the e-mail's subject, which is its main sentence. Breaks up encoded words (`=?…?=`), because
    /// mail programs would decode them in headers.
    pub fn subject(&self) -> String {
        let (sentence, [shop, other]) = self.statement();
        fill(sentence, &[&shop, &other]).replace("=?", "= ?")
    }

    /// Returns the preview text that mail programs show after the subject: what was pledged, and why.
    pub fn preheader(&self) -> String {
        if let Some(event) = self.news.iter().flat_map(|news| &news.events).next() {
            return preview(event.text.as_deref().unwrap_or(&event.title)).to_owned();
        }
        let pledge = |(quantity, name): (Option<&str>, Option<&str>)| {
            [quantity, name].into_iter().flatten().collect::<Vec<_>>().join(" ")
        };
        let pledges = self.lines().take(MAX_PREVIEWED).map(pledge).collect::<Vec<_>>().join(", ");
        let parts = [Some(pledges), self.cause.clone()].into_iter().flatten();
        let parts = parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ");
        match parts.is_empty() {
            true => self.language.text(Sentence::MailLink).to_owned(),
            false => preview(&parts).to_owned(),
        }
    }

    /// Returns the greeting, and the value to insert: the recipient's name.
    pub fn greeting(&self) -> (&'static str, &str) {
        let words = self.language.text(Sentence::MailGreeting);
        match &self.name {
            Some(name) => (part(words, 0), name),
            None => (part(words, 1), ""),
        }
    }

    /// Returns the quantity and the name for each line of the list of pledges. If there is only one pledge
    /// and the e-mail's main sentence states its quantity, the line leaves the quantity out.
    pub fn lines(&self) -> impl Iterator<Item = (Option<&str>, Option<&str>)> {
        let lines = self.pledges.iter().map(|line| {
            let is_stated = self.count == 1 && line.words.is_some();
            ((!is_stated).then_some(&*line.quantity), line.name.as_deref())
        });
        lines.filter(|line| *line != (None, None))
    }

    /// Returns the line that says how many pledges are not listed; `None` if all are listed.
    pub fn more(&self) -> Option<String> {
        let rest = self.count.checked_sub(self.pledges.len()).filter(|rest| *rest > 0)?;
        let rest = self.language.decimal(&rest.to_string());
        Some(fill(self.language.text(Sentence::More), &[&rest]))
    }

    /// Returns why the buyer gets the e-mail.
    pub fn why(&self) -> (&'static str, &str) {
        let why = if self.news.is_some() { Sentence::NewsWhy } else { Sentence::MailWhy };
        (self.language.text(why), self.shop)
    }

    /// Returns the text of the link that ends e-mails with news.
    pub fn unsubscribe(&self) -> &'static str {
        part(self.language.text(Sentence::NewsForm), 3)
    }

    /// Returns the note that marks a transaction of test mode.
    pub fn test_note(&self) -> Option<&'static str> {
        self.is_test.then(|| part(self.language.text(Sentence::Test), 0))
    }

    pub fn facts(&self) -> String {
        let reference = self.reference.as_deref();
        let reference =
            reference.map(|text| fill(self.language.text(Sentence::Reference), &[text]));
        [reference, self.day.clone()].into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }
}

/// Maximum number of pledges in the preheader (the preview after an e-mail's subject). Mail programs have
/// room for fewer.
const MAX_PREVIEWED: usize = 4;

/// Returns the lines of the first pledges, as many as [`MAX_PLEDGES`] and [`MAX_LIST_BYTES`] allow.
fn listed(language: Language, transaction: &RetrievedPledgeTransaction<'_>) -> Vec<PledgeLine> {
    let mut bytes = 0;
    let pledges = transaction.pledges.iter().take(MAX_PLEDGES);
    let lines = pledges.map(|pledge| PledgeLine::new(language, pledge));
    let fits = move |line: &PledgeLine| {
        let name = line.name.as_deref().unwrap_or_default();
        bytes += MARKUP_BYTES + escaped_bytes(&line.quantity) + escaped_bytes(name);
        bytes <= MAX_LIST_BYTES
    };
    lines.take_while(fits).collect()
}

/// Returns the maximum size of a text in HTML, in bytes. Counts each special character as the longest
/// entity, `&quot;`.
fn escaped_bytes(text: &str) -> usize {
    text.len() + 5 * text.matches(['"', '&', '<', '>']).count()
}

/// Returns the action that caused the pledges, with its day if it is known, such as `placed an order · 20
/// November 2026`.
fn cause(calendar: Calendar<'_>, trigger: &Trigger<'_>) -> Option<String> {
    let phrase = trigger.phrase.as_deref().and_then(brief)?;
    let day = trigger.date.as_deref().and_then(|date| calendar.day(date));
    Some(match day {
        Some(day) => format!("{phrase} · {}", day.words),
        None => phrase,
    })
}
