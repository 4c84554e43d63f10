//! Renders the form with which buyers ask for e-mails with news, and the page that ends them.

use super::language::Language;
use super::words::{Sentence, part};
use crate::pledges::api::{EDIT_KEY_PARAMETER, NEWS_PARAMETER};
use maud::{Markup, html};

/// The form of a timeline.
#[derive(Clone, Copy, Debug)]
pub struct NewsForm<'f> {
    /// Whether the buyer gets the e-mails already. The form then ends them.
    pub is_on: bool,
    /// The edit key of the page's URL, which the form sends again.
    pub edit_key: &'f str,
}

impl NewsForm<'_> {
    pub(super) fn markup(self, language: Language) -> Markup {
        let NewsForm { is_on, edit_key } = self;
        let to = if is_on { "off" } else { "on" };
        let action = format!("?{EDIT_KEY_PARAMETER}={edit_key}&{NEWS_PARAMETER}={to}");
        let say = |index| part(language.text(Sentence::NewsForm), index);
        html! {
            form.news method="post" action=(action) {
                @if is_on { p { (say(2)) } } @else { p.soft { (say(1)) } }
                button { (say(if is_on { 3 } else { 0 })) }
            }
        }
    }
}

/// Returns the heading and the content of the page that ends e-mails with news.
pub(super) fn unsubscribing(language: Language, has_ended: bool) -> (&'static str, Markup) {
    let end = part(language.text(Sentence::NewsForm), 3);
    let say = |index| part(language.text(Sentence::NewsEnded), index);
    match has_ended {
        true => (say(0), html! { p { (say(1)) } }),
        false => (end, html! { form.news method="post" { button { (end) } } }),
    }
}
