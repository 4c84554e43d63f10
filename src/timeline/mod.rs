//! The recipient's page: what was pledged for whom, why and when.
//!
//! Pages are whole: their style is inside, they run no script, and load nothing but the pledges'
//! own images. What a shop sent is shown as text, isolated in its own direction (`dir="auto"`,
//! `bdi`), and leads only to http and https. The recipient's e-mail address is never shown.

mod date;
mod link;
mod quantity;

use crate::pledge::{PledgeDetail, RetrievedPledge, RetrievedPledgeTransaction, Trigger};
use date::day;
use link::WebAddress;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use quantity::Quantity;
use std::borrow::Cow;

/// No script, no frame, no form; the one style by its hash; images of the pledges (`https:`,
/// `http:`) and of the page's icon (`data:`).
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; \
     style-src 'sha256-brd6rcgmvjk1XTnC7vqs3l+u/0AOEMFt8zkyncxK3es='; \
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

/// The page of a transaction.
pub fn page(transaction: &RetrievedPledgeTransaction<'_>) -> String {
    let name = recipient_name(transaction).unwrap_or("you");
    let content = html! {
        h1 class=[long(name, LONG_TEXT)] { "Pledged for " bdi { (name) } }
        ol.story role="list" {
            @if let Some(cause) = cause(&transaction.trigger) { (cause) }
            (effect(transaction))
        }
    };
    let footer = html! {
        p { "Reference " bdi { (beginning(&transaction.reference)) } }
        p { "This page is meant for you alone: whoever has its address can see it." }
    };
    document(&format!("Pledged for {name}"), !transaction.is_live, &content, Some(&footer))
}

/// The page for an address that opens nothing.
pub fn not_found_page() -> String {
    let paragraphs = html! {
        p { "The address may be incomplete." }
        p {
            "Please open the link in your message once more, or copy all of it, to its last "
            "character. If it still leads here, ask the shop that sent it to you."
        }
    };
    message_page("Page not found", "We could not find this page", &paragraphs)
}

/// The page for when the store does not answer.
pub fn unavailable_page() -> String {
    let paragraphs = html! {
        p { "We cannot show this page right now." }
        p { "Nothing is wrong with your link. Please " a href="" { "try again" } " in a moment." }
    };
    message_page("Please try again", "One moment, please", &paragraphs)
}

fn message_page(title: &str, heading: &str, paragraphs: &Markup) -> String {
    let content = html! { h1 { (heading) } div.story { div.lead { (paragraphs) } } };
    document(title, false, &content, None)
}

fn document(title: &str, is_test: bool, content: &Markup, footer: Option<&Markup>) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="format-detection" content="telephone=no";
                title { (title) " · Impact Pledge" }
                link rel="icon" href=(ICON);
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    (mark()) "Impact Pledge"
                    @if is_test {
                        p.test { strong { "Test mode." } " Nothing on this page was really pledged." }
                    }
                }
                main { (content) }
                @if let Some(footer) = footer { footer { (footer) } }
            }
        }
    };
    page.into_string()
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
fn cause(trigger: &Trigger<'_>) -> Option<Markup> {
    let day = trigger.date.as_deref().and_then(day);
    let phrase = shown(&trigger.phrase);
    let link = web_address(&trigger.external_url);
    let heading = phrase.unwrap_or("How it began");
    (day.is_some() || phrase.is_some() || link.is_some()).then(|| {
        html! {
            li {
                @if let Some(day) = day { (day) }
                h2 class=[long(heading, LONG_TEXT)] dir="auto" { (heading) }
                @if let Some(link) = link { (anchor(link, phrase)) }
            }
        }
    })
}

/// What came of it.
fn effect(transaction: &RetrievedPledgeTransaction<'_>) -> Markup {
    let pledges = &transaction.pledges;
    html! {
        li {
            @if let Some(day) = day(&transaction.created_at) { (day) }
            h2 {
                @if let [_] = pledges.as_slice() { "A pledge was made" }
                @else { (quantity::grouped(&pledges.len().to_string())) " pledges were made" }
            }
            (list(pledges))
        }
    }
}

/// Bytes of HTML after which no further pledge is shown: 1 MiB, some thousands of pledges. A page is
/// copied while it is built, and WebAssembly memory never shrinks.
const MAX_LIST_BYTES: usize = 1024 * 1024;

fn list(pledges: &[RetrievedPledge<'_>]) -> Markup {
    let mut items = String::new();
    let mut count = 0;
    for pledge in pledges {
        if items.len() >= MAX_LIST_BYTES {
            break; // a hostile shop's record
        }
        items.push_str(&leaf(pledge).0);
        count += 1;
    }
    let rest = pledges.len() - count;
    html! {
        ul role="list" { (PreEscaped(items)) }
        @if rest > 0 { p { "And " (quantity::grouped(&rest.to_string())) " more." } }
    }
}

/// One pledge.
fn leaf(pledge: &RetrievedPledge<'_>) -> Markup {
    let nothing = PledgeDetail::default();
    let detail = pledge.details.first().unwrap_or(&nothing);
    let quantity = Quantity::of(pledge, detail);
    let name = shown(&detail.name).filter(|name| *name != quantity.noun);
    let title = name.unwrap_or(quantity.noun);
    html! {
        li.pledge {
            div {
                (quantity_heading(&quantity))
                @if let Some(name) = name { p.name dir="auto" { (name) } }
            }
            @if let Some(image) = web_address(&detail.image) { (picture(image, title)) }
            @if let Some(description) = shown(&detail.description) {
                p dir="auto" { (description) }
            }
            @if let Some(link) = web_address(&detail.external_url) { (anchor(link, Some(title))) }
        }
    }
}

/// An image whose place is kept while it loads.
fn picture(image: WebAddress<'_>, alt: &str) -> Markup {
    html! {
        img src=(image.href) alt=(alt) width="128" height="128" loading="lazy" decoding="async";
    }
}

/// `12 trees`, the number larger than the noun.
fn quantity_heading(quantity: &Quantity<'_>) -> Markup {
    html! {
        h3 class=[long(quantity.noun, LONG_TEXT)] dir="auto" {
            b class=[long(&quantity.amount, LONG_AMOUNT)] { (quantity.amount) }
            (if quantity.is_counted { " " } else { " × " }) (quantity.noun)
        }
    }
}

/// A link that says where it leads, and to a screen reader also what about.
fn anchor(link: WebAddress<'_>, about: Option<&str>) -> Markup {
    html! {
        p.link {
            a href=(link.href) rel="noopener noreferrer nofollow" {
                "See it at " bdi { (link.host) }
                @if let Some(about) = about { span.aside { ": " bdi { (about) } } }
            }
        }
    }
}

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
