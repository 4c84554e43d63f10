//! The recipient's page: what was pledged for whom, why and when.
//!
//! Pages are whole: their style is inside, they run no script, and load nothing but the pledges'
//! own images and the shop's logo. What a shop sent is shown as text, isolated in its own direction
//! (`dir="auto"`, `bdi`), and leads only to http and https. The recipient's e-mail address is never
//! shown. The address is the recipient's secret, so that nothing invites to share it: no `og:`.

mod accent;
mod language;
mod link;
mod profile;
mod quantity;
mod words;

pub use accent::{Colour, DARK_PAPER, LIGHT_PAPER};
pub use language::{Language, Plural};
pub use profile::Profile;
pub use words::Sentence;

use crate::pledge::{PledgeDetail, RetrievedPledge, RetrievedPledgeTransaction, Trigger};
use link::WebAddress;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use quantity::{Of, Quantity};
use std::borrow::Cow;

/// No script, no frame, no form; the one style by its hash; images of the pledges (`https:`,
/// `http:`) and of the page's icon (`data:`).
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; \
     style-src 'sha256-kWnVVTZQu2DBOhgDVM2ScQU4YX0LNgl/BUrJKqnjpuw='; \
     img-src https: http: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const STYLE: &str = include_str!("style.css");

/// The mark in a tab: the leaf of [`mark`], white on a disc.
const ICON: &str = "data:image/svg+xml,\
     %3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E\
     %3Ccircle cx='12' cy='12' r='12' fill='%232c6a4a'/%3E\
     %3Cpath d='M7 17C5.6 10.4 9.6 6.4 17.4 6.6 17.8 14.4 13.6 18.4 7 17Z' fill='%23fff'/%3E\
     %3C/svg%3E";

/// Characters that a heading can have at its full size.
const LONG_TEXT: usize = 36;

/// Characters that an amount can have at its full size.
const LONG_AMOUNT: usize = 9;

/// A page, and what its headers say of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The document.
    pub html: String,
    /// The value of `Content-Security-Policy`.
    pub policy: Cow<'static, str>,
}

/// The page of a transaction, in the profile's language or else the one that is asked for.
pub fn page(
    transaction: &RetrievedPledgeTransaction<'_>,
    profile: Option<&Profile>,
    asked: Language,
) -> Page {
    let language = profile.and_then(Profile::language).unwrap_or(asked);
    let (title, heading) = match recipient_name(transaction) {
        Some(name) => (
            language.say(Sentence::PledgedFor).replace("{}", name),
            filled(language.say(Sentence::PledgedFor), name),
        ),
        None => (
            language.say(Sentence::PledgedForYou).to_owned(),
            html! { (language.say(Sentence::PledgedForYou)) },
        ),
    };
    let content = html! {
        h1 class=[long(&title, LONG_TEXT)] { (heading) }
        ol.story role="list" {
            @if let Some(cause) = cause(language, &transaction.trigger) { (cause) }
            (effect(language, transaction))
        }
    };
    let footer = html! {
        p { (filled(language.say(Sentence::Reference), beginning(&transaction.reference))) }
        p { (language.say(Sentence::Private)) }
    };
    let frame = Frame { language, profile, is_test: !transaction.is_live };
    frame.page(&title, &content, Some(&footer))
}

/// The page for an address that opens nothing.
pub fn not_found_page(language: Language) -> Page {
    let words = language.say(Sentence::NotFound);
    message_page(language, words, &html! { p { (part(words, 1)) } p { (part(words, 2)) } })
}

/// The page for when the store does not answer.
pub fn unavailable_page(language: Language) -> Page {
    let words = language.say(Sentence::Unavailable);
    let paragraphs = html! {
        p { (part(words, 1)) }
        p { (part(words, 2)) a href="" { (part(words, 3)) } (part(words, 4)) }
    };
    message_page(language, words, &paragraphs)
}

fn message_page(language: Language, words: &'static str, paragraphs: &Markup) -> Page {
    let heading = part(words, 0);
    let content = html! { h1 { (heading) } div.story { div.lead { (paragraphs) } } };
    Frame { language, profile: None, is_test: false }.page(heading, &content, None)
}

/// What is around the content of a page.
struct Frame<'f> {
    language: Language,
    profile: Option<&'f Profile>,
    is_test: bool,
}

