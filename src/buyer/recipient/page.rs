//! Renders pages as HTML documents.

use super::calendar::{Calendar, CalendarDay};
use super::content::{MAX_HEADING, REL, cause, sentence_with, size_class, with_value};
use super::heading::{heading, share};
use super::language::Language;
use super::news::{NewsForm, unsubscribing};
use super::pledges::pledges_made;
use super::profile::Profile;
use super::progress::{OfferingProgress, closing};
use super::style::{CONTENT_SECURITY_POLICY, STYLE, with_form};
use super::text::beginning;
use super::totals::totals;
use super::words::{Sentence, part};
use crate::pledges::time::TimeZones;
use crate::pledges::types::RetrievedPledgeTransaction;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::borrow::Cow;

pub(super) const SERVICE_NAME: &str = "Impact Pledge";

/// The icon of the browser tab: the leaf of [`service_logo`] in white on a disc.
const ICON: &str = "data:image/svg+xml,\
     %3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E\
     %3Ccircle cx='12' cy='12' r='12' fill='%232c6a4a'/%3E\
     %3Cpath d='M7 17C5.6 10.4 9.6 6.4 17.4 6.6 17.8 14.4 13.6 18.4 7 17Z' fill='%23fff'/%3E\
     %3C/svg%3E";

/// Maximum length of a page heading in medium size, in characters. A longer heading is smaller.
const MAX_STATEMENT: usize = 90;

/// A page, and the policy that its response must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    pub html: String,
    /// The value of `Content-Security-Policy`.
    pub policy: Cow<'static, str>,
}

