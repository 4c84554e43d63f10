//! Renders the pledges on the recipient's page.

use super::calendar::Calendar;
use super::content::{MAX_HEADING, anchor, size_class, time, web_address};
use super::groups::{Group, groups};
use super::language::{Language, Plural};
use super::progress::{OfferingProgress, Progress};
use super::quantity::{WordedQuantity, Wording};
use super::text::{brief, shown};
use super::totals::detail_of;
use super::words::{Sentence, part};
use crate::buyer::web_address::WebAddress;
use crate::pledges::types::RetrievedPledgeTransaction;
use maud::{Markup, PreEscaped, html};

/// Length of the longest amount that is shown in full size, in characters.
const MAX_AMOUNT: usize = 9;

/// Up to this number of groups of pledges, the page shows no sums. With more, it shows their sums in one line.
const MAX_WITHOUT_TOTALS: usize = 5;

/// Maximum number of groups of pledges on a printed page. `style.css` hides the others.
const MAX_PRINTED: usize = 12;

/// Maximum size of the list of pledges, in bytes of HTML. Once the list is this long, no further pledge is
/// added. 1 MiB has room for several thousand pledges.
///
/// The limit protects memory: a page is copied while it is built, and WebAssembly memory never shrinks.
const MAX_LIST_BYTES: usize = 1024 * 1024;

