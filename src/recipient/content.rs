//! The content of a page: the cause of the pledges, and the pledges.

use super::calendar::{Calendar, Day};
use super::language::{Language, Plural};
use super::quantity::{Quantity, Subject};
use super::text::shown;
use super::words::{Sentence, part};
use crate::pledge::{PledgeDetail, RetrievedPledge, RetrievedPledgeTransaction, Trigger};
use crate::web_address::WebAddress;
use maud::{Markup, PreEscaped, html};
use std::borrow::Cow;

/// Maximum length of a heading in full size, in characters.
pub(super) const MAX_HEADING: usize = 36;

/// Maximum length of an amount in full size, in characters.
const MAX_AMOUNT: usize = 9;

/// Once the list of pledges has this size in bytes of HTML, no further pledge is shown: 1 MiB, several thousand
/// pledges. A page is copied while it is built, and WebAssembly memory never shrinks.
const MAX_LIST_BYTES: usize = 1024 * 1024;

/// The `rel` of a shop's links. The linked page must not learn the URL of this page, nor benefit from the link in search
/// engines.
pub(super) const REL: &str = "noopener noreferrer nofollow";

/// Renders the action that caused the pledges. Returns `None` if the trigger has no details.
pub(super) fn cause(calendar: Calendar<'_>, trigger: &Trigger<'_>) -> Option<Markup> {
    let language = calendar.language;
    let day = trigger.date.as_deref().and_then(|date| calendar.day(date));
    let phrase = shown(&trigger.phrase);
    let link = web_address(&trigger.external_url);
    let heading = phrase.unwrap_or(language.text(Sentence::Cause));
    (day.is_some() || phrase.is_some() || link.is_some()).then(|| {
        html! {
            li {
                @if let Some(day) = day { (time(&day)) }
                h2 class=[size_class(heading, MAX_HEADING)] dir="auto" { (heading) }
                @if let Some(link) = link { (anchor(language, link, phrase)) }
            }
        }
    })
}

fn time(Day { iso, words }: &Day) -> Markup {
    html! { time datetime=(iso) { (words) } }
}

/// Renders the day on which the pledges were made, their number, and the list of them.
pub(super) fn pledges_made(
    calendar: Calendar<'_>,
    transaction: &RetrievedPledgeTransaction<'_>,
) -> Markup {
    let (language, pledges) = (calendar.language, &transaction.pledges);
    html! {
        li {
            @if let Some(day) = calendar.day(&transaction.created_at) { (time(&day)) }
            h2 { (number_of_pledges(language, pledges.len())) }
            (pledge_list(language, pledges))
        }
    }
}

/// Writes how many pledges were made.
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

fn pledge_list(language: Language, pledges: &[RetrievedPledge<'_>]) -> Markup {
    let mut items = String::new();
    let mut count = 0;
    for pledge in pledges {
        if items.len() >= MAX_LIST_BYTES {
            break;
        }
        items.push_str(&pledge_item(language, pledge).0);
        count += 1;
    }
    let rest = pledges.len() - count;
    html! {
        ul role="list" { (PreEscaped(items)) }
        @if rest > 0 { p { (with_count(language, language.text(Sentence::More), rest)) } }
    }
}

fn pledge_item(language: Language, pledge: &RetrievedPledge<'_>) -> Markup {
    let nothing = PledgeDetail::default();
    let detail = pledge.details.first().unwrap_or(&nothing);
    let quantity = Quantity::new(language, pledge, detail);
    let counted = quantity.title();
    let name = shown(&detail.name).filter(|name| Some(*name) != counted);
    let title = name.or(counted);
    html! {
        li.pledge {
            div {
                (quantity_heading(language, &quantity))
                @if let Some(name) = name { p.name dir="auto" { (name) } }
            }
            @if let Some(image) = web_address(&detail.image) {
                (picture(image, title.unwrap_or_default()))
            }
            @if let Some(description) = shown(&detail.description) {
                p dir="auto" { (description) }
            }
            @if let Some(link) = web_address(&detail.external_url) {
                (anchor(language, link, title))
            }
        }
    }
}

/// Renders an image in a box of a fixed size, so that the page does not move when the image has loaded.
fn picture(image: WebAddress<'_>, alt: &str) -> Markup {
    html! {
        div.image {
            img src=(image.href) alt=(alt) width="128" height="128" loading="lazy" decoding="async";
        }
    }
}

/// Renders a quantity such as `12 trees`, with the number larger than the noun.
fn quantity_heading(language: Language, quantity: &Quantity<'_>) -> Markup {
    let amount = &*quantity.amount;
    let number = html! { b class=[size_class(amount, MAX_AMOUNT)] { (amount) } };
    let (before, after) = language.text(Sentence::Quantity).split_once("{}").unwrap_or_default();
    html! {
        h3 class=[size_class(quantity.title().unwrap_or_default(), MAX_HEADING)] dir="auto" {
            @match &quantity.subject {
                Subject::Noun(noun) => { (number) (language.space_before(noun)) (noun) }
                Subject::Name(name) => { (number) " × " (name) }
                Subject::Offering(words) => { (number) " × " (words) }
                Subject::Unknown => { (before) (number) (after) }
            }
        }
    }
}

/// Renders a link that shows its host. Screen readers also read `about`.
fn anchor(language: Language, link: WebAddress<'_>, about: Option<&str>) -> Markup {
    html! {
        p.link {
            a href=(link.href) rel=(REL) {
                (with_value(language.text(Sentence::SeeAt), link.host))
                @if let Some(about) = about { span.aside { ": " bdi { (about) } } }
            }
        }
    }
}

fn web_address<'t>(member: &'t Option<Cow<'_, str>>) -> Option<WebAddress<'t>> {
    member.as_deref().and_then(WebAddress::parse)
}

/// Inserts a shop's text into a sentence, and isolates its text direction from the sentence's.
pub(super) fn with_value(sentence: &str, value: &str) -> Markup {
    sentence_with(sentence, &html! { bdi { (value) } })
}

/// Inserts markup into a sentence.
pub(super) fn sentence_with(sentence: &str, value: &Markup) -> Markup {
    let (before, after) = sentence.split_once("{}").unwrap_or((sentence, ""));
    html! { (before) (value) (after) }
}

/// Returns the CSS class for smaller text if a text has more than `most` characters.
pub(super) fn size_class(text: &str, most: usize) -> Option<&'static str> {
    text.chars().nth(most).map(|_| "long")
}