/// Renders the page of a cancelled transaction, with a note about the cancellation and without updates.
/// `cancelled_at` is an RFC 3339 date-time. If it is not a valid one, renders the page as if the
/// transaction were not cancelled.
pub fn cancelled_page(
    transaction: &RetrievedPledgeTransaction<'_>,
    profile: Option<&Profile>,
    progress: &[OfferingProgress<'_>],
    asked: Language,
    zones: &dyn TimeZones,
    cancelled_at: &str,
) -> Page {
    page_of(transaction, profile, progress, asked, zones, (Some(cancelled_at), None))
}

/// Renders the page of a transaction. `progress` has the known updates of the transaction's offerings. The
/// profile sets the language, and the time zone of dates. By default, the time zone is UTC, and the
/// language is `asked`: the one that the reader's browser prefers. `news` is the form with which the buyer asks for e-mails with news.
pub fn page(
    transaction: &RetrievedPledgeTransaction<'_>,
    profile: Option<&Profile>,
    progress: &[OfferingProgress<'_>],
    asked: Language,
    zones: &dyn TimeZones,
    news: Option<NewsForm<'_>>,
) -> Page {
    page_of(transaction, profile, progress, asked, zones, (None, news))
}

fn page_of(
    transaction: &RetrievedPledgeTransaction<'_>,
    profile: Option<&Profile>,
    progress: &[OfferingProgress<'_>],
    asked: Language,
    zones: &dyn TimeZones,
    (cancelled_at, news): (Option<&str>, Option<NewsForm<'_>>),
) -> Page {
    let language = profile.and_then(|profile| profile.language).unwrap_or(asked);
    let calendar = Calendar::new(language, profile, zones);
    let totals = totals(language, &transaction.pledges);
    let heading = heading(language, transaction, profile, &totals);
    let title = heading.text();
    let cancelled = cancelled_at.and_then(|at| calendar.day(at));
    let share = share(language, profile, &totals).filter(|_| cancelled.is_none());
    let progress = if cancelled.is_some() { &[] } else { progress };
    let content = html! {
        @if cancelled.is_none() { p.certificate { (language.text(Sentence::Certificate)) } }
        h1 class=[heading_class(&title)] { (heading.markup()) }
        ol.story role="list" {
            @if let Some(cause) = cause(calendar, &transaction.trigger) { (cause) }
            (pledges_made(calendar, transaction, &totals, progress))
            (closing(language, progress))
        }
        @if let Some(news) = news { (news.markup(language)) }
        @if let Some(share) = share { (share) }
    };
    let footer = html! {
        p { (with_value(language.text(Sentence::Reference), beginning(&transaction.reference))) }
        p { (with_value(language.text(Sentence::Zone), calendar.zone())) }
        p.private { (language.text(Sentence::Private)) }
    };
    let (is_test, has_form) = (!transaction.is_live, news.is_some());
    let layout = Layout { language, profile, is_test, cancelled, has_form };
    layout.render(&title, &content, Some(&footer))
}

/// Returns the CSS class for the size of a heading: none for up to 36 characters, `medium` for up to 90, and
/// a class for the smallest size for longer headings.
fn heading_class(title: &str) -> Option<&'static str> {
    size_class(title, MAX_STATEMENT).or_else(|| size_class(title, MAX_HEADING).and(Some("medium")))
}

/// Renders the page for a URL that belongs to no transaction.
pub fn not_found_page(language: Language) -> Page {
    let words = language.text(Sentence::NotFound);
    let paragraphs = html! { p { (part(words, 1)) } p { (part(words, 2)) } };
    message_page(language, part(words, 0), &paragraphs, false)
}

/// Renders the page that is shown if the store does not answer.
pub fn unavailable_page(language: Language) -> Page {
    let words = language.text(Sentence::Unavailable);
    let paragraphs = html! {
        p { (part(words, 1)) }
        p { (part(words, 2)) a href="" { (part(words, 3)) } (part(words, 4)) }
    };
    message_page(language, part(words, 0), &paragraphs, false)
}

/// Renders the page that ends e-mails with news. If they have not ended, it has a button that ends them.
pub fn unsubscribe_page(language: Language, has_ended: bool) -> Page {
    let (heading, paragraphs) = unsubscribing(language, has_ended);
    message_page(language, heading, &paragraphs, !has_ended)
}

fn message_page(
    language: Language,
    heading: &'static str,
    paragraphs: &Markup,
    has_form: bool,
) -> Page {
    let content = html! { h1 { (heading) } div.story { div.lead { (paragraphs) } } };
    let layout = Layout { language, profile: None, is_test: false, cancelled: None, has_form };
    layout.render(heading, &content, None)
}

/// The parts of a page around its content.
struct Layout<'f> {
    language: Language,
    profile: Option<&'f Profile>,
    is_test: bool,
    cancelled: Option<CalendarDay>,
    /// Whether the page has a form, which the policy must allow.
    has_form: bool,
}

impl Layout<'_> {
    fn render(&self, title: &str, content: &Markup, footer: Option<&Markup>) -> Page {
        let accent = self.profile.and_then(|profile| profile.accent.as_ref());
        let document = html! {
            (DOCTYPE)
            html lang=(self.language.tag()) {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="format-detection" content="telephone=no";
                    title { (title) @if self.profile.is_none() { " · " (SERVICE_NAME) } }
                    link rel="icon" href=(ICON);
                    style { (PreEscaped(STYLE)) }
                    @if let Some(accent) = accent { style { (PreEscaped(&accent.css)) } }
                }
                body {
                    header { (self.sender()) (self.test_note()) (self.cancelled_note()) }
                    main { (content) }
                    @if let Some(footer) = footer {
                        footer {
                            (footer)
                            @if self.profile.is_some() {
                                p.ours { (service_logo()) (SERVICE_NAME) }
                            }
                        }
                    }
                }
            }
        };
        let policy = accent.map_or(Cow::Borrowed(CONTENT_SECURITY_POLICY), |accent| {
            Cow::Owned(accent.policy.clone())
        });
        let policy = if self.has_form { with_form(&policy) } else { policy };
        Page { html: document.into_string(), policy }
    }

    /// Renders the shop's logo or name; without a profile, the service's logo and name. In print, the logo or name is
    /// not a link.
    fn sender(&self) -> Markup {
        let Some(profile) = self.profile else { return html! { (service_logo()) (SERVICE_NAME) } };
        let name = &profile.name;
        let class = size_class(name, MAX_HEADING).map_or("shop", |_| "shop long");
        let brand = html! {
            @if let Some(logo) = &profile.logo { img.logo src=(logo) alt=(name); }
            @else { bdi { (name) } }
        };
        html! {
            @if let Some(link) = &profile.link {
                a class=(class) href=(link) rel=(REL) { (brand) }
                span class={ (class) " paper" } { (brand) }
            } @else {
                span class=(class) { (brand) }
            }
        }
    }

    fn test_note(&self) -> Markup {
        let words = self.language.text(Sentence::Test);
        html! { @if self.is_test { p.test { strong { (part(words, 0)) } " " (part(words, 1)) } } }
    }

    fn cancelled_note(&self) -> Markup {
        let words = self.language.text(Sentence::Cancelled);
        html! {
            @if let Some(CalendarDay { iso, words: day }) = &self.cancelled {
                p.test { strong { (sentence_with(words, &html! { time datetime=(iso) { (day) } })) } }
            }
        }
    }
}

/// Draws the service's logo: a leaf in a ring.
fn service_logo() -> Markup {
    html! {
        svg viewBox="0 0 24 24" width="28" height="28" aria-hidden="true" {
            circle cx="12" cy="12" r="11" {}
            path d="M7 17C5.6 10.4 9.6 6.4 17.4 6.6 17.8 14.4 13.6 18.4 7 17L13 11" {}
        }
    }
}
