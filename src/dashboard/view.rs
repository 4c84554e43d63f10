//! The parts that pages have in common.

use maud::{Markup, html};

/// A text that begins with a capital and ends with a full stop, as an operator's error has neither.
pub(super) fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string());
    let text = first.unwrap_or_default() + characters.as_str();
    if text.ends_with(['.', '!', '?']) { text } else { text + "." }
}

/// `3 Oct 2026, 14:05 UTC` of an RFC 3339 date-time in UTC; the text itself if it is none.
pub(super) fn time(text: &str) -> Markup {
    html! { time datetime=(text) { (in_words(text).unwrap_or_else(|| text.to_owned())) } }
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

fn in_words(text: &str) -> Option<String> {
    let (date, time) = text.split_once('T')?;
    let mut parts = date.splitn(3, '-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let month = MONTHS.get(month.parse::<usize>().ok()?.checked_sub(1)?)?;
    let day: u8 = day.parse().ok()?;
    let minutes = time.get(..5)?;
    text.ends_with('Z').then(|| format!("{day} {month} {year}, {minutes} UTC"))
}

/// A form that is posted to one of our own addresses.
pub(super) fn form(action: &str, content: &Markup) -> Markup {
    html! { form method="post" action=(action) autocomplete="off" { (content) } }
}

/// A field that is not shown.
pub(super) fn hidden(name: &str, value: &str) -> Markup {
    html! { input type="hidden" name=(name) value=(value); }
}

/// A line of text to fill in, with its label, and what helps to fill it in.
pub(super) fn text_field(name: &str, label: &str, value: &str, hint: &str) -> Markup {
    let hint_id = format!("{name}-hint");
    html! {
        label {
            span { (label) }
            input name=(name) value=(value) aria-describedby=[(!hint.is_empty()).then_some(&hint_id)];
            @if !hint.is_empty() { small id=(hint_id) { (hint) } }
        }
    }
}

/// A text to copy: a click selects all of it.
pub(super) fn copyable(text: &str) -> Markup {
    html! { code.copy { (text) } }
}

/// Facts, each a name and its value.
pub(super) fn facts(rows: &[(&str, Markup)]) -> Markup {
    html! {
        dl { @for (name, value) in rows { div { dt { (name) } dd { (value) } } } }
    }
}
