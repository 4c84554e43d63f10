//! Renders the updates on a timeline: news about the offerings that were pledged.

use super::calendar::Calendar;
use super::content::{MAX_HEADING, REL, sentence_with, size_class, time, with_value};
use super::groups::Group;
use super::language::Language;
use super::quantity::{WordedQuantity, Wording};
use super::rounded::rounded;
use super::totals::{detail_of, sum};
use super::words::{Sentence, part};
use crate::buyer::updates::{Coordinates, Picture, Place, Stage, Texts, Update};
use crate::buyer::web_address::WebAddress;
use crate::pledges::types::{Amount, RetrievedPledge};
use maud::{Markup, html};
use std::borrow::Cow;

/// Maximum number of updates of an offering that a page shows at once. If an offering has more updates, the
/// page shows the newest three, and the reader can open the rest.
const MAX_OPEN: usize = 4;
const NEWEST: usize = 3;
/// Maximum number of offerings for which a page says "no updates yet". A page with more offerings leaves this
/// sentence out, and shows only the offerings with updates.
const MAX_WITHOUT: usize = 3;

/// The updates of one offering, for the month in which the pledges were made. A page shows them oldest first, as a story goes.
#[derive(Clone, Copy, Debug)]
pub struct OfferingProgress<'u> {
    pub offering_id: &'u str,
    /// The updates, newest first; `None` if they could not be read.
    pub updates: Option<&'u [Update]>,
}

/// Tracks which updates a page has already shown, so that each offering's updates appear only once.
pub(super) struct Progress<'u> {
    offerings: &'u [OfferingProgress<'u>],
    /// The indexes of the offerings whose updates `take` has already returned.
    taken: Vec<usize>,
    /// Whether `take` has already returned at least one update.
    has_taken_some: bool,
}

impl<'u> Progress<'u> {
    /// Starts with these offerings. If none of them has updates, starts with no offerings: the page then
    /// has one note for all of them, [at its end](closing).
    pub fn new(offerings: &'u [OfferingProgress<'u>]) -> Self {
        let is_shown = has_updates(offerings);
        let offerings = if is_shown { offerings } else { &[] };
        Progress { offerings, taken: Vec::new(), has_taken_some: false }
    }

    fn index(&self, offering_id: &str) -> Option<usize> {
        self.offerings.iter().position(|known| known.offering_id == offering_id)
    }

    /// Returns the updates of an offering at the first call. Returns `None` at later calls, and for an
    /// unknown offering.
    pub fn take(&mut self, offering_id: &str) -> Option<UpdatesSection<'u>> {
        let index = self.index(offering_id).filter(|index| !self.taken.contains(index))?;
        let OfferingProgress { updates, .. } = *self.offerings.get(index)?;
        let has_some = updates.is_some_and(|updates| !updates.is_empty());
        let is_first = has_some && !self.has_taken_some;
        self.has_taken_some |= has_some;
        self.taken.push(index);
        let says_none = self.offerings.len() <= MAX_WITHOUT;
        Some(UpdatesSection { updates, is_first, says_none })
    }
}