/// Renders the pledges: the day on which they were made, their number, their sums, and the list.
pub(super) fn pledges_made(
    calendar: Calendar<'_>,
    transaction: &RetrievedPledgeTransaction<'_>,
    totals: &[WordedQuantity<'_>],
    progress: &[OfferingProgress<'_>],
) -> Markup {
    let (language, pledges) = (calendar.language, &transaction.pledges);
    let groups = groups(pledges);
    html! {
        li {
            @if let Some(day) = calendar.day(&transaction.created_at) { (time(&day)) }
            h2 { (number_of_pledges(language, pledges.len())) }
            @if groups.len() > MAX_WITHOUT_TOTALS && !totals.is_empty() {
                (sums(language, totals))
            }
            (pledge_list(calendar, &groups, progress))
        }
    }
}

fn number_of_pledges(language: Language, pledges: usize) -> String {
    let sentences = language.text(Sentence::Pledges);
    let last = sentences.matches('|').count();
    let form = match language.plural(pledges as f64) {
        _ if pledges == 1 => 0,
        Plural::One | Plural::Few => 1,
        Plural::Other => last,
    };
    with_count(language, part(sentences, form), pledges)
}

fn with_count(language: Language, sentence: &str, count: usize) -> String {
    sentence.replace("{}", &language.decimal(&count.to_string()))
}

fn sums(language: Language, totals: &[WordedQuantity<'_>]) -> Markup {
    let (before, after) = language.text(Sentence::Totals).split_once("{}").unwrap_or_default();
    html! {
        p.totals {
            (before)
            @for (index, total) in totals.iter().enumerate() {
                @if index > 0 { " · " }
                bdi { (quantity_words(language, total)) }
            }
            (after)
        }
    }
}

// ---- The list ------------------------------------------------------------------------------------

/// Renders the list of pledges. The updates of an offering follow its last group of pledges.
fn pledge_list(
    calendar: Calendar<'_>,
    groups: &[Group<'_, '_>],
    progress: &[OfferingProgress<'_>],
) -> Markup {
    let mut list = List { calendar, items: String::new(), count: 0, has_large: false };
    let mut progress = Progress::new(progress);
    for same in groups.chunk_by(|one, other| one.offering_id() == other.offering_id()) {
        let Some((last, others)) = same.split_last() else { continue };
        others.iter().for_each(|group| list.push(group, None));
        let updates = progress.take(last.offering_id());
        let since = updates.and_then(|updates| updates.since(calendar, same));
        list.push(last, since);
    }
    list.render(groups)
}

struct List<'l> {
    calendar: Calendar<'l>,
    items: String,
    /// Number of groups in the list.
    count: usize,
    /// Whether the list already has a large picture. Further pictures are small.
    has_large: bool,
}

impl List<'_> {
    fn push(&mut self, group: &Group<'_, '_>, since: Option<Markup>) {
        if self.items.len() < MAX_LIST_BYTES {
            let item = self.item(group, since);
            self.items.push_str(&item.0);
            self.count += 1;
        }
    }

    fn item(&mut self, group: &Group<'_, '_>, since: Option<Markup>) -> Markup {
        let language = self.calendar.language;
        let detail = detail_of(group.first);
        let quantity = WordedQuantity::new(language, group.amount, group.offering_id(), detail);
        let counted = quantity.title();
        let name = shown(&detail.name).filter(|name| Some(*name) != counted);
        let title = name.or(counted);
        let image = web_address(&detail.image);
        let is_large = image.is_some() && !self.has_large;
        self.has_large |= is_large;
        html! {
            li.pledge {
                div {
                    (quantity_heading(language, &quantity))
                    @if let Some(name) = name { p.name dir="auto" { (name) } }
                    @if let Some(parts) = group.parts(language) { p.soft { (parts) } }
                }
                @if let Some(image) = image {
                    (picture(image, title.unwrap_or_default(), is_large))
                }
                @if let Some(description) = shown(&detail.description) {
                    p.words dir="auto" { (description) }
                }
                @if let Some(link) = web_address(&detail.external_url) {
                    (anchor(language, link, title))
                }
                @if let Some(since) = since { (since) }
            }
        }
    }

    fn render(self, groups: &[Group<'_, '_>]) -> Markup {
        let language = self.calendar.language;
        let after = |shown| groups.iter().skip(shown).map(|group| group.amounts.len()).sum();
        let more = |rest| with_count(language, language.text(Sentence::More), rest);
        let (rest, unprinted): (usize, usize) = (after(self.count), after(MAX_PRINTED));
        html! {
            ul role="list" { (PreEscaped(self.items)) }
            @if rest > 0 { p.screen { (more(rest)) } }
            @if unprinted > 0 { p.paper { (more(unprinted)) } }
        }
    }
}

/// Renders an image in a box of a fixed size, so that the page does not move when the image has loaded.
fn picture(image: WebAddress<'_>, alt: &str, is_large: bool) -> Markup {
    html! {
        @if is_large {
            div.image.large { img src=(image.href) alt=(alt) width="640" height="360" decoding="async"; }
        } @else {
            div.image.small {
                img src=(image.href) alt=(alt) width="128" height="128" loading="lazy" decoding="async";
            }
        }
    }
}

// ---- Quantities ----------------------------------------------------------------------------------

fn quantity_heading(language: Language, quantity: &WordedQuantity<'_>) -> Markup {
    html! {
        h3 class=[size_class(quantity.title().unwrap_or_default(), MAX_HEADING)] dir="auto" {
            (quantity_words(language, quantity))
        }
    }
}

/// Renders a quantity such as `12 trees`, with the number emphasised.
pub(super) fn quantity_words(language: Language, quantity: &WordedQuantity<'_>) -> Markup {
    let amount = &*quantity.amount;
    let number = html! { b class=[size_class(amount, MAX_AMOUNT)] { (amount) } };
    html! {
        @match &quantity.subject {
            Wording::Noun(noun) => { (number) (language.space_before(noun)) (noun) }
            Wording::Name(name) => { (number) " × " (name) }
            Wording::Offering(words) => { (number) " × " (words) }
            Wording::Unknown(id) => (of_id(language, &number, id)),
        }
    }
}

/// Renders the quantity of an offering of which only the ID is known: `3 of reef-7`.
fn of_id(language: Language, number: &Markup, id: &str) -> Markup {
    let id = brief(id);
    let sentence = if id.is_some() { Sentence::MailOf } else { Sentence::Quantity };
    let mut pieces = language.text(sentence).split("{}");
    html! {
        (pieces.next().unwrap_or_default()) (number) (pieces.next().unwrap_or_default())
        @if let Some(id) = id { bdi { (id) } (pieces.next().unwrap_or_default()) }
    }
}