impl Frame<'_> {
    fn page(&self, title: &str, content: &Markup, footer: Option<&Markup>) -> Page {
        let accent = self.profile.and_then(Profile::accent);
        let shop = self.profile.map_or(OURS, Profile::name);
        let document = html! {
            (DOCTYPE)
            html lang=(self.language.tag()) {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="format-detection" content="telephone=no";
                    title { (title) " · " (shop) }
                    link rel="icon" href=(ICON);
                    style { (PreEscaped(STYLE)) }
                    @if let Some(accent) = accent { style { (PreEscaped(&accent.style)) } }
                }
                body {
                    header { (self.sender()) (self.test_mode()) }
                    main { (content) }
                    @if let Some(footer) = footer {
                        footer {
                            (footer)
                            @if self.profile.is_some() { p.ours { (mark()) (OURS) } }
                        }
                    }
                }
            }
        };
        let policy = accent.map_or(Cow::Borrowed(CONTENT_SECURITY_POLICY), |accent| {
            Cow::Owned(accent.policy.clone())
        });
        Page { html: document.into_string(), policy }
    }

    /// Whose page it is: the shop's, else ours.
    fn sender(&self) -> Markup {
        let Some(profile) = self.profile else { return html! { (mark()) (OURS) } };
        let name = profile.name();
        let brand = html! {
            @if let Some(logo) = profile.logo() { img.logo src=(logo) alt=(name); }
            @else { bdi { (name) } }
        };
        html! {
            @if let Some(link) = profile.link() {
                a.shop class=[long(name, LONG_TEXT)] href=(link) rel=(REL) { (brand) }
            } @else {
                span.shop class=[long(name, LONG_TEXT)] { (brand) }
            }
        }
    }

    fn test_mode(&self) -> Markup {
        let words = self.language.say(Sentence::Test);
        html! { @if self.is_test { p.test { strong { (part(words, 0)) } " " (part(words, 1)) } } }
    }
}

/// What the page calls the service.
const OURS: &str = "Impact Pledge";