fn has_updates(offerings: &[OfferingProgress<'_>]) -> bool {
    offerings.iter().filter_map(|known| known.updates).any(|updates| !updates.is_empty())
}

/// Renders a note at the end of a page that shows no updates: there are none yet, or they could not be read.
/// Renders nothing if there are updates, or if the offerings are unknown.
pub(super) fn closing(language: Language, offerings: &[OfferingProgress<'_>]) -> Markup {
    let is_read = offerings.iter().all(|known| known.updates.is_some());
    let text = if is_read { Sentence::NoUpdates } else { Sentence::UpdatesUnavailable };
    html! {
        @if !offerings.is_empty() && !has_updates(offerings) {
            li.later {
                h2 { (part(language.text(Sentence::Since), 0)) }
                p { (language.text(text)) }
            }
        }
    }
}

// ---- The updates of an offering ------------------------------------------------------------------

pub(super) struct UpdatesSection<'u> {
    updates: Option<&'u [Update]>,
    /// Whether these are the first updates on the page. They get an explanatory note.
    is_first: bool,
    /// Whether the section says "no updates yet" if the offering has none.
    says_none: bool,
}

impl UpdatesSection<'_> {
    /// Renders the updates below the last of the offering's groups of pledges. If several groups share these updates, the
    /// heading names the offering. If there are no updates, or they could not be read, renders a sentence about that.
    /// Returns `None` if there are no updates and the page leaves out the sentence.
    pub fn since(&self, calendar: Calendar<'_>, groups: &[Group<'_, '_>]) -> Option<Markup> {
        if self.updates.is_some_and(<[Update]>::is_empty) && !self.says_none {
            return None;
        }
        let language = calendar.language;
        let (item, is_shared) = (Item { calendar, pledge: groups.last()?.first }, groups.len() > 1);
        Some(html! {
            section.since {
                (item.heading(is_shared))
                @match self.updates {
                    None => p.soft { (language.text(Sentence::UpdatesUnavailable)) },
                    Some([]) => p.soft { (language.text(Sentence::NoUpdates)) },
                    Some(updates) => {
                        @if self.is_first { p.soft { (item.say(Sentence::SinceNote, 0)) } }
                        @if let Some(part) = item.part(groups) { p.soft { (part) } }
                        (item.list(updates))
                    }
                }
            }
        })
    }
}

struct Item<'i> {
    calendar: Calendar<'i>,
    pledge: &'i RetrievedPledge<'i>,
}

impl Item<'_> {
    fn say(&self, sentence: Sentence, index: usize) -> &'static str {
        part(self.calendar.language.text(sentence), index)
    }

    fn heading(&self, is_shared: bool) -> Markup {
        let title = offering_title(self.calendar.language, self.pledge);
        html! {
            h4 class=[size_class(&title, MAX_HEADING).filter(|_| is_shared)] {
                @if is_shared { (with_value(self.say(Sentence::Since, 1), &title)) }
                @else { (self.say(Sentence::Since, 0)) }
            }
        }
    }

    fn quantity(&self, amount: Amount) -> WordedQuantity<'_> {
        quantity_of(self.calendar.language, self.pledge, amount)
    }

    /// Renders how much of what the updates are about was pledged on this page.
    fn part(&self, groups: &[Group<'_, '_>]) -> Option<Markup> {
        let amounts = groups.iter().flat_map(|group| group.amounts.iter().copied());
        let own = quantity(self.calendar.language, &self.quantity(sum(amounts)?));
        Some(sentence_with(self.say(Sentence::SinceNote, 1), &own))
    }

    fn list(&self, updates: &[Update]) -> Markup {
        let language = self.calendar.language;
        let open = if updates.len() > MAX_OPEN { NEWEST } else { MAX_OPEN };
        let (newest, earlier) = updates.split_at_checked(open).unwrap_or((updates, &[]));
        let count = language.decimal(&earlier.len().to_string());
        html! {
            @if !earlier.is_empty() {
                details {
                    summary { (language.text(Sentence::EarlierUpdates).replace("{}", &count)) }
                    ol.updates role="list" { @for update in earlier.iter().rev() { (self.update(update)) } }
                }
            }
            ol.updates role="list" { @for update in newest.iter().rev() { (self.update(update)) } }
        }
    }

    fn update(&self, update: &Update) -> Markup {
        html! {
            li {
                p.stage {
                    b { (self.stage(update.stage)) }
                    @if let Some(day) = self.calendar.day_of(&update.date) { " " (time(&day)) }
                }
                @if let Some((tag, text)) = sentence(self.calendar.language, &update.texts) {
                    p.words lang=[tag] dir="auto" { (text) }
                }
                @if let Some(picture) = &update.picture { (photo(picture)) }
                (self.facts(update))
            }
        }
    }

    fn stage(&self, stage: Stage) -> &'static str {
        self.say(Sentence::Stages, stage as usize)
    }

    fn facts(&self, update: &Update) -> Markup {
        let quantity =
            update.quantity.map(|amount| quantity(self.calendar.language, &self.quantity(amount)));
        let partner = update.partner.as_ref().map(|partner| html! { bdi { (&**partner) } });
        let report = update.report.as_deref().and_then(WebAddress::parse).map(link);
        let facts = [quantity, update.place.as_ref().map(place), partner, report];
        let labelled =
            || facts.iter().enumerate().filter_map(|(index, fact)| Some((index, fact.as_ref()?)));
        html! {
            @if labelled().next().is_some() {
                dl {
                    @for (index, fact) in labelled() {
                        dt { (self.say(Sentence::Facts, index)) }
                        dd { (fact) }
                    }
                }
            }
        }
    }
}

