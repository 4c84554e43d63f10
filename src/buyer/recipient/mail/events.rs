//! What an e-mail with news says about updates.

use crate::buyer::recipient::calendar::Calendar;
use crate::buyer::recipient::progress::{OfferingProgress, offering_title, quantity_of, sentence};
use crate::buyer::recipient::text::brief;
use crate::buyer::recipient::words::{Sentence, part};
use crate::buyer::updates::Update;
use crate::pledges::types::{RetrievedPledge, RetrievedPledgeTransaction};

/// Maximum number of updates in an e-mail, newest first of each offering. The page has all of them.
const MAX_EVENTS: usize = 20;

/// The news of an e-mail.
pub(super) struct MailNews<'n> {
    pub events: Vec<EventText>,
    /// The URL of the page that ends these e-mails.
    pub unsubscribe: &'n str,
}

/// What an e-mail says about one update.
pub(super) struct EventText {
    /// What happened, and when: `Done · trees · 3 December 2026`.
    pub title: String,
    /// The sentence of the update.
    pub text: Option<String>,
    /// Quantity, place and partner with their labels, then the text of the picture.
    pub facts: Vec<String>,
}

impl<'n> MailNews<'n> {
    pub fn new(
        calendar: Calendar<'_>,
        transaction: &RetrievedPledgeTransaction<'_>,
        progress: &[OfferingProgress<'_>],
        unsubscribe: &'n str,
    ) -> Self {
        let pledge_of = |offering: &OfferingProgress<'_>| {
            let is_own =
                |pledge: &&RetrievedPledge<'_>| pledge.impact.offering_id == offering.offering_id;
            transaction.pledges.iter().find(is_own)
        };
        let updates = progress.iter().flat_map(|offering| {
            let updates = offering.updates.unwrap_or_default();
            updates.iter().filter_map(move |update| Some((pledge_of(offering)?, update)))
        });
        let events = updates.map(|(pledge, update)| EventText::new(calendar, pledge, update));
        MailNews { events: events.take(MAX_EVENTS).collect(), unsubscribe }
    }
}

impl EventText {
    fn new(calendar: Calendar<'_>, pledge: &RetrievedPledge<'_>, update: &Update) -> Self {
        let language = calendar.language;
        let stage = part(language.text(Sentence::Stages), update.stage as usize).to_owned();
        let day = calendar.day_of(&update.date).map(|day| day.words);
        let title = [Some(stage), brief(&offering_title(language, pledge)), day];
        let quantity = update.quantity.map(|amount| quantity_of(language, pledge, amount));
        let quantity = quantity.and_then(|quantity| quantity.brief(language));
        let place = update.place.as_ref().map(|place| place.name.to_string());
        let partner = update.partner.as_deref().map(str::to_owned);
        let facts = [quantity, place, partner].into_iter().enumerate();
        let label = |index| part(language.text(Sentence::Facts), index);
        let facts = facts.filter_map(|(index, fact)| Some(format!("{}: {}", label(index), fact?)));
        let picture = update.picture.iter().map(|picture| format!("[{}]", &*picture.text));
        EventText {
            title: title.into_iter().flatten().collect::<Vec<_>>().join(" · "),
            text: sentence(language, &update.texts).map(|(_, text)| text.to_owned()),
            facts: facts.chain(picture).collect(),
        }
    }

    /// Returns all lines.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        let first = std::iter::once(&*self.title).chain(self.text.as_deref());
        first.chain(self.facts.iter().map(|fact| &**fact))
    }
}