/// One of the texts between the bars.
fn part(sentence: &'static str, index: usize) -> &'static str {
    sentence.split('|').nth(index).unwrap_or_default()
}

/// A sentence with a value that somebody else wrote, isolated in its own direction.
fn filled(sentence: &str, value: &str) -> Markup {
    let (before, after) = sentence.split_once("{}").unwrap_or((sentence, ""));
    html! { (before) bdi { (value) } (after) }
}

/// A leaf in a ring.
fn mark() -> Markup {
    html! {
        svg viewBox="0 0 24 24" width="28" height="28" aria-hidden="true" {
            circle cx="12" cy="12" r="11" {}
            path d="M7 17C5.6 10.4 9.6 6.4 17.4 6.6 17.8 14.4 13.6 18.4 7 17L13 11" {}
        }
    }
}

/// The first name or else the full name, unless a shop put the e-mail address there.
fn recipient_name<'t>(transaction: &'t RetrievedPledgeTransaction<'_>) -> Option<&'t str> {
    let recipient = &transaction.pledges.first()?.recipient;
    let email = recipient.email.to_ascii_lowercase();
    [&recipient.first_name, &recipient.name]
        .into_iter()
        .filter_map(shown)
        .find(|name| email.is_empty() || !name.to_ascii_lowercase().contains(&email))
}

/// Why: the action that caused the pledges, if anything is known of it.
fn cause(language: Language, trigger: &Trigger<'_>) -> Option<Markup> {
    let day = trigger.date.as_deref().and_then(|date| day(language, date));
    let phrase = shown(&trigger.phrase);
    let link = web_address(&trigger.external_url);
    let heading = phrase.unwrap_or(language.say(Sentence::Cause));
    (day.is_some() || phrase.is_some() || link.is_some()).then(|| {
        html! {
            li {
                @if let Some(day) = day { (day) }
                h2 class=[long(heading, LONG_TEXT)] dir="auto" { (heading) }
                @if let Some(link) = link { (anchor(language, link, phrase)) }
            }
        }
    })
}

fn day(language: Language, date_time: &str) -> Option<Markup> {
    let (iso, words) = language.day(date_time)?;
    Some(html! { time datetime=(iso) { (words) } })
}

/// What came of it.
fn effect(language: Language, transaction: &RetrievedPledgeTransaction<'_>) -> Markup {
    let pledges = &transaction.pledges;
    html! {
        li {
            @if let Some(day) = day(language, &transaction.created_at) { (day) }
            h2 { (count(language, pledges.len())) }
            (list(language, pledges))
        }
    }
}

/// How many pledges were made.
fn count(language: Language, pledges: usize) -> String {
    let sentences = language.say(Sentence::Pledges);
    let last = sentences.matches('|').count();
    let form = match language.plural(pledges as f64) {
        _ if pledges == 1 => 0,
        Plural::One | Plural::Few => 1,
        Plural::Other => last,
    };
    counted(language, part(sentences, form), pledges)
}

fn counted(language: Language, sentence: &str, count: usize) -> String {
    sentence.replace("{}", &language.decimal(&count.to_string()))
}

/// Bytes of HTML after which no further pledge is shown: 1 MiB, some thousands of pledges. A page is
/// copied while it is built, and WebAssembly memory never shrinks.
const MAX_LIST_BYTES: usize = 1024 * 1024;

fn list(language: Language, pledges: &[RetrievedPledge<'_>]) -> Markup {
    let mut items = String::new();
    let mut count = 0;
    for pledge in pledges {
        if items.len() >= MAX_LIST_BYTES {
            break; // a hostile shop's record
        }
        items.push_str(&leaf(language, pledge).0);
        count += 1;
    }
    let rest = pledges.len() - count;
    html! {
        ul role="list" { (PreEscaped(items)) }
        @if rest > 0 { p { (counted(language, language.say(Sentence::More), rest)) } }
    }
}

/// One pledge.
fn leaf(language: Language, pledge: &RetrievedPledge<'_>) -> Markup {
    let nothing = PledgeDetail::default();
    let detail = pledge.details.first().unwrap_or(&nothing);
    let quantity = Quantity::of(language, pledge, detail);
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

/// An image whose place is kept while it loads.
fn picture(image: WebAddress<'_>, alt: &str) -> Markup {
    html! {
        div.image {
            img src=(image.href) alt=(alt) width="128" height="128" loading="lazy" decoding="async";
        }
    }
}

/// `12 trees`, the number larger than the noun.
fn quantity_heading(language: Language, quantity: &Quantity<'_>) -> Markup {
    let amount = &*quantity.amount;
    let number = html! { b class=[long(amount, LONG_AMOUNT)] { (amount) } };
    let (before, after) = language.say(Sentence::Quantity).split_once("{}").unwrap_or_default();
    html! {
        h3 class=[long(quantity.title().unwrap_or_default(), LONG_TEXT)] dir="auto" {
            @match &quantity.of {
                Of::Noun(noun) => { (number) (language.space_before(noun)) (noun) }
                Of::Name(name) => { (number) " × " (name) }
                Of::Unnamed => { (before) (number) (after) }
            }
        }
    }
}

/// A link that shows where it leads, and for a screen reader also what about.
fn anchor(language: Language, link: WebAddress<'_>, about: Option<&str>) -> Markup {
    html! {
        p.link {
            a href=(link.href) rel=(REL) {
                (filled(language.say(Sentence::SeeAt), link.host))
                @if let Some(about) = about { span.aside { ": " bdi { (about) } } }
            }
        }
    }
}

/// Of links that others wrote: they learn nothing of the page, and gain nothing by it.
const REL: &str = "noopener noreferrer nofollow";

/// Most characters that are shown of a text: what is longer was not written for a person.
const MAX_CHARACTERS: usize = 5_000;

/// A member that holds more than blanks.
fn shown<'t>(member: &'t Option<Cow<'_, str>>) -> Option<&'t str> {
    member.as_deref().map(beginning).filter(|text| !text.trim().is_empty())
}

fn beginning(text: &str) -> &str {
    let end = text.char_indices().nth(MAX_CHARACTERS).map_or(text.len(), |(end, _)| end);
    text.get(..end).unwrap_or_default()
}

fn web_address<'t>(member: &'t Option<Cow<'_, str>>) -> Option<WebAddress<'t>> {
    member.as_deref().and_then(WebAddress::parse)
}

/// The class of a text that is set smaller than its like, being too long for it.
fn long(text: &str, characters: usize) -> Option<&'static str> {
    text.chars().nth(characters).map(|_| "long")
}