/// Returns what an offering is, in the words of one of its pledges, such as `trees`.
pub(super) fn offering_title<'p>(
    language: Language,
    pledge: &'p RetrievedPledge<'_>,
) -> Cow<'p, str> {
    let noun = detail_of(pledge).noun_plural.as_deref();
    match quantity_of(language, pledge, pledge.impact.amount).subject {
        Wording::Noun(other) => Cow::Borrowed(noun.unwrap_or(other)),
        Wording::Name(text) | Wording::Unknown(text) => Cow::Borrowed(text),
        Wording::Offering(words) => Cow::Owned(words),
    }
}

/// Describes an amount of the offering of a pledge.
pub(super) fn quantity_of<'p>(
    language: Language,
    pledge: &'p RetrievedPledge<'_>,
    amount: Amount,
) -> WordedQuantity<'p> {
    WordedQuantity::of_offering(language, amount, &pledge.impact.offering_id, detail_of(pledge))
}

/// Renders how much was done, such as `1,200 trees`.
fn quantity(language: Language, WordedQuantity { amount, subject }: &WordedQuantity<'_>) -> Markup {
    let (space, words) = match subject {
        Wording::Noun(text) => (language.space_before(text), &**text),
        Wording::Name(text) => (" × ", &**text),
        Wording::Offering(words) => (" × ", &**words),
        Wording::Unknown(_) => ("", ""),
    };
    html! { bdi { (amount) (space) (words) } }
}

/// Selects the best of an update's sentences. In order of preference: the page's language, the same language
/// in another region, English, the first sentence. Also returns the sentence's language tag if it differs
/// from the page's.
pub(super) fn sentence(language: Language, texts: &Texts) -> Option<(Option<&str>, &str)> {
    let own = language.tag();
    if let Some(text) = texts.get(own) {
        return Some((None, text));
    }
    let near = texts.iter().find(|(tag, _)| primary(tag).eq_ignore_ascii_case(primary(own)));
    near.or_else(|| texts.best(own)).map(|(tag, text)| (Some(tag), text))
}

/// Returns the language of a tag without its region: `pt` of `pt-BR`.
fn primary(tag: &str) -> &str {
    tag.split('-').next().unwrap_or(tag)
}

fn photo(Picture { url, text }: &Picture) -> Markup {
    html! {
        div.image.large {
            img src=(&**url) alt=(&**text) width="640" height="360" loading="lazy" decoding="async";
        }
    }
}

fn link(address: WebAddress<'_>) -> Markup {
    html! { a href=(address.href) rel=(REL) { bdi { (address.host) } } }
}

/// Renders a place. Its coordinates, if known, link to OpenStreetMap. The page itself loads no map.
fn place(Place { name, coordinates }: &Place) -> Markup {
    html! {
        bdi { (&**name) }
        @if let Some(coordinates) = coordinates {
            " " a href=(map(*coordinates)) rel=(REL) {
                bdi dir="ltr" { (degrees(coordinates.latitude())) ", " (degrees(coordinates.longitude())) }
            }
        }
    }
}

fn map(coordinates: Coordinates) -> String {
    let (latitude, longitude) = (degrees(coordinates.latitude()), degrees(coordinates.longitude()));
    format!(
        "https://www.openstreetmap.org/?mlat={latitude}&mlon={longitude}#map=12/{latitude}/{longitude}"
    )
}

/// Number of decimal places to which coordinates are rounded. Five places are precise to about a metre.
const PLACES: usize = 5;

/// Writes degrees as a plain decimal such as `-4.1816`.
fn degrees(degrees: f64) -> String {
    let size = degrees.abs();
    let mut buffer = zmij::Buffer::new();
    let shortest = if size < 1e-5 { "0" } else { buffer.format_finite(size) };
    let digits = rounded(shortest, PLACES);
    if degrees < 0.0 && digits != "0" { ["-", &digits].concat() } else { digits }
}
