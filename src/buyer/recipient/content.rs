//! Renders the action that caused the pledges, and small parts of a page's content, such as dates and links.

use super::calendar::{Calendar, CalendarDay};
use super::language::Language;
use super::text::shown;
use super::words::Sentence;
use crate::buyer::web_address::WebAddress;
use crate::pledges::types::Trigger;
use maud::{Markup, html};
use std::borrow::Cow;

/// Length of the longest heading that is shown in full size, in characters.
pub(super) const MAX_HEADING: usize = 36;

/// The `rel` of a shop's links. The linked page does not learn the URL of this page, and gets no benefit from
/// the link in search engines.
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
            li.cause {
                @if let Some(day) = day { (time(&day)) }
                h2 class=[size_class(heading, MAX_HEADING)] dir="auto" { (heading) }
                @if let Some(link) = link { (anchor(language, link, phrase)) }
            }
        }
    })
}

pub(super) fn time(CalendarDay { iso, words }: &CalendarDay) -> Markup {
    html! { time datetime=(iso) { (words) } }
}

/// Renders a link that shows its host. Screen readers also read `about`.
pub(super) fn anchor(language: Language, link: WebAddress<'_>, about: Option<&str>) -> Markup {
    html! {
        p.link {
            a href=(link.href) rel=(REL) {
                (with_value(language.text(Sentence::SeeAt), link.host))
                @if let Some(about) = about { span.aside { ": " bdi { (about) } } }
            }
        }
    }
}

pub(super) fn web_address<'t>(member: &'t Option<Cow<'_, str>>) -> Option<WebAddress<'t>> {
    member.as_deref().and_then(WebAddress::parse)
}

/// Inserts a shop's text into a sentence. The text direction of the inserted text does not affect the
/// sentence.
pub(super) fn with_value(sentence: &str, value: &str) -> Markup {
    sentence_with(sentence, &html! { bdi { (value) } })
}

/// Inserts markup into a sentence.
pub(super) fn sentence_with(sentence: &str, value: &Markup) -> Markup {
    let (before, after) = sentence.split_once("{}").unwrap_or((sentence, ""));
    html! { (before) (value) (after) }
}

/// Returns the CSS class for smaller text if `text` has more than `most` characters, otherwise `None`.
pub(super) fn size_class(text: &str, most: usize) -> Option<&'static str> {
    text.chars().nth(most).map(|_| "long")
}
